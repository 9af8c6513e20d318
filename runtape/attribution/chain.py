"""The way back from a decision over the decisions that brought its causes, as sequential code.

If the cause stands in a tool result, an earlier decision fetched it; the same search there finds
why, and so on. A hop is tested only when the one before it was claimed, each at the full level: a
fixed sequence keeps the family-wise error of the whole chain (W. Maurer, L. Hothorn and
W. Lehmacher, "Multiple comparisons in drug clinical trials and preclinical assays: a-priori ordered
hypotheses", 1995). The model's own words between two decisions can carry a cause forward and hide
it: upstream they are masked.

Like the search, this knows no model and no text: it yields what it wants to know. The driver
(:mod:`chain_driver`) asks a real model, the quality suite a random-number generator.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from runtape.attribution.chain_facts import ChainEnd
from runtape.attribution.facts import Verdict


class Nature(Enum):
    """Where a cause stands."""

    LOOKUP = "lookup"
    """In a tool result, or in the arguments of an earlier call: an earlier decision brought it."""
    OWN_WORDS = "own_words"
    """In what the model said earlier."""
    USER = "user"
    SYSTEM = "system"
    DEFINITION = "definition"
    MEDIA = "media"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a search found, as far as a chain cares.

    Attributes:
        verdict: how it ended.
        nature: where the headline cause stands; None without one.
        asked: where given text stands that the decision needs, when there is no cause.
    """

    verdict: Verdict
    nature: Nature | None = None
    asked: Nature | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """Search the decision of a hop. Answered by a Finding; None when nothing can be masked."""

    hop: int
    masked: bool


@dataclass(frozen=True, slots=True)
class StepBack:
    """Find the decision behind the cause of `hop`. Answered by None, or by why there is none."""

    hop: int


@dataclass(frozen=True, slots=True)
class Check:
    """Take the cause of `hop` out of the final context. Answered by None, or by an end."""

    hop: int


@dataclass(frozen=True, slots=True)
class Trail:
    """Where a chain ended, and why."""

    ended_at: int
    end: ChainEnd


Step: TypeAlias = Look | StepBack | Check
Answer: TypeAlias = Finding | ChainEnd | None
Walk: TypeAlias = Generator[Step, Answer, Trail]

_ENDS = {
    Nature.USER: ChainEnd.USER_MESSAGE,
    Nature.SYSTEM: ChainEnd.SYSTEM_PROMPT,
    Nature.DEFINITION: ChainEnd.TOOL_DEFINITION,
    Nature.OWN_WORDS: ChainEnd.OWN_WORDS,
    Nature.MEDIA: ChainEnd.MEDIA,
}
_VERDICTS = {
    Verdict.DID_NOT_RECUR: ChainEnd.UNSTABLE,
    Verdict.TOO_RARE: ChainEnd.UNSTABLE,
    Verdict.INCOMPLETE_CONTEXT: ChainEnd.CANNOT_RERUN,
    Verdict.BUDGET_SPENT: ChainEnd.BUDGET_SPENT,
    Verdict.PROVIDER_FAILED: ChainEnd.PROVIDER_FAILED,
    Verdict.INTERRUPTED: ChainEnd.INTERRUPTED,
}
_STOPPED = (Verdict.BUDGET_SPENT, Verdict.PROVIDER_FAILED, Verdict.INTERRUPTED)
"""A cause may be known by then, but nothing more can be asked."""


def walk_back(first: Finding, depth: int) -> Walk:
    """Go back from a searched decision, at most `depth` decisions; returns where it ended.

    `first` is what the search of the final decision (hop 0) found.
    """
    hop = 0
    finding = yield from _look_beneath(hop, first)
    while True:
        end = _end_of(finding)
        if end is not None:
            return Trail(hop, end)
        if hop == depth:
            return Trail(hop, ChainEnd.DEPTH)
        missing = yield StepBack(hop)
        hop += 1
        if isinstance(missing, ChainEnd):
            return Trail(hop, missing)
        finding = yield from _look_back(hop)
        if finding.nature is not None:
            stopped = yield Check(hop)
            if isinstance(stopped, ChainEnd):
                return Trail(hop, stopped)


def _look_beneath(hop: int, finding: Finding) -> Generator[Step, Answer, Finding]:
    """A decision that the model's own words cause, without them: what brought them may show.

    When the decision is gone without them, they are where the chain ends.
    """
    if _end_of(finding) is not ChainEnd.OWN_WORDS:
        return finding
    beneath = yield Look(hop, masked=True)
    gone = {ChainEnd.UNSTABLE, ChainEnd.NO_CAUSE}
    return beneath if isinstance(beneath, Finding) and _end_of(beneath) not in gone else finding


def _look_back(hop: int) -> Generator[Step, Answer, Finding]:
    """An earlier decision, its own words masked; unmasked where it does not recur without them."""
    masked = yield Look(hop, masked=True)
    if isinstance(masked, Finding) and _end_of(masked) is not ChainEnd.UNSTABLE:
        return masked
    plain = yield Look(hop, masked=False)
    if not isinstance(plain, Finding):
        raise TypeError("an unmasked search always finds something out")
    return plain


def _end_of(finding: Finding) -> ChainEnd | None:
    """Why a chain ends at a finding; None when an earlier decision lies behind it."""
    if finding.verdict in _STOPPED:
        return _VERDICTS[finding.verdict]
    if finding.nature is not None:
        return _ENDS.get(finding.nature)
    if finding.asked is not None:
        return _ENDS.get(finding.asked, ChainEnd.NO_CAUSE)
    return _VERDICTS.get(finding.verdict, ChainEnd.NO_CAUSE)
