"""What an investigation has found so far: eats facts, keeps what a reader wants to see."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import singledispatchmethod

from runtape.attribution.facts import (
    BaselineChanged,
    Calls,
    CallsChanged,
    CauseConfirmed,
    Fact,
    Finished,
    HopFact,
    HopStarted,
    Phase,
    PhaseChanged,
    PieceAsked,
    PieceChanged,
    PieceState,
    Started,
    TallyChanged,
    Unfolded,
    Warned,
)
from runtape.context.pieces import Piece
from runtape.decision import Decision
from runtape.reports.cells import cut
from runtape.reports.codes import PHASE_WORDS, STATE_GLYPHS
from runtape.reports.decisions import decision_words
from runtape.reports.leftovers import glimpse
from runtape.reports.sheet import Line, Span, Tone, line
from runtape.reports.words import dollars, p_value, tally, tokens
from runtape.trials import Tally

_RANK = {
    PieceState.CAUSE: 0,
    PieceState.REQUIRED: 1,
    PieceState.CONTRIBUTES: 2,
    PieceState.SUSPECTED: 3,
    PieceState.RUNNING: 4,
    PieceState.NO_EFFECT: 5,
    PieceState.IN_GROUP: 6,
    PieceState.UNTESTED: 7,
}
_TONES = {
    PieceState.CAUSE: Tone.MARK,
    PieceState.REQUIRED: Tone.WARN,
    PieceState.CONTRIBUTES: Tone.WARN,
    PieceState.SUSPECTED: Tone.STRONG,
}
_BAR = 12
_PHASE = 20


@dataclass(slots=True)
class PieceProgress:
    """Where one piece stands."""

    piece: Piece
    state: PieceState = PieceState.UNTESTED
    tally: Tally = field(default_factory=Tally)
    p: float | None = None
    asked: bool = False


@dataclass(slots=True)
class Progress:
    """The state of an investigation, fact by fact.

    Attributes:
        decision: what is explained, once it began.
        phase: what it is doing.
        baseline: runs of the unchanged context, and whether they are complete.
        calls: spending so far.
        pieces: by id, top-level ones and those that were looked into.
        warnings: in order.
        hop: the state of the earlier decision a chain has gone back to, once it has.
    """

    decision: Decision | None = None
    phase: Phase = Phase.BASELINE
    baseline: BaselineChanged = field(default_factory=lambda: BaselineChanged(Tally()))
    calls: Calls = field(default_factory=Calls)
    pieces: dict[int, PieceProgress] = field(default_factory=dict)
    warnings: list[Warned] = field(default_factory=list)
    hop: Progress | None = None

    def see(self, fact: Fact) -> None:
        """Take one fact in."""
        self._take(fact)

    @singledispatchmethod
    def _take(self, fact: object) -> None:
        """Facts that change nothing here (the finished report is shown by itself)."""

    @_take.register
    def _(self, fact: Started) -> None:
        self.decision = fact.decision
        self.calls = Calls(budget=fact.budget)
        self._add(fact.pieces)

    @_take.register
    def _(self, fact: PhaseChanged) -> None:
        self.phase = fact.phase

    @_take.register
    def _(self, fact: BaselineChanged) -> None:
        self.baseline = fact

    @_take.register
    def _(self, fact: PieceAsked) -> None:
        for number in fact.pieces:
            if number in self.pieces:
                self.pieces[number].asked = True

    @_take.register
    def _(self, fact: TallyChanged) -> None:
        entry = self.pieces.get(fact.piece)
        if entry is not None:
            entry.tally, entry.p, entry.asked = fact.tally, fact.p, False

    @_take.register
    def _(self, fact: PieceChanged) -> None:
        entry = self.pieces.get(fact.piece)
        if entry is not None:
            entry.state, entry.asked = fact.state, False

    @_take.register
    def _(self, fact: Unfolded) -> None:
        self._add(fact.children)

    @_take.register
    def _(self, fact: CallsChanged) -> None:
        self.calls = fact.calls

    @_take.register
    def _(self, fact: Warned) -> None:
        self.warnings.append(fact)

    @_take.register
    def _(self, fact: CauseConfirmed) -> None:
        self._add(fact.cause.pieces)

    @_take.register
    def _(self, fact: HopStarted) -> None:
        self.hop = Progress(fact.decision)

    @_take.register
    def _(self, fact: HopFact) -> None:
        if self.hop is not None:
            self.hop.see(fact.fact)

    @_take.register
    def _(self, fact: Finished) -> None:
        self.calls = fact.report.calls

    def _add(self, pieces: tuple[Piece, ...]) -> None:
        for piece in pieces:
            self.pieces.setdefault(piece.id, PieceProgress(piece))

    def interesting(self, most: int) -> list[PieceProgress]:
        """The pieces most worth seeing: claimed, suspected, falling; the longest run ones first."""
        seen = [p for p in self.pieces.values() if p.tally.runs or p.asked]
        return sorted(seen, key=_interest)[:most]


def _interest(entry: PieceProgress) -> tuple[int, float, int]:
    rate = entry.tally.rate
    return (_RANK[entry.state], 1.0 if rate is None else rate, -entry.tally.runs)


def progress_lines(progress: Progress, columns: int = 80, most: int = 8) -> list[Line]:
    """A few lines for a terminal: question, phase and spending, the pieces that fall."""
    if progress.decision is None:
        return [line(Span("reading the trace", Tone.QUIET))]
    head = [_question_line(progress.decision, columns)]
    shown = progress
    if progress.hop is not None and progress.hop.decision is not None:
        shown = replace(progress.hop, calls=progress.calls)
        head.append(_question_line(progress.hop.decision, columns))
    head.append(status_line(shown, columns))
    return [*head, *(_piece_line(entry, columns) for entry in shown.interesting(most))]


def _question_line(decision: Decision, columns: int) -> Line:
    words = f"why event {decision.event} {decision_words(decision)}"
    return line(Span(cut(words, columns), Tone.STRONG))


def phase_words(progress: Progress) -> str:
    """One phrase where nothing is drawn: ``narrowing down, unchanged 18/18``."""
    shown = progress.hop or progress
    base = shown.baseline.tally
    again = f", unchanged {tally(base)}" if base.runs else ""
    return f"{PHASE_WORDS[shown.phase]}{again}"


def status_line(progress: Progress, columns: int = 80) -> Line:
    """Phase, share of the budget, baseline."""
    calls = progress.calls
    share = min(1.0, calls.made / calls.budget) if calls.budget else 0.0
    done = round(share * _BAR)
    words = [f"{calls.made} of {calls.budget} calls"]
    if calls.cached:
        words.append(f"{calls.cached} cached")
    if progress.baseline.tally.runs:
        words.append(f"unchanged {tally(progress.baseline.tally)}")
    if calls.input_tokens:
        words.append(f"{tokens(calls.input_tokens + (calls.output_tokens or 0))} tokens")
    if calls.cost_usd:
        words.append(dollars(calls.cost_usd))
    phase = f"{PHASE_WORDS[progress.phase]:<{_PHASE}} "
    room = max(10, columns - _PHASE - _BAR - 3)
    bar = Span("━" * done, Tone.GOOD), Span("─" * (_BAR - done), Tone.QUIET)
    return line(phase, *bar, "  ", cut(", ".join(words), room))


def _piece_line(entry: PieceProgress, columns: int) -> Line:
    state = entry.state
    if entry.asked and state in {PieceState.UNTESTED, PieceState.NO_EFFECT}:
        state = PieceState.RUNNING
    count = tally(entry.tally) if entry.tally.runs else "…"
    p = "" if entry.p is None else f"p {p_value(entry.p)}"
    head = f"{STATE_GLYPHS[state]} {count:>5}  {p:<9}  "
    words = f"{entry.piece.ref}  {glimpse(entry.piece)}"
    tone = _TONES.get(state, Tone.PLAIN)
    return line(Span(head, tone), cut(words, columns - len(head)))
