"""The stream of facts an investigation reports while it runs, and its result.

Facts are data: codes, numbers, refs, source texts. Words are made in :mod:`runtape.reports`.
Command line, terminal app, JSON lines and MCP progress all read this one stream.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from runtape.attribution.chain_facts import Chain, Link
from runtape.context.pieces import Piece
from runtape.decision import Decision, Outcome
from runtape.jsonio import Json
from runtape.trials import Tally


class Mode(Enum):
    """How the decision behaves on the unchanged context."""

    CONSISTENT = "consistent"
    INTERMITTENT = "intermittent"
    DETERMINISTIC = "deterministic"


class Phase(Enum):
    """What the investigation is doing."""

    BASELINE = "baseline"
    SCREEN = "screen"
    NARROW = "narrow"
    CONFIRM = "confirm"
    COMBINE = "combine"
    """Looking for sets: redundant causes and masked ones."""
    DESCRIBE = "describe"
    """After the verdict: roles, rechecks, top-up, drift."""


class PieceState(Enum):
    """Where a piece stands; the value is the ``state`` of ``runtape.why/1``."""

    UNTESTED = "untested"
    RUNNING = "running"
    IN_GROUP = "in_group"
    SUSPECTED = "suspected"
    NO_EFFECT = "no_effect"
    CAUSE = "cause"
    REQUIRED = "required"
    CONTRIBUTES = "contributes"


class Verdict(Enum):
    """How an investigation ended; the value is the ``verdict`` of ``runtape.why/1``."""

    ATTRIBUTED = "attributed"
    ONLY_REQUIRED = "only_required"
    NOTHING_FOUND = "nothing_found"
    DID_NOT_RECUR = "did_not_recur"
    TOO_RARE = "too_rare"
    BUDGET_SPENT = "budget_spent"
    INCOMPLETE_CONTEXT = "incomplete_context"
    PROVIDER_FAILED = "provider_failed"
    INTERRUPTED = "interrupted"


class Role(Enum):
    """What a claimed piece (or set) does; the value is the ``role`` of ``runtape.why/1``."""

    CAUSE = "cause"
    REQUIRED = "required"
    JOINT = "joint"
    EACH_ENOUGH = "each_enough"
    MASKED = "masked"
    CONTRIBUTES = "contributes"
    DIFFUSE = "diffuse"


@dataclass(frozen=True, slots=True)
class Started:
    """The investigation begins: what is explained and the top-level pieces."""

    decision: Decision
    pieces: tuple[Piece, ...]
    budget: int


@dataclass(frozen=True, slots=True)
class PhaseChanged:
    """Another phase begins."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class BaselineChanged:
    """Runs of the unchanged context so far; `mode` and `settled` once it is frozen."""

    tally: Tally
    settled: bool = False
    mode: Mode | None = None
    level: float | None = None
    """Per-test significance level after correction."""
    slots: int | None = None
    """Number of variants the level is corrected for."""


@dataclass(frozen=True, slots=True)
class PieceAsked:
    """Runs without these pieces are in flight: one individually, several as a group."""

    pieces: tuple[int, ...]
    runs: int


@dataclass(frozen=True, slots=True)
class TallyChanged:
    """Runs without exactly this piece so far, and their Fisher p (None at temperature 0)."""

    piece: int
    tally: Tally
    p: float | None


@dataclass(frozen=True, slots=True)
class PieceChanged:
    """A piece changed its state (screened, suspected, claimed)."""

    piece: int
    state: PieceState


@dataclass(frozen=True, slots=True)
class Unfolded:
    """A piece is being narrowed: these are its parts, in order."""

    parent: int
    children: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class CauseConfirmed:
    """A piece or set was claimed by its test."""

    cause: Cause


@dataclass(frozen=True, slots=True)
class CallsChanged:
    """Spending so far."""

    calls: Calls


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the user should know; `numbers` go into the sentence that the reports make."""

    code: str
    numbers: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HopStarted:
    """The chain goes back to an earlier decision, and asks why that was made."""

    hop: int
    decision: Decision
    masked: tuple[Piece, ...] = ()
    """The model's own earlier words that are left out of every run of this hop."""


