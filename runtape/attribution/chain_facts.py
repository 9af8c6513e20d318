"""What a causal chain consists of: earlier decisions, how each link was checked, why it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from runtape.context.pieces import Piece
from runtape.decision import Outcome
from runtape.trials import Tally

if TYPE_CHECKING:
    from runtape.attribution.facts import Cause, Investigation  # it holds a chain itself


class ChainEnd(Enum):
    """Why a chain goes no further back; the value is ``chain_end.code`` of ``runtape.why/1``."""

    USER_MESSAGE = "user_message"
    SYSTEM_PROMPT = "system_prompt"
    TOOL_DEFINITION = "tool_definition"
    OWN_WORDS = "own_words"
    """The model's own earlier words carry the decision; without them it is gone."""
    MEDIA = "media"
    NO_CAUSE = "no_cause"
    """Nothing in the context of that decision was found to cause it."""
    UNSTABLE = "unstable"
    """That decision does not recur often enough to be explained."""
    DEPTH = "depth"
    NOT_RECORDED = "not_recorded"
    """No recorded reply asks for the call whose result holds the cause."""
    CANNOT_RERUN = "cannot_rerun"
    """The tape lacks what a rerun of that call needs."""
    BUDGET_SPENT = "budget_spent"
    PROVIDER_FAILED = "provider_failed"
    INTERRUPTED = "interrupted"


class LinkKind(Enum):
    """How an earlier cause reaches the final decision; the value is the ``link.kind``."""

    THROUGH = "through"
    """Without it the final decision stays: it acts only through the call it led to."""
    DIRECT = "direct"
    """Without it the final decision goes too: it also acts on its own."""
    ABSENT = "absent"
    """It does not stand in the final context, so it cannot act there."""
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Link:
    """Mediation check: the final context without the text that caused an earlier decision.

    Attributes:
        kind: what the runs say.
        without: runs of the final context without that text that made the final decision.
        p: one-sided Fisher p against the final decision's baseline; None at temperature 0.
        instead: what the model does in place of the final decision.
    """

    kind: LinkKind
    without: Tally = field(default_factory=Tally)
    p: float | None = None
    instead: tuple[tuple[Outcome, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Hop:
    """One earlier decision of a chain: it brought the text that caused the decision after it.

    Attributes:
        number: steps back from the final decision, from 1; 0 is the final decision asked again
            without the model's own words.
        investigation: why it was made; its decision counts as the same only with its arguments.
        masked: the model's own earlier words, left out of every run.
        needs_words: it is not made without those words, so that they stayed in.
        link: whether the cause found here also acts directly on the final decision; None when no
            cause was found.
        followed: number of the claim, among the investigation's causes, that the chain goes on
            from; None without a cause.
    """

    number: int
    investigation: Investigation
    masked: tuple[Piece, ...] = ()
    needs_words: bool = False
    link: Link | None = None
    followed: int | None = None

    @property
    def cause(self) -> Cause | None:
        """The claim the chain goes on from: the headline, or what acts together with it."""
        return None if self.followed is None else self.investigation.causes[self.followed]


@dataclass(frozen=True, slots=True)
class Chain:
    """The way back from a decision over the decisions that brought its causes.

    Attributes:
        hops: earlier decisions, the latest first; the last one may be without a cause.
        end: why it ends.
        ended_at: number of the hop at which it ended (one that could not be run counts).
        reason: what the tape lacks, or the error text; empty when `end` says it all.
        asked: the given text that the last decision needs, where the chain ends at it.
        elsewhere: refs of further causing texts that were not followed.
        followed: like that of a hop, for the final decision.
    """

    hops: tuple[Hop, ...]
    end: ChainEnd
    ended_at: int
    reason: str = ""
    asked: Piece | None = None
    elsewhere: tuple[str, ...] = ()
    followed: int | None = None
