"""What differs between two contexts: by piece, then by line, then by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from itertools import accumulate, zip_longest

from runtape.context import Context
from runtape.context.pieces import Piece
from runtape.reports.difference import Side
from runtape.reports.words import piece_words, plural
from runtape.visible import visible
from runtape_tui.view_models.sections import body_lines, piece_section
from runtape_tui.view_models.wrapping import Wrapped

_NEAR = 2
"""Unchanged lines shown around a change."""
_MANY_LINES = 4_000
"""Lines from which difflib may skip what is frequent."""
_MANY_WORDS = 600
"""Words of a line from which only its beginning and end are compared."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")

Spans = tuple[tuple[int, int], ...]


class Change(Enum):
    """What became of a piece; the value is its sign."""

    SAME = "="
    CHANGED = "~"
    ADDED = "+"
    REMOVED = "-"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one side: its text (made visible) and the spans that differ from the other side."""

    text: str
    spans: Spans = ()
    hidden: Spans = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """Lines that stand beside each other; one is None where the other side has nothing.

    With ``skipped`` it stands for that many unchanged lines.
    """

    old: Line | None
    new: Line | None
    skipped: int = 0

    @property
    def same(self) -> bool:
        """Whether both sides say the same."""
        return self.skipped > 0 or (
            self.old is not None and self.new is not None and self.old.text == self.new.text
        )


@dataclass(frozen=True, slots=True)
class PieceDiff:
    """One piece, or several unchanged ones in a row.

    Attributes:
        change: what became of it.
        refs: refs of the piece on the newer side, else on the older.
        words: what it is.
        pairs: its lines; none when nothing changed.
    """

    change: Change
    refs: tuple[str, ...]
    words: str
    pairs: tuple[Pair, ...] = ()


class RowKind(Enum):
    """What a row of a diff shows."""

    GAP = "gap"
    HEADING = "heading"
    SKIPPED = "skipped"
    LINE = "line"


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a line of one side on one row.

    Attributes:
        side: where the line stands.
        line: the line.
        start: first character of it on this row.
        end: the one after the last.
        first: whether it is the beginning of the line.
        indent: blanks before it, so that the rows of a line stand under each other.
    """

    side: Side
    line: Line
    start: int
    end: int
    first: bool
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a heading, or cells; side by side there are two, None where there is nothing."""

    kind: RowKind
    piece: PieceDiff
    cells: tuple[Cell | None, ...] = ()
    skipped: int = 0


class Diff:
    """Differences laid out for a width.

    Attributes:
        pieces: what became of each piece, in the newer order.
        changed: number of pieces that are not the same.
        side_by_side: how it is laid out.
    """

    def __init__(self, pieces: Sequence[PieceDiff]) -> None:
        self.pieces = tuple(pieces)
        self.changed = sum(piece.change is not Change.SAME for piece in pieces)
        self.side_by_side = True
        self._rows: list[Row] = []
        self._column = self._beside = 80

    def lay_out(self, column: int, *, beside: int | None = None) -> None:
        """Break the lines for one column of `column` cells, or for two of `beside`.

        Pieces that one side does not have take the whole width all the same.
        """
        self.side_by_side = beside is not None
        self._column, self._beside = column, beside or column
        rows: list[Row] = []
        for piece in self.pieces:
            if rows and (piece.pairs or rows[-1].kind is not RowKind.HEADING):
                rows.append(Row(RowKind.GAP, piece))
            rows.append(Row(RowKind.HEADING, piece))
            for pair in piece.pairs:
                rows += self._lay_out(piece, pair)
        self._rows = rows

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def row(self, number: int) -> Row:
        """What a row shows."""
        return self._rows[number]

    def row_of(self, piece: PieceDiff) -> int:
        """The first row of a piece."""
        return next((n for n, row in enumerate(self._rows) if row.piece is piece), 0)

    @property
    def first_change(self) -> int:
        """The row of the first change."""
        return self.next_change(-1, 1) or 0

    def next_change(self, row: int, by: int) -> int | None:
        """The row of the next (or previous) changed piece."""
        heads = [
            number
            for number, found in enumerate(self._rows)
            if found.kind is RowKind.HEADING and found.piece.change is not Change.SAME
        ]
        later = [number for number in heads if (number > row if by > 0 else number < row)]
        return None if not later else later[0 if by > 0 else -1]

    def text(self) -> str:
        """All of it, unified, as plain text."""
        return "\n".join(self._plain())

    def _plain(self) -> Iterator[str]:
        for piece in self.pieces:
            yield f"{piece.change.value} {' '.join(piece.refs[:1])}  {piece.words}"
            for pair in piece.pairs:
                if pair.skipped:
                    yield f"    … {plural(pair.skipped, 'unchanged line')}"
                elif pair.same and pair.new is not None:
                    yield f"    {pair.new.text}"
                else:
                    yield from (f"  - {line.text}" for line in (pair.old,) if line is not None)
                    yield from (f"  + {line.text}" for line in (pair.new,) if line is not None)

    def _lay_out(self, piece: PieceDiff, pair: Pair) -> Iterator[Row]:
        if pair.skipped:
            yield Row(RowKind.SKIPPED, piece, skipped=pair.skipped)
            return
        if self.side_by_side and piece.change is Change.CHANGED:
            old = _cells(pair.old, Side.BOTH if pair.same else Side.ONLY_OLD, self._beside)
            new = _cells(pair.new, Side.BOTH if pair.same else Side.ONLY_NEW, self._beside)
            for left, right in zip_longest(old, new):
                yield Row(RowKind.LINE, piece, (left, right))
        elif pair.same:
            for cell in _cells(pair.new, Side.BOTH, self._column):
                yield Row(RowKind.LINE, piece, (cell,))
        else:
            for cell in _cells(pair.old, Side.ONLY_OLD, self._column):
                yield Row(RowKind.LINE, piece, (cell,))
            for cell in _cells(pair.new, Side.ONLY_NEW, self._column):
                yield Row(RowKind.LINE, piece, (cell,))


def _cells(line: Line | None, side: Side, column: int) -> list[Cell]:
    if line is None:
        return []
    indent = min(len(line.text) - len(line.text.lstrip(" ")), column // 3)
    rows = Wrapped(line.text, column - indent)
    spans = map(rows.span, range(len(rows)))
    return [
        Cell(side, line, start, end, first=not at, indent=indent if at else 0)
        for at, (start, end) in enumerate(spans)
    ]


def compare(old: Context, new: Context) -> Diff:
    """What the newer context has that the older has not, and the other way round.

    Pieces are matched by what they are and say; changed ones by what they are, in order. Over about
    a megabyte it takes long enough to be done in a thread.
    """
    before = [(piece_words(piece), piece.text) for piece in old.roots]
    after = [(piece_words(piece), piece.text) for piece in new.roots]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    found: list[PieceDiff] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            found.append(_unchanged(new.roots[c:d]))
        else:
            found += _matched(_Side(old, old.roots[a:b]), _Side(new, new.roots[c:d]))
    return Diff(found)


@dataclass(frozen=True, slots=True)
class _Side:
    """Pieces of one context that have no equal on the other side."""

    context: Context
    pieces: Sequence[Piece]

    def lines(self, piece: Piece) -> list[str]:
        """The text of a piece as the document shows it: members of JSON line by line."""
        return list(body_lines(piece_section(self.context, piece)))


def _unchanged(pieces: Sequence[Piece]) -> PieceDiff:
    refs = tuple(piece.ref for piece in pieces)
    words = piece_words(pieces[0]) if len(pieces) == 1 else plural(len(pieces), "piece")
    return PieceDiff(Change.SAME, refs, f"{words} unchanged")


def _matched(old: _Side, new: _Side) -> Iterator[PieceDiff]:
    """Pieces that are the same thing, in order, are one piece changed."""
    at = 0
    for piece in old.pieces:
        words = piece_words(piece)
        ahead = range(at, len(new.pieces))
        partner = next((n for n in ahead if piece_words(new.pieces[n]) == words), None)
        if partner is None:
            yield _whole(old, piece, Change.REMOVED)
            continue
        yield from (_whole(new, added, Change.ADDED) for added in new.pieces[at:partner])
        yield _changed(old, piece, new, new.pieces[partner])
        at = partner + 1
    yield from (_whole(new, added, Change.ADDED) for added in new.pieces[at:])


def _changed(old: _Side, before: Piece, new: _Side, after: Piece) -> PieceDiff:
    one, other = old.lines(before), new.lines(after)
    if one == other:  # only the spelling differs
        one, other = before.text.split("\n"), after.text.split("\n")
    return PieceDiff(Change.CHANGED, (after.ref,), piece_words(after), tuple(_pairs(one, other)))


def _whole(side: _Side, piece: Piece, change: Change) -> PieceDiff:
    lines = map(_line, side.lines(piece))
    added = change is Change.ADDED
    pairs = tuple(Pair(None, line) if added else Pair(line, None) for line in lines)
    return PieceDiff(change, (piece.ref,), piece_words(piece), pairs)


def _pairs(before: Sequence[str], after: Sequence[str]) -> Iterator[Pair]:
    many = len(before) + len(after) > _MANY_LINES
    opcodes = SequenceMatcher(None, before, after, autojunk=many).get_opcodes()
    last = len(opcodes) - 1
    for number, (tag, a, b, c, d) in enumerate(opcodes):
        if tag == "equal":
            yield from _context_lines(before[a:b], first=number == 0, last=number == last)
        else:
            for one, other in zip_longest(before[a:b], after[c:d]):
                yield _pair(one, other)


def _context_lines(lines: Sequence[str], *, first: bool, last: bool) -> Iterator[Pair]:
    head, tail = (0 if first else _NEAR), (0 if last else _NEAR)
    skipped = len(lines) - head - tail
    for number, text in enumerate(lines):
        if skipped > 1 and head <= number < len(lines) - tail:
            if number == head:
                yield Pair(None, None, skipped)
            continue
        line = _line(text)
        yield Pair(line, line)


def _pair(old: str | None, new: str | None) -> Pair:
    if old is None or new is None:
        return Pair(None if old is None else _line(old), None if new is None else _line(new))
    one, other = visible(old), visible(new)
    left, right = word_changes(one.text, other.text)
    return Pair(Line(one.text, left, one.marks), Line(other.text, right, other.marks))


def _line(text: str) -> Line:
    shown = visible(text)
    return Line(shown.text, (), shown.marks)


def word_changes(old: str, new: str) -> tuple[Spans, Spans]:
    """Spans of two lines that differ, by words; whole middles when the lines are very long."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    inner_old, inner_new = before[head : len(before) - tail], after[head : len(after) - tail]
    starts_old = [0, *accumulate(map(len, before))]
    starts_new = [0, *accumulate(map(len, after))]
    if max(len(inner_old), len(inner_new)) > _MANY_WORDS:
        blocks = [("replace", 0, len(inner_old), 0, len(inner_new))]
    else:
        blocks = list(SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_opcodes())
    changed = [block for block in blocks if block[0] != "equal"]
    left = [(starts_old[head + a], starts_old[head + b]) for _, a, b, _, _ in changed if a < b]
    right = [(starts_new[head + c], starts_new[head + d]) for _, _, _, c, d in changed if c < d]
    return _joined(left, old), _joined(right, new)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _joined(spans: Sequence[tuple[int, int]], text: str) -> Spans:
    """Spans with nothing but space between them as one."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and not text[found[-1][1] : start].strip():
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return tuple(found)