@dataclass(frozen=True, slots=True)
class HopFact:
    """What the search of one hop tells; spending is told plainly, not in here."""

    hop: int
    fact: Fact


@dataclass(frozen=True, slots=True)
class LinkChecked:
    """The text that caused an earlier decision was taken out of the final context."""

    hop: int
    link: Link


@dataclass(frozen=True, slots=True)
class ChainEnded:
    """How far back the chain went, and why it ends there."""

    chain: Chain


@dataclass(frozen=True, slots=True)
class Finished:
    """The end; always the last fact, also after errors and interrupts."""

    report: Investigation


Fact: TypeAlias = (
    Started
    | PhaseChanged
    | BaselineChanged
    | PieceAsked
    | TallyChanged
    | PieceChanged
    | Unfolded
    | CauseConfirmed
    | CallsChanged
    | Warned
    | HopStarted
    | HopFact
    | LinkChecked
    | ChainEnded
    | Finished
)


@dataclass(frozen=True, slots=True)
class Calls:
    """What the investigation cost.

    Attributes:
        made: model replies paid for in this run.
        cached: replies taken from the cache.
        budget: most replies allowed.
        requests: HTTP requests (one request can bring several replies).
        rounds: sequential rounds: the latency is about rounds × one call.
        errors: failed calls.
        input_tokens, output_tokens: as reported, None when nothing was reported.
        cost_usd: None when the price is unknown.
    """

    made: int = 0
    cached: int = 0
    budget: int = 0
    requests: int = 0
    rounds: int = 0
    errors: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One level of narrowing: the tally without the piece at this level."""

    piece: Piece
    tally: Tally


@dataclass(frozen=True, slots=True)
class Recheck:
    """The same removal made another way (``fill``: ``empty``, ``neutral``, ``quoted``)."""

    fill: str
    tally: Tally


@dataclass(frozen=True, slots=True)
class Cause:
    """A claimed piece or set.

    Attributes:
        pieces: the piece, or the members of the set.
        role: what it does.
        headline: whether this is the answer to the user's question.
        without: all runs without exactly these pieces.
        p: one-sided Fisher p of `without` against the baseline; None at temperature 0.
        level: level it had to reach.
        claimed_at: the tally at the look that settled it, and its p.
        instead: what the model does without it, most frequent first.
        narrowed: the levels passed on the way, from whole piece to leaf.
        rechecks: the same removal by other fills.
        enough_alone: runs of the skeleton plus only this, or None.
    """

    pieces: tuple[Piece, ...]
    role: Role
    headline: bool
    without: Tally
    p: float | None
    level: float | None
    claimed_at: Tally
    claimed_p: float | None
    instead: tuple[tuple[Outcome, int], ...] = ()
    narrowed: tuple[Step, ...] = ()
    rechecks: tuple[Recheck, ...] = ()
    enough_alone: Tally | None = None


@dataclass(frozen=True, slots=True)
class PieceResult:
    """Final standing of one tested piece."""

    piece: Piece
    tally: Tally
    state: PieceState
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Investigation:
    """The result of one ``why``."""

    decision: Decision
    verdict: Verdict
    mode: Mode | None
    baseline: Tally
    outcomes: tuple[tuple[Outcome, int], ...]
    causes: tuple[Cause, ...]
    pieces: tuple[PieceResult, ...]
    untested: tuple[Piece, ...]
    calls: Calls
    warnings: tuple[Warned, ...]
    level: float | None = None
    slots: int | None = None
    seconds: float = 0.0
    failure: str | None = None
    """The error text: the provider's or function's for PROVIDER_FAILED, what the tape lacks for
    INCOMPLETE_CONTEXT."""
    chain: Chain | None = None
    """The way back to earlier decisions, when it was asked for."""

    @property
    def headline(self) -> Cause | None:
        """The cause that answers the question, or None."""
        return next((cause for cause in self.causes if cause.headline), None)
