"""A text to read: sections with headings, foldable, wrapped to a width, searched and tinted."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import accumulate

from runtape.attribution.facts import PieceState
from runtape.context import Context
from runtape.context.pieces import Piece
from runtape.reports.codes import STATE_GLYPHS
from runtape_tui.view_models.hits import Hit, Hits
from runtape_tui.view_models.sections import LARGE, Places, Section, body_lines, context_sections
from runtape_tui.view_models.wrapping import Wrapped, cells

INDENT = 2
"""Cells per level."""
GUTTER = 2
"""Cells left of everything: pointer and tint."""


class Tint(Enum):
    """What is known of a piece while its influence is tested."""

    NONE = auto()
    RUNNING = auto()
    IN_GROUP = auto()
    NO_EFFECT = auto()
    SUSPECTED = auto()
    CONTRIBUTES = auto()
    REQUIRED = auto()
    CAUSE = auto()
    OFF = auto()
    """Switched off by the reader."""

    @property
    def glyph(self) -> str:
        """One character, the same as in the reports."""
        return _GLYPHS[self]


_GLYPHS = {
    Tint.NONE: " ",
    Tint.RUNNING: STATE_GLYPHS[PieceState.RUNNING],
    Tint.IN_GROUP: STATE_GLYPHS[PieceState.IN_GROUP],
    Tint.NO_EFFECT: STATE_GLYPHS[PieceState.NO_EFFECT],
    Tint.SUSPECTED: STATE_GLYPHS[PieceState.SUSPECTED],
    Tint.CONTRIBUTES: STATE_GLYPHS[PieceState.CONTRIBUTES],
    Tint.REQUIRED: STATE_GLYPHS[PieceState.REQUIRED],
    Tint.CAUSE: STATE_GLYPHS[PieceState.CAUSE],
    Tint.OFF: "×",
}


class RowKind(Enum):
    """What a row shows."""

    GAP = "gap"
    HEADING = "heading"
    FIELD = "field"
    """A label and a short text on one row."""
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a document.

    Attributes:
        kind: what it shows.
        section: the section it belongs to.
        start: first character of the section's visible text on it.
        end: the one after the last.
    """

    kind: RowKind
    section: Section
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class _Block:
    kind: RowKind
    section: Section
    rows: Wrapped | None = None

    def __len__(self) -> int:
        return len(self.rows) if self.rows is not None else 1


