"""What a running investigation tells: facts out of notes and replies, and the report at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from runtape.attribution.assembly import Assembly, Ending, drop_p
from runtape.attribution.facts import (
    BaselineChanged,
    Calls,
    CallsChanged,
    CauseConfirmed,
    Fact,
    Finished,
    Mode,
    PhaseChanged,
    PieceAsked,
    PieceChanged,
    Started,
    TallyChanged,
    Unfolded,
    Warned,
)
from runtape.attribution.ledger import UNCHANGED
from runtape.attribution.observations import Observations
from runtape.attribution.options import WhyOptions
from runtape.attribution.protocol import (
    NOISY_ENDPOINT,
    BaselineNote,
    Batch,
    Change,
    Note,
    PhaseNote,
    SearchResult,
    StateNote,
    UnfoldNote,
    WarningNote,
    Wording,
)
from runtape.attribution.sampling import Gate
from runtape.attribution.troubles import troubles
from runtape.attribution.variants import PieceTree, Variants
from runtape.context.context import Context
from runtape.context.pieces import Piece
from runtape.decision import Decision, Outcome
from runtape.trials import Tally


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What is asked, of whom, and how; `masked` top-level pieces are left out of every run."""

    context: Context
    decision: Decision
    gate: Gate
    options: WhyOptions
    masked: tuple[Piece, ...] = ()


class Narration:
    """Keeps what was seen and turns every move into facts.

    Attributes:
        tree: the pieces as the search sees them.
        variants: bodies of changed contexts.
        observed: every outcome so far.
    """

    def __init__(self, inquiry: Inquiry, emit: Callable[[Fact], None]) -> None:
        self.tree = PieceTree(inquiry.context, inquiry.options.expand, inquiry.masked)
        self.variants = Variants(inquiry.context, inquiry.options.fill, inquiry.masked)
        self.observed = Observations()
        self._inquiry = inquiry
        self._emit = emit
        self._frozen: BaselineNote | None = None
        self._warnings: list[Warned] = []
        self._rounds = 0
        self._requests = inquiry.gate.scheduler.spent.requests
        self._began = time.monotonic()

    def begin(self) -> None:
        """Say what is explained, and of what it is made up."""
        inquiry = self._inquiry
        self._emit(Started(inquiry.decision, self.tree.pieces, inquiry.gate.scheduler.budget))

    def ask(self, batch: Batch) -> None:
        """Say which removals are in flight."""
        for ask in batch:
            if ask.change.pieces and ask.change.wording is Wording.REMOVE:
                self._emit(PieceAsked(tuple(sorted(ask.change.pieces)), ask.runs))

    def see(self, change: Change, outcome: Outcome) -> None:
        """Count one reply and say how the tally stands."""
        tally = self.observed.add(change, outcome)
        if change == UNCHANGED:
            if self._frozen is None:
                self._emit(BaselineChanged(tally))
        elif len(change.pieces) == 1 and change.wording is Wording.REMOVE:
            (piece,) = change.pieces
            self._emit(TallyChanged(piece, tally, drop_p(tally, self._baseline, self._mode)))
        self._emit(CallsChanged(self._calls))

    def end_round(self) -> None:
        """Count a round that waited for the model; one served from the cache takes no time."""
        requests = self._inquiry.gate.scheduler.spent.requests
        if requests > self._requests:
            self._requests = requests
            self._rounds += 1
        self._emit(CallsChanged(self._calls))

    def note(self, note: Note) -> None:
        """Pass on what the search says."""
        if isinstance(note, PhaseNote):
            self._emit(PhaseChanged(note.phase))
        elif isinstance(note, BaselineNote):
            self._baseline_moved(note)
        elif isinstance(note, StateNote):
            self._emit(PieceChanged(note.piece, note.state))
        elif isinstance(note, UnfoldNote):
            self._emit(Unfolded(note.piece, self.tree.parts(note.piece)))
        elif isinstance(note, WarningNote):
            if note.code == NOISY_ENDPOINT:
                self.observed.start_over()
            self._warn(Warned(note.code, dict(note.numbers)))
        else:
            self._emit(CauseConfirmed(self._assembly.cause(note.claim)))

    def finish(self, result: SearchResult, failure: str | None) -> None:
        """Say what went wrong on the way, then the whole result: the last fact."""
        for note in result.warnings:
            self._warn(Warned(note.code, dict(note.numbers)))
        inquiry = self._inquiry
        for warned in troubles(
            inquiry.context, inquiry.gate.scheduler, self.variants, self.observed
        ):
            self._warn(warned)
        ending = Ending(self._calls, tuple(self._warnings), self._seconds, failure)
        self._emit(Finished(self._assembly.investigation(inquiry.decision, result, ending)))

    @property
    def _assembly(self) -> Assembly:
        return Assembly(self.tree, self.variants, self.observed)

    @property
    def _mode(self) -> Mode | None:
        return self._frozen.mode if self._frozen else None

    @property
    def _baseline(self) -> Tally:
        return self._frozen.tally if self._frozen else self.observed.tally(UNCHANGED)

    def _baseline_moved(self, note: BaselineNote) -> None:
        settled = note.mode is not None
        self._frozen = note if settled else None
        self._emit(BaselineChanged(note.tally, settled, note.mode, note.level, note.slots))

    def _warn(self, warned: Warned) -> None:
        if warned not in self._warnings:
            self._warnings.append(warned)
            self._emit(warned)

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def _calls(self) -> Calls:
        return self._inquiry.gate.bill(self._rounds)
