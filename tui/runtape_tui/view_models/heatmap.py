"""The live heatmap as plain data: facts in, rows and what changed of them out.

Facts may come by the thousand; what they change is only noted here. Whoever draws asks for the
notes some times a second (:meth:`Heatmap.flush`), so that the screen costs the same at any speed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import singledispatchmethod

from runtape.attribution.facts import (
    BaselineChanged,
    CallsChanged,
    Cause,
    CauseConfirmed,
    Fact,
    Finished,
    Investigation,
    Mode,
    PieceAsked,
    PieceChanged,
    PieceState,
    Started,
    TallyChanged,
    Unfolded,
    Warned,
)
from runtape.context.pieces import Piece
from runtape.evidence import fisher_less, newcombe
from runtape.reports.progress import Progress
from runtape.trials import Tally
from runtape_tui.view_models.heat_rows import Changes, Fall, HeatRow

Key = tuple[float, float, int]
"""Rows are sorted by it: heat, rate or p, place in reading order."""


class Order(Enum):
    """How rows are sorted; parts always stand below what they are part of."""

    EFFECT = "by effect"
    P = "by p"
    READING = "in reading order"


_ROUND_GOES_ON = (PieceAsked, TallyChanged, CallsChanged, Warned)
"""Facts that come while a round of calls is under way."""
_RANK = {PieceState.CAUSE: 0, PieceState.REQUIRED: 1, PieceState.CONTRIBUTES: 2}
_FALLEN, _CALM = 3, 4
_NEVER = 2.0
"""Sorts behind every p."""


class Heatmap:
    """All rows of one investigation.

    Attributes:
        progress: decision, phase, baseline, spending and warnings.
        rows: all rows in the order in force.
        causes: what was claimed so far.
        report: the result, once it is there.
    """

    def __init__(self, pieces: Iterable[Piece] = (), order: Order = Order.EFFECT) -> None:
        self.progress = Progress()
        self.rows: list[HeatRow] = []
        self.causes: list[Cause] = []
        self.report: Investigation | None = None
        self._order = order
        self._by_id: dict[int, HeatRow] = {}
        self._roots: list[HeatRow] = []
        self._opened: HeatRow | None = None
        self._places: dict[int, int] = {}
        self._keys: dict[int, Key] = {}
        self._lead: HeatRow | None = None
        self._flying: set[int] = set()
        self._dirty: set[int] = set()
        self._stale = self._head = True
        self._add(pieces, None)

    # What others read

    @property
    def order(self) -> Order:
        """How rows are sorted; takes effect with the next :meth:`flush`."""
        return self._order

    @order.setter
    def order(self, order: Order) -> None:
        self._order = order
        self._stale = True

    @property
    def baseline(self) -> Tally:
        """Runs of the unchanged context."""
        return self.progress.baseline.tally

    def row(self, piece: int) -> HeatRow | None:
        """The row of a piece."""
        return self._by_id.get(piece)

    def place(self, piece: int) -> int | None:
        """Where the row of a piece stands since the last :meth:`flush`."""
        return self._places.get(piece)

    def fall(self, row: HeatRow) -> Fall | None:
        """How much rarer the decision is without it; None before the first run."""
        without, base = row.tally, self.baseline
        if not without.runs or not base.runs:
            return None
        low, high = newcombe(without.same, without.runs, base.same, base.runs)
        return Fall(base.same / base.runs - without.same / without.runs, low, high)

    def standing(self, row: HeatRow) -> PieceState:
        """Where a row stands, as the report will say it; running while nothing is known.

        Parts that are only passed on the way to a smaller one get no verdict of the search: they
        are told by their runs, like in the report.
        """
        if row.state is not PieceState.UNTESTED and not (
            row.state is PieceState.IN_GROUP and row.in_flight
        ):
            return row.state
        if not row.tally.runs:
            return PieceState.RUNNING if row.in_flight else row.state
        return PieceState.SUSPECTED if self._halved(row.tally) else PieceState.NO_EFFECT

    @property
    def in_flight(self) -> list[HeatRow]:
        """Rows that are being asked about."""
        return [self._by_id[number] for number in self._flying]

    @property
    def lead(self) -> HeatRow | None:
        """The row most worth looking at: the answer, what is being looked into, the hottest.

        As of the last :meth:`flush`.
        """
        return self._lead

    # Facts

    def take(self, fact: Fact) -> None:
        """Take one fact in."""
        self.progress.see(fact)
        if not isinstance(fact, _ROUND_GOES_ON) and not _is_run(fact):
            self._end_round()
        self._take(fact)

    @singledispatchmethod
    def _take(self, fact: object) -> None:
        """Phases, spending and warnings: they stand around the rows."""
        del fact
        self._head = True

    @_take.register
    def _(self, fact: Started) -> None:
        self._add(fact.pieces, None)
        self._head = True

    @_take.register
    def _(self, _: BaselineChanged) -> None:
        self._head = True
        for row in self._by_id.values():
            if row.tally.runs:
                row.p = self._p(row.tally)
                self._mark(row)

    @_take.register
    def _(self, fact: PieceAsked) -> None:
        for number in fact.pieces:
            row = self._by_id.get(number)
            if row is None:
                continue
            if len(fact.pieces) == 1:
                row.pending += fact.runs
            else:
                row.grouped = True
            self._flying.add(number)
            self._dirty.add(number)

    @_take.register
    def _(self, fact: TallyChanged) -> None:
        row = self._by_id.get(fact.piece)
        if row is not None:
            row.tally, row.p = fact.tally, fact.p
            row.pending = max(0, row.pending - 1)
            if not row.in_flight:
                self._flying.discard(fact.piece)
            self._mark(row)

    @_take.register
    def _(self, fact: PieceChanged) -> None:
        row = self._by_id.get(fact.piece)
        if row is not None:
            self._set_state(row, fact.state)

    @_take.register
    def _(self, fact: Unfolded) -> None:
        parent = self._by_id.get(fact.parent)
        self._add(fact.children, parent)
        self._opened, self._stale = parent, True

    @_take.register
    def _(self, fact: CauseConfirmed) -> None:
        self._claim(fact.cause)
        self._opened, self._stale = None, True

    @_take.register
    def _(self, fact: Finished) -> None:
        self.report = fact.report
        self.causes = []
        for result in fact.report.pieces:
            row = self._by_id.get(result.piece.id) or self._add_part(result.piece)
            row.tally, row.p = result.tally, result.p
            self._set_state(row, result.state)
        for cause in fact.report.causes:
            self._claim(cause)
        self._opened = None
        self._head = self._stale = True

    # Changes

    def flush(self) -> Changes:
        """What changed since the last call; sorts again where that is needed."""
        before = self.rows
        if self._stale:
            self._sort()
            self._lead = self._find_lead()
        dirty, head = self._dirty, self._head
        self._dirty, self._stale, self._head = set(), False, False
        rows = sorted(self._places[number] for number in dirty if number in self._places)
        return Changes(tuple(rows), tuple(dirty), self.rows != before, head)

    def _sort(self) -> None:
        self._keys = {number: self._key(row) for number, row in self._by_id.items()}
        keys = dict(self._keys)
        for row in reversed(list(_reading(self._roots))):
            if row.parent is not None:  # a whole is as hot as its hottest part
                outer = row.parent.piece.id
                keys[outer] = min(keys[outer], keys[row.piece.id])
        self.rows = list(_sorted_tree(self._roots, keys))
        self._places = {row.piece.id: at for at, row in enumerate(self.rows)}

    def _find_lead(self) -> HeatRow | None:
        headline = next((c for c in reversed(self.causes) if c.headline), None)
        claimed = headline or next(iter(self.causes), None)
        if claimed is not None:
            return self._by_id.get(claimed.pieces[0].id)
        if self._opened is not None:
            return self._hottest(self._opened.parts) or self._opened
        return self._hottest(self._by_id.values())

    def _key(self, row: HeatRow) -> Key:
        if self._order is Order.READING:
            return (0, 0, row.number)
        if self._order is Order.P:
            return (0, _NEVER if row.p is None else row.p, row.number)
        return self._own_key(row)

    def _own_key(self, row: HeatRow) -> Key:
        heat = self._heat(row)
        return (heat, row.tally.rate or 0.0 if heat < _CALM else 0.0, row.number)

    def _heat(self, row: HeatRow) -> int:
        """Rank of a row; what merely wavers is calm, so that calm rows keep their places."""
        if row.state in _RANK:
            return _RANK[row.state]
        return _FALLEN if self.standing(row) is PieceState.SUSPECTED else _CALM

    def _hottest(self, rows: Iterable[HeatRow]) -> HeatRow | None:
        hottest = min(rows, key=self._own_key, default=None)
        return None if hottest is None or self._heat(hottest) == _CALM else hottest

    def _halved(self, tally: Tally) -> bool:
        base = self.baseline
        return 2 * tally.same * base.runs <= tally.runs * base.same

    # Rows

    def _add(self, pieces: Iterable[Piece], parent: HeatRow | None) -> None:
        level = self._roots if parent is None else parent.parts
        for piece in pieces:
            if piece.id not in self._by_id:
                row = HeatRow(piece, parent=parent)
                level.append(row)
                self._by_id[piece.id] = row
                self._dirty.add(piece.id)
        if parent is not None:
            self._dirty.add(parent.piece.id)
        for number, row in enumerate(_reading(self._roots)):
            row.number = number
        self._stale = True

    def _add_part(self, piece: Piece) -> HeatRow:
        """A row for a piece that nobody announced."""
        parent = None if piece.parent is None else self._by_id.get(piece.parent)
        self._add((piece,), parent)
        return self._by_id[piece.id]

    def _claim(self, cause: Cause) -> None:
        self.causes.append(cause)
        for piece in cause.pieces:
            row = self._by_id.get(piece.id) or self._add_part(piece)
            row.cause = cause
            self._mark(row)
            for outer in row.around():
                outer.holds = True
                self._mark(outer)
                self._dirty.update(part.piece.id for part in outer.parts)

    def _set_state(self, row: HeatRow, state: PieceState) -> None:
        row.state = state
        self._mark(row)
        self._dirty.update(part.piece.id for part in row.parts)  # they may take on its tint

    def _mark(self, row: HeatRow) -> None:
        """It looks different, and may have to move."""
        self._dirty.add(row.piece.id)
        self._stale = self._stale or self._key(row) != self._keys.get(row.piece.id)

    def _end_round(self) -> None:
        for row in self.in_flight:
            row.pending, row.grouped = 0, False
        self._dirty |= self._flying
        self._flying = set()

    def _p(self, tally: Tally) -> float | None:
        """P against the baseline of now: the one that was told may be older."""
        base = self.baseline
        if self.progress.baseline.mode is Mode.DETERMINISTIC or not base.runs:
            return None
        return fisher_less(tally.same, tally.runs, base.same, base.runs)


def _is_run(fact: Fact) -> bool:
    """Whether it is a reply to the unchanged context, which comes while a round is under way."""
    return isinstance(fact, BaselineChanged) and not fact.settled


def _reading(roots: Iterable[HeatRow]) -> Iterator[HeatRow]:
    """All rows in reading order, the whole before its parts."""
    waiting = list(reversed(list(roots)))
    while waiting:
        row = waiting.pop()
        yield row
        waiting.extend(reversed(row.parts))


def _sorted_tree(roots: Iterable[HeatRow], keys: dict[int, Key]) -> Iterator[HeatRow]:
    """All rows, each level sorted, the whole before its parts."""
    waiting = sorted(roots, key=lambda row: keys[row.piece.id], reverse=True)
    while waiting:
        row = waiting.pop()
        yield row
        waiting.extend(sorted(row.parts, key=lambda part: keys[part.piece.id], reverse=True))
