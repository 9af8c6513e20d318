"""The one state of a search: what was seen of every changed context, which of them hold a slot, what is claimed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from runtape.attribution.facts import Mode, PieceState, Role
from runtape.attribution.gauge import Gauge
from runtape.attribution.protocol import (
    Answers,
    Ask,
    BaselineNote,
    Batch,
    Change,
    Claim,
    ClaimNote,
    Note,
    Reaction,
    Seen,
    StateNote,
    Tree,
    WarningNote,
    Wording,
)
from runtape.evidence import INTERMITTENT, BaselineStep, plan_baseline
from runtape.trials import Tally

T = TypeVar("T")
Steps: TypeAlias = Generator[Batch | Note, Answers | None, T]
"""A part of the search: yields what :data:`~runtape.attribution.protocol.Search` yields, returns a T."""

UNCHANGED = Change()

CAUSES = frozenset((Role.CAUSE, Role.MASKED, Role.EACH_ENOUGH, Role.JOINT))
"""Roles that answer the question; a required input or a nudge never does."""

_RESERVE = 10
"""Slots that only suspects get, with fresh runs; the others go to first runs of single pieces."""
_LOSSES = 12
"""Runs of one variant that may go unanswered before it is left alone."""


class Noisy(Exception):  # noqa: N818 - reads as what happened
    """At temperature 0 two runs of one variant differed."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search.

    Attributes:
        alpha: family-wise error over everything that is claimed.
        slots: changed contexts the level is corrected for.
        budget: most replies; the driver enforces it, the search only sizes its largest steps by it.
        full: go on after the first settled cause, until every suspect is settled.
        wide: more runs per round and fewer looks: fewer rounds for more calls.
        deterministic: the recorded call was made at temperature 0.
        runs: what is reported is topped up to this many runs.
        max_pieces: most top-level pieces to test, the newest first; None: all.
    """

    alpha: float = 0.05
    slots: int = 40
    budget: int = 400
    full: bool = False
    wide: bool = False
    deterministic: bool = False
    runs: int = 10
    max_pieces: int | None = None


def alone(piece: int) -> Change:
    """The context without exactly this piece."""
    return Change(frozenset((piece,)))


def is_single(change: Change) -> bool:
    """Whether exactly one piece is removed, and nothing else is done to it."""
    return len(change.pieces) == 1 and change.wording is Wording.REMOVE


class Ledger:
    """Everything seen so far.

    Evidence is kept apart from search by one number per change: the runs it already had when it took its slot.
    Only later runs count in a test; a change that takes its slot before its first run has no earlier ones.
    """

    def __init__(self, tree: Tree, options: SearchOptions) -> None:
        self.tree = tree
        self.options = options
        self.claims: list[Claim] = []
        self.states: dict[int, PieceState] = {}
        self.warnings: list[WarningNote] = []
        self.frozen = False
        self._seen: dict[Change, list[Seen]] = {UNCHANGED: []}
        self._asked: Counter[Change] = Counter()
        self._slots: dict[Change, int] = {}
        self._in_flight = 0
        self._gauge: Gauge | None = None

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────

    @property
    def calls(self) -> int:
        """Runs asked for so far."""
        return sum(self._asked.values())

    @property
    def baseline(self) -> Tally:
        """Runs of the unchanged context; those after the freeze are not in it."""
        if self.frozen and self._gauge is not None:
            return self._gauge.baseline
        return self.tally(UNCHANGED)

    @property
    def step(self) -> BaselineStep:
        """What the sampling plan says about the baseline."""
        return plan_baseline([s.same for s in self._seen[UNCHANGED]], wide=self.options.wide)

    @property
    def gauge(self) -> Gauge:
        """The reading of tallies against the baseline as it stands."""
        if self.frozen and self._gauge is not None:
            return self._gauge
        step, tally = self.step, self.tally(UNCHANGED)
        if self.options.deterministic:
            return Gauge(Mode.DETERMINISTIC, tally)
        if step.looks is None:
            return Gauge(Mode.CONSISTENT, tally)
        mode = Mode.INTERMITTENT if step.looks is INTERMITTENT else Mode.CONSISTENT
        return Gauge(mode, tally, step.looks, self.options.alpha, self.options.slots)

    @property
    def mode(self) -> Mode | None:
        """How the decision behaves, once the baseline is frozen."""
        return self._gauge.mode if self._gauge else None

    def tally(self, change: Change) -> Tally:
        """All runs of exactly this change."""
        seen = self._seen.get(change, [])
        return Tally(sum(s.same for s in seen), len(seen))

    def evidence(self, change: Change) -> Tally:
        """The runs that a test of this change may use."""
        seen = self._seen.get(change, [])[self._slots.get(change, 0) :]
        return Tally(sum(s.same for s in seen), len(seen))

    def instead(self, change: Change) -> Counter[Reaction]:
        """What the model did in the runs that did not make the decision."""
        return Counter(s.reaction for s in self._seen.get(change, []) if not s.same)

    def lookups(self, change: Change) -> set[int]:
        """Roots whose lookup was repeated in any run of this change."""
        return {s.lookup for s in self._seen.get(change, []) if s.lookup is not None}

    @property
    def explained(self) -> bool:
        """Whether some claim answers the question."""
        return any(claim.headline for claim in self.claims)

    def holds_slot(self, change: Change) -> bool:
        """Whether this change may be claimed."""
        return change in self._slots

    def lost(self, change: Change) -> bool:
        """Whether too many runs of this change went unanswered to ask on."""
        return self._asked[change] - len(self._seen.get(change, [])) > _LOSSES

    def single_tallies(self) -> dict[int, Tally]:
        """All runs of every individually removed piece."""
        return {
            next(iter(change.pieces)): self.tally(change)
            for change, seen in self._seen.items()
            if seen and is_single(change)
        }

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────

    def take_slot(self, change: Change) -> bool:
        """Give this change a slot, unless none is left; its runs from here on are evidence."""
        if change not in self._slots and len(self._slots) < self.options.slots:
            self._slots[change] = len(self._seen.get(change, []))
        return change in self._slots

    def run(self, asks: Iterable[Ask]) -> Steps[None]:
        """One round: these runs, and with them what the baseline still lacks.

        Raises:
            Noisy: at temperature 0, when two runs of one change differ.
        """
        batch = self._with_baseline(a for a in asks if a.runs > 0 and not self.lost(a.change))
        if not batch:
            return
        for ask in batch:
            self._asked[ask.change] += ask.runs
            if is_single(ask.change) and len(self._slots) < self.options.slots - _RESERVE:
                self.take_slot(ask.change)
        self._in_flight += _baseline_runs(batch)
        answers = (yield batch) or []
        self._in_flight -= _baseline_runs(batch)
        for ask, seen in zip(batch, answers, strict=False):
            self._seen.setdefault(ask.change, []).extend(seen)
        if any(ask.change == UNCHANGED for ask in batch):
            yield from self._baseline_moved()
        if self.options.deterministic:
            self._check_noise(batch)

    def mark(self, pieces: Iterable[int], state: PieceState) -> Steps[None]:
        """Give these pieces a state, and say so where it changes."""
        for piece in pieces:
            if self.states.get(piece) is not state:
                self.states[piece] = state
                yield StateNote(piece, state)

    def add_claim(self, claim: Claim) -> Steps[None]:
        """Keep a settled claim, and say so."""
        self.claims.append(claim)
        yield ClaimNote(claim)

    def warn(self, code: str, **numbers: float) -> Steps[None]:
        """Keep a warning, and say so."""
        note = WarningNote(code, dict(numbers))
        self.warnings.append(note)
        yield note

    def freeze(self) -> Steps[None]:
        """Complete the baseline; from here on every test uses exactly these runs."""
        while not self.frozen:
            yield from self.run(())

    def _with_baseline(self, asks: Iterable[Ask]) -> Batch:
        merged: Counter[Change] = Counter()
        if not self.frozen and not self.options.deterministic:
            merged[UNCHANGED] = self.step.runs - len(self._seen[UNCHANGED]) - self._in_flight
        for ask in asks:
            merged[ask.change] += ask.runs
        return tuple(Ask(change, runs) for change, runs in merged.items() if runs > 0)

    def _baseline_moved(self) -> Steps[None]:
        step, tally = self.step, self.tally(UNCHANGED)
        if self.frozen:
            return
        known = self.options.deterministic or step.looks is not None
        done = known and tally.runs >= (2 if self.options.deterministic else step.runs)
        if not done:
            yield BaselineNote(tally)
            return
        self._gauge = self.gauge
        self.frozen = True
        yield BaselineNote(tally, self._gauge.mode, self._gauge.highest_level, self.options.slots)

    def _check_noise(self, batch: Batch) -> None:
        for ask in batch:
            if len({s.reaction for s in self._seen.get(ask.change, [])}) > 1:
                raise Noisy


def _baseline_runs(batch: Batch) -> int:
    return sum(ask.runs for ask in batch if ask.change == UNCHANGED)
