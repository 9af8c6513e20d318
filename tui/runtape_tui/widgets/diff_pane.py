"""A diff on the screen: side by side where there is room, else unified."""

from __future__ import annotations

import re
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from runtape.reports.difference import Side
from runtape.reports.sheet import Tone
from runtape.reports.words import plural
from runtape_tui.safe import Layer, painted, segments
from runtape_tui.view_models.diff import Cell, Change, Diff, PieceDiff, RowKind
from runtape_tui.widgets.line_view import LineView

ROOMY = 72
"""Cells from which two columns are readable."""
_GUTTER = 2
_SIGN = 2
"""Cells of plus and minus."""
_TONES = {
    Change.SAME: Tone.QUIET,
    Change.CHANGED: Tone.WARN,
    Change.ADDED: Tone.GOOD,
    Change.REMOVED: Tone.BAD,
}


class DiffPane(LineView):
    """Shows a :class:`Diff`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "diff--old",
        "diff--new",
        "diff--old-word",
        "diff--new-word",
    }

    DEFAULT_CSS = """
    DiffPane > .diff--old { background: $error 12%; }
    DiffPane > .diff--new { background: $success 12%; }
    DiffPane > .diff--old-word { background: $error 38%; text-style: bold; }
    DiffPane > .diff--new-word { background: $success 38%; text-style: bold; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id)
        self.diff = Diff(())
        self.unified = False
        self._half: int | None = None

    def show(self, diff: Diff) -> None:
        """Show another diff, from its first change."""
        self.diff = diff
        self._lay_out()
        self.scroll_to(x=0, y=0, animate=False, force=True)
        self.show_row(diff.first_change)

    def step_change(self, by: int) -> bool:
        """Go to the next or previous changed piece; whether there is one."""
        row = self.diff.next_change(self.cursor, by)
        if row is not None:
            self.show_row(row)
        return row is not None

    def unify(self) -> None:
        """Two columns, or one."""
        self.unified = not self.unified
        row = self.diff.row(self.cursor).piece if self.diff.row_count else None
        self._lay_out()
        if row is not None:
            self.show_row(self.diff.row_of(row))

    def matches(self, row: int, pattern: re.Pattern[str]) -> bool:
        """Whether a part of a line on this row matches."""
        cells = (cell for cell in self.diff.row(row).cells if cell is not None)
        return any(pattern.search(c.line.text[c.start : c.end]) for c in cells)

    def on_resize(self) -> None:
        """Lay out anew: columns depend on the width."""
        self._lay_out()
        super().on_resize()

    def _lay_out(self) -> None:
        width = self.size.width - 1 - _GUTTER
        half = (width - 1) // 2
        self._half = half if width >= ROOMY and not self.unified else None
        beside = None if self._half is None else half - _SIGN
        self.diff.lay_out(max(12, width - _SIGN), beside=beside)
        self.set_rows(self.diff.row_count)

    def draw(self, row: int, width: int) -> Strip:
        """One row: a heading, a gap, or lines of one or both sides."""
        shown = self.diff.row(row)
        if shown.kind is RowKind.GAP:
            return Strip([])
        if shown.kind is RowKind.HEADING:
            return Strip(self._heading(shown.piece))
        quiet = self.tone(Tone.QUIET)
        if shown.kind is RowKind.SKIPPED:
            return Strip([Segment(f"    ⋯ {plural(shown.skipped, 'unchanged line')}", quiet)])
        if len(shown.cells) == 1 or self._half is None:
            return Strip([Segment("  "), *self._cell(shown.cells[0], width - _GUTTER - 1)])
        left, right = (self._cell(cell, self._half) for cell in shown.cells)
        return Strip([Segment("  "), *left, Segment("│", quiet), *right])

    def _heading(self, piece: PieceDiff) -> list[Segment]:
        hidden, quiet = self.style("hidden"), self.tone(Tone.QUIET)
        sign = "⋯" if piece.change is Change.SAME else piece.change.value
        parts = [Segment("  "), Segment(f"{sign} ", self.tone(_TONES[piece.change]))]
        if piece.change is Change.SAME:
            refs = piece.refs[0] if len(piece.refs) == 1 else f"{piece.refs[0]} – {piece.refs[-1]}"
            return [*parts, *segments(f"{piece.words}  {refs}", quiet, hidden)]
        name, strong = self.tone(Tone.NAME), self.tone(Tone.STRONG)
        return [
            *parts,
            *segments(piece.refs[0], name, hidden),
            Segment("  "),
            *segments(piece.words, strong, hidden),
        ]

    def _cell(self, cell: Cell | None, cells: int) -> list[Segment]:
        if cell is None:
            return [Segment(" " * cells)]
        base = self._base(cell.side)
        sign = cell.side.value if cell.first and cell.side is not Side.BOTH else " "
        word = self.style(f"diff--{'old' if cell.side is Side.ONLY_OLD else 'new'}-word")
        layers: list[Layer] = [(start, end, word) for start, end in cell.line.spans]
        layers += [(start, end, self.style("hidden")) for start, end in cell.line.hidden]
        layers += self.hit_layers(cell.line.text)
        text = painted(cell.line.text, cell.start, cell.end, base, layers)
        strip = Strip([Segment(f"{sign} {' ' * cell.indent}", base), *text])
        return list(strip.adjust_cell_length(cells, base))

    def _base(self, side: Side) -> Style:
        if side is Side.BOTH:
            return self.tone(Tone.QUIET)
        return self.style("diff--old" if side is Side.ONLY_OLD else "diff--new")