class DocumentModel:
    """Sections laid out for a width.

    Args:
        sections: the top-level sections.
        context: of their pieces, if they are a context's.

    Attributes:
        sections: the top-level sections.
        context: of their pieces, or None.
        widest: cells of the widest row, 0 when rows are wrapped.
        tints: piece id → tint; change it with :meth:`tint`.
        hits: matches of the pattern in force.
    """

    def __init__(self, sections: Sequence[Section], context: Context | None = None) -> None:
        self.sections = tuple(sections)
        self.context = context
        self.widest = 0
        self.tints: dict[int, Tint] = {}
        self.hits = Hits()
        self._shown_by = {s.piece.id: s for s in self.all_sections() if s.piece is not None}
        self._places: dict[int, Places] = {}
        self._tinted: dict[int, dict[int, tuple[int, int, Tint]]] = {}
        self._blocks: list[_Block] = []
        self._starts: list[int] = [0]
        self._first: dict[int, int] = {}
        self._width, self._wrap = 80, True
        self._wraps: dict[int, tuple[int | None, Wrapped]] = {}

    @classmethod
    def of_context(cls, context: Context, since: int | None = None) -> DocumentModel:
        """What a model saw; pieces that entered after model call `since` are marked."""
        return cls(context_sections(context, since), context)

    # Layout

    def lay_out(self, width: int, *, wrap: bool = True) -> None:
        """Break the texts for a view of `width` cells."""
        self._width, self._wrap = width, wrap
        self._blocks = list(self._flow(self.sections))
        self._starts = [0, *accumulate(map(len, self._blocks))]
        self._first = {}
        for number, block in enumerate(self._blocks):
            if block.kind is not RowKind.GAP:
                self._first.setdefault(id(block.section), number)
        self.widest = 0 if wrap else max(map(self._cells, self._blocks), default=0)

    def _flow(self, sections: Sequence[Section]) -> Iterator[_Block]:
        for number, section in enumerate(sections):
            if number and section.level == 0 and _needs_gap(sections[number - 1]):
                yield _Block(RowKind.GAP, section)
            yield from self._section(section)

    def _section(self, section: Section) -> Iterator[_Block]:
        if section.level and not section.members and self._fits_beside(section):
            yield _Block(RowKind.FIELD, section)
            return
        if section.label or section.title:
            yield _Block(RowKind.HEADING, section)
        if section.folded:
            return
        if section.members:
            yield from self._flow(section.members)
        elif section.text or not section.level:
            yield _Block(RowKind.TEXT, section, self._wrapped(section))

    def _fits_beside(self, section: Section) -> bool:
        text = section.shown.text
        room = self._width - self.indent(section) - len(section.label) - 2
        return len(text) <= room and "\n" not in text and cells(text) <= room

    def _wrapped(self, section: Section) -> Wrapped:
        room = self._width - self.text_indent(section) if self._wrap else None
        kept = self._wraps.get(id(section))
        if kept is None or kept[0] != room:
            kept = self._wraps[id(section)] = (room, Wrapped(section.shown.text, room))
        return kept[1]

    def _cells(self, block: _Block) -> int:
        return self.text_indent(block.section) + (block.rows.widest if block.rows else 40)

    def indent(self, section: Section) -> int:
        """Cells left of the heading of a section."""
        return GUTTER + INDENT * section.level

    def text_indent(self, section: Section) -> int:
        """Cells left of the text of a section."""
        headed = bool(section.label or section.title)
        return self.indent(section) + INDENT * headed

    # Rows

    @property
    def row_count(self) -> int:
        """How many rows there are at this width."""
        return self._starts[-1]

    def row(self, number: int) -> Row:
        """What a row shows."""
        at = bisect_right(self._starts, number) - 1
        block = self._blocks[at]
        if block.rows is not None:
            return Row(block.kind, block.section, *block.rows.span(number - self._starts[at]))
        if block.kind is RowKind.FIELD:
            return Row(block.kind, block.section, 0, len(block.section.shown.text))
        return Row(block.kind, block.section)

    def row_of(self, section: Section, position: int = 0) -> int:
        """The row of a position of a section's text (as recorded); unfolds what hides it."""
        if self._unfold(section):
            self.lay_out(self._width, wrap=self._wrap)
        at = self._first[id(section)]
        if self._blocks[at].kind is RowKind.HEADING and position and section.text:
            at += 1
        rows = self._blocks[at].rows
        inside = rows.row_at(section.shown.origins.derived(position)) if rows is not None else 0
        return self._starts[at] + inside

    def heading_row(self, section: Section) -> int:
        """The first row of a section, or of the folded one that hides it."""
        here: Section | None = section
        while here is not None and id(here) not in self._first:
            here = here.around
        return 0 if here is None else self._starts[self._first[id(here)]]

    def section_at(self, number: int) -> Section | None:
        """The section a row belongs to."""
        return self.row(number).section if 0 <= number < self.row_count else None

    def all_sections(self) -> Iterator[Section]:
        """Every section, in reading order, folded ones too."""
        stack = [*reversed(self.sections)]
        while stack:
            section = stack.pop()
            yield section
            stack += reversed(section.members)

    def _unfold(self, section: Section) -> bool:
        """Unfold the sections around one (and itself); whether any was folded."""
        changed = False
        here: Section | None = section
        while here is not None:
            changed = changed or here.folded
            here.folded = False
            here = here.around
        return changed

    # Pieces

    def piece_at(self, number: int) -> Piece | None:
        """The smallest piece that begins on a row or covers its beginning."""
        if self.context is None or not 0 <= number < self.row_count:
            return None
        row = self.row(number)
        if row.kind is not RowKind.TEXT or len(row.section.text) > LARGE:
            return row.section.piece
        origins = row.section.shown.origins
        text = row.section.text
        at, end = origins.source(row.start), origins.source(row.end)
        while at < end and text[at].isspace():
            at += 1
        return self._places_in(row.section).deepest(at)

    def row_of_piece(self, piece: Piece) -> int:
        """The row on which a piece begins; unfolds what hides it."""
        section = self._section_of(piece)
        return 0 if section is None else self.row_of(section, self._span(section, piece)[0])

    def _section_of(self, piece: Piece) -> Section | None:
        """The innermost section that shows a piece."""
        seen: Piece | None = piece
        while seen is not None and self.context is not None:
            if seen.id in self._shown_by:
                return self._shown_by[seen.id]
            seen = None if seen.parent is None else self.context.by_id(seen.parent)
        return None

    def _places_in(self, section: Section) -> Places:
        assert self.context is not None  # noqa: S101 - asked only where there are pieces
        if id(section) not in self._places:
            self._places[id(section)] = Places(self.context, section)
        return self._places[id(section)]

    def _span(self, section: Section, piece: Piece) -> tuple[int, int]:
        """Where a piece stands in the section that shows it; all of it where that is not known."""
        return self._places_in(section).span(piece) or (0, len(section.text))

    # Tints

    def tint(self, tints: Mapping[int, Tint]) -> set[int]:
        """Change the tints of some pieces; returns the rows that look different now."""
        changed = {n: t for n, t in tints.items() if self.tints.get(n, Tint.NONE) is not t}
        self.tints.update(changed)
        rows: set[int] = set()
        for number, tint in changed.items():
            rows.update(self._tint_piece(number, tint))
        return rows

    def tints_in(self, section: Section) -> list[tuple[int, int, Tint]]:
        """Spans of the section's visible text that are tinted, wider ones first."""
        found = self._tinted.get(id(section))
        return sorted(found.values(), key=lambda s: s[0] - s[1]) if found else []

    def _tint_piece(self, number: int, tint: Tint) -> Iterable[int]:
        """Note the tint where the piece is shown; the rows of that."""
        if self.context is None:
            return ()
        piece = self.context.by_id(number)
        section = self._section_of(piece)
        if section is None:
            return ()
        self._tint_span(section, number, self._span(section, piece), tint)
        for inner in _inside(section):
            self._tint_span(inner, number, (0, len(inner.text)), tint)
        return self._rows_of(section)

    def _tint_span(self, section: Section, number: int, span: tuple[int, int], tint: Tint) -> None:
        spans = self._tinted.setdefault(id(section), {})
        spans.pop(number, None)
        if tint is not Tint.NONE:
            derived = section.shown.origins.derived
            spans[number] = (derived(span[0]), derived(span[1]), tint)

    def _rows_of(self, section: Section) -> Iterable[int]:
        first = self._first.get(id(section))
        if first is None:
            return ()
        last = first
        while last < len(self._blocks) and self._blocks[last].section.is_in(section):
            last += 1
        return range(self._starts[first], self._starts[last])

    # Folding and searching

    def fold(self, section: Section, *, folded: bool) -> None:
        """Fold or unfold one section and lay out again."""
        section.folded = folded
        self.lay_out(self._width, wrap=self._wrap)

    def fold_all(self, *, folded: bool) -> None:
        """Fold or unfold all top-level sections."""
        for section in self.sections:
            section.folded = folded
        self.lay_out(self._width, wrap=self._wrap)

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Find all matches, in folded sections too."""
        self.hits = Hits(tuple(self.all_sections()), pattern)

    def hit_after(self, number: int, by: int) -> tuple[Hit | None, bool]:
        """The first hit after (or before) a row, and whether it lies beyond the end."""
        row = self.row(number)
        edge = row.section.shown.origins.source(row.end if by > 0 else row.start)
        return self.hits.after(row.section, edge, by)

    def text(self) -> str:
        """All of it as plain text, headings included, as recorded."""
        parts = []
        for section in self.sections:
            heading = "  ".join(word for word in (section.label, section.title) if word)
            parts.append("\n  ".join((heading, *body_lines(section))))
        return "\n\n".join(parts)


def _needs_gap(section: Section) -> bool:
    """Whether an empty row is wanted after a section: it shows something, and ends with a word."""
    return not section.folded and not section.text.endswith("\n")


def _inside(section: Section) -> Iterator[Section]:
    for member in section.members:
        yield member
        yield from _inside(member)
