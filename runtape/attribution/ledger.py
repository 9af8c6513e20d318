"""The one state of a search: what was seen of every change, which hold a slot, what is claimed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from runtape.attribution.facts import Mode, Phase, PieceState, Role
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
    PhaseNote,
    Reaction,
    Seen,
    StateNote,
    Tree,
    UnfoldNote,
    WarningNote,
    Wording,
)
from runtape.evidence import INTERMITTENT, BaselineStep, plan_baseline
from runtape.trials import Tally

T = TypeVar("T")
Steps: TypeAlias = Generator[Batch | Note, Answers | None, T]
"""A part of the search: yields what a whole :data:`~protocol.Search` yields, returns a T."""

UNCHANGED = Change()

CAUSES = frozenset((Role.CAUSE, Role.MASKED, Role.EACH_ENOUGH, Role.JOINT))
"""Roles that answer the question; a required input or a nudge never does."""

_NOTHING = Tally()
_RESERVE = 10
"""Slots that only suspects get, with fresh runs; single pieces take the others when first run."""
_BARREN = 2
"""Asks in a row without an answer after which a change is left alone."""


class Noisy(Exception):  # noqa: N818 - reads as what happened
    """At temperature 0 two runs of one variant differed."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search.

    Attributes:
        alpha: family-wise error over everything that is claimed.
        slots: changed contexts the level is corrected for.
        budget: most replies; the driver enforces it, the search only sizes its largest pass by it.
        full: go on after the first settled cause, until every suspect is settled.
        wide: more runs per round and fewer looks: fewer rounds for more calls.
        deterministic: the recorded call was made at temperature 0.
        runs: what is reported is topped up to this many runs.
        drifts: the model may change meanwhile, so the baseline is sampled once more at the end.
        max_pieces: most top-level pieces to test, the newest first; None: all.
    """

    alpha: float = 0.05
    slots: int = 40
    budget: int = 400
    full: bool = False
    wide: bool = False
    deterministic: bool = False
    runs: int = 10
    drifts: bool = True
    max_pieces: int | None = None


def alone(piece: int) -> Change:
    """The context without exactly this piece."""
    return Change(frozenset((piece,)))


def is_single(change: Change) -> bool:
    """Whether exactly one piece is removed, and nothing else is done to it."""
    return len(change.pieces) == 1 and change.wording is Wording.REMOVE


class Ledger:
    """Everything seen so far.

    Evidence is kept apart from search by one number per change: the runs it had when it took its
    slot. Only later runs count in a test; a change that takes its slot with its first run has no
    earlier ones.
    """

    def __init__(self, tree: Tree, options: SearchOptions) -> None:
        self.tree = tree
        self.options = options
        self.claims: list[Claim] = []
        self.states: dict[int, PieceState] = {}
        self.warnings: list[WarningNote] = []
        self._seen: dict[Change, list[Seen]] = {UNCHANGED: []}
        self._tallies: dict[Change, Tally] = {}
        self._asked = 0
        self._barren: Counter[Change] = Counter()
        self._slots: dict[Change, int] = {}
        self._parents: dict[int, int] = {}
        self._phase: Phase | None = None
        self._baseline_in_flight = 0
        self._frozen: Gauge | None = None

    # ── what was seen ────────────────────────────────────────────────────────────────────────────

    @property
    def calls(self) -> int:
        """Runs asked for so far."""
        return self._asked

    def tally(self, change: Change) -> Tally:
        """All runs of exactly this change."""
        return self._tallies.get(change, _NOTHING)

    def evidence(self, change: Change) -> Tally:
        """The runs that a test of this change may use."""
        return _count(self._seen.get(change, [])[self._slots.get(change, 0) :])

    def instead(self, change: Change) -> Counter[Reaction]:
        """What the model did in the runs that did not make the decision."""
        return Counter(s.reaction for s in self._seen.get(change, ()) if not s.same)

    def lookups(self, change: Change) -> set[int]:
        """Roots whose lookup was repeated in any run of this change."""
        return {s.lookup for s in self._seen.get(change, ()) if s.lookup is not None}

    def lost(self, change: Change) -> bool:
        """Whether asking for more runs of this change is in vain.

        Never so of the baseline: without it there is nothing else to ask for.
        """
        return change != UNCHANGED and self._barren[change] >= _BARREN

    def single_tallies(self) -> dict[int, Tally]:
        """All runs of every individually removed piece."""
        return {
            piece: tally
            for change, tally in self._tallies.items()
            if tally.runs and is_single(change)
            for piece in change.pieces
        }

    # ── the baseline ─────────────────────────────────────────────────────────────────────────────

    @property
    def frozen(self) -> bool:
        """Whether the baseline is complete; every test uses exactly its runs from then on."""
        return self._frozen is not None

    @property
    def mode(self) -> Mode | None:
        """How the decision behaves, once the baseline is frozen."""
        return self._frozen.mode if self._frozen else None

    @property
    def baseline(self) -> Tally:
        """Runs of the unchanged context; those after the freeze are not in it."""
        return self._frozen.baseline if self._frozen else self.tally(UNCHANGED)

    @property
    def step(self) -> BaselineStep:
        """What the sampling plan says about the baseline."""
        return plan_baseline([s.same for s in self._seen[UNCHANGED]], wide=self.options.wide)

    @property
    def gauge(self) -> Gauge:
        """The reading of tallies against the baseline as it stands."""
        if self._frozen is not None:
            return self._frozen
        tally = self.tally(UNCHANGED)
        if self.options.deterministic:
            return Gauge(Mode.DETERMINISTIC, tally)
        looks = self.step.looks
        if looks is None:
            return Gauge(Mode.CONSISTENT, tally)
        mode = Mode.INTERMITTENT if looks is INTERMITTENT else Mode.CONSISTENT
        return Gauge(mode, tally, looks, self.options.alpha, self.options.slots)

    def freeze(self) -> Steps[None]:
        """Complete the baseline."""
        while not self.frozen:
            yield from self.run(())

    # ── the tree, as far as it was unfolded ──────────────────────────────────────────────────────

    def parts(self, piece: int) -> tuple[int, ...]:
        """The parts of a piece; the way back up is remembered."""
        parts = self.tree.children(piece)
        self._parents.update(dict.fromkeys(parts, piece))
        return parts

    def path(self, piece: int) -> tuple[int, ...]:
        """From the top-level piece down to this one."""
        path = [piece]
        while path[-1] in self._parents:
            path.append(self._parents[path[-1]])
        return tuple(reversed(path))

    def unfold(self, piece: int) -> Steps[tuple[int, ...]]:
        """The parts of a piece that the search is about to look into."""
        parts = self.parts(piece)
        if parts:
            yield UnfoldNote(piece)
        return parts

    # ── claims ───────────────────────────────────────────────────────────────────────────────────

    @property
    def explained(self) -> bool:
        """Whether some claim answers the question."""
        return any(claim.headline for claim in self.claims)

    def pinned(self, since: int = 0) -> bool:
        """Whether a claim from `since` on is a fully narrowed cause: a leaf, or a set."""
        return any(
            claim.role in CAUSES and not any(map(self.parts, claim.change.pieces))
            for claim in self.claims[since:]
        )

    def take_slot(self, change: Change) -> bool:
        """Give this change a slot, unless none is left; its runs from here on are evidence."""
        if change not in self._slots and len(self._slots) < self.options.slots:
            self._slots[change] = len(self._seen.get(change, ()))
        return change in self._slots

    def add_claim(self, claim: Claim) -> Steps[None]:
        """Keep a settled claim, once, and say so."""
        if all(claim.change != known.change for known in self.claims):
            self.claims.append(claim)
            yield ClaimNote(claim)

    # ── telling ──────────────────────────────────────────────────────────────────────────────────

    def enter(self, phase: Phase) -> Steps[None]:
        """Say that another phase begins, if it does."""
        if phase is not self._phase:
            self._phase = phase
            yield PhaseNote(phase)

    def mark(self, pieces: Iterable[int], state: PieceState) -> Steps[None]:
        """Give these pieces a state, and say so where it changes."""
        for piece in pieces:
            if self.states.get(piece) is not state:
                self.states[piece] = state
                yield StateNote(piece, state)

    def warn_once(self, code: str, **numbers: float) -> Steps[None]:
        """Keep a warning and say so, unless it was said before."""
        if all(note.code != code for note in self.warnings):
            note = WarningNote(code, dict(numbers))
            self.warnings.append(note)
            yield note

    # ── running ──────────────────────────────────────────────────────────────────────────────────

    def run(self, asks: Iterable[Ask]) -> Steps[None]:
        """One round: these runs, and with them what the baseline still lacks.

        Raises:
            Noisy: at temperature 0, when two runs of one change differ.
        """
        batch = self._batch(ask for ask in asks if ask.runs > 0 and not self.lost(ask.change))
        if not batch:
            return
        self._begin(batch)
        answers = (yield batch) or []
        self._end(batch, answers)
        if any(ask.change == UNCHANGED for ask in batch) and not self.frozen:
            yield self._baseline_moved()
        if self.options.deterministic:
            self._check_noise(batch)

    def _batch(self, asks: Iterable[Ask]) -> Batch:
        runs: Counter[Change] = Counter()
        if not self.frozen and not self.options.deterministic:
            known = len(self._seen[UNCHANGED]) + self._baseline_in_flight
            runs[UNCHANGED] = max(0, self.step.runs - known)
        for ask in asks:
            runs[ask.change] += ask.runs
        return tuple(Ask(change, n) for change, n in runs.items() if n > 0)

    def _begin(self, batch: Batch) -> None:
        for ask in batch:
            self._asked += ask.runs
            if ask.change == UNCHANGED:
                self._baseline_in_flight += ask.runs
            elif is_single(ask.change) and len(self._slots) < self.options.slots - _RESERVE:
                self.take_slot(ask.change)

    def _end(self, batch: Batch, answers: Answers) -> None:
        for i, ask in enumerate(batch):
            seen = answers[i] if i < len(answers) else []
            self._seen.setdefault(ask.change, []).extend(seen)
            self._tallies[ask.change] = _count(self._seen[ask.change])
            self._barren[ask.change] = 0 if seen else self._barren[ask.change] + 1
            if ask.change == UNCHANGED:
                self._baseline_in_flight -= ask.runs

    def _baseline_moved(self) -> BaselineNote:
        step, tally = self.step, self.tally(UNCHANGED)
        known = self.options.deterministic or step.looks is not None
        if not known or tally.runs < (2 if self.options.deterministic else step.runs):
            return BaselineNote(tally)
        self._frozen = self.gauge
        return BaselineNote(tally, self.mode, self._frozen.highest_level, self.options.slots)

    def _check_noise(self, batch: Batch) -> None:
        for ask in batch:
            if len({s.reaction for s in self._seen[ask.change]}) > 1:
                raise Noisy


def _count(seen: Iterable[Seen]) -> Tally:
    same = [s.same for s in seen]
    return Tally(sum(same), len(same))
