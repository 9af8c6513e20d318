"""The pieces on the what-if bench: in or out, edited or not."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.strip import Strip

from runtape.context.pieces import Piece
from runtape.reports.cells import one_line
from runtape.reports.sheet import Tone
from runtape.reports.words import piece_words
from runtape_tui.actions import Scope, bindings
from runtape_tui.safe import segments
from runtape_tui.view_models.sections import tail
from runtape_tui.view_models.whatif import Bench, BenchRow
from runtape_tui.widgets.line_view import LineView

_GLIMPSE = 200
_IN, _OUT, _EDITED, _WITH = "[x]", "[ ]", "[≠]", " · "


class PieceList(LineView):
    """Shows the rows of a :class:`~runtape_tui.view_models.whatif.Bench`."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.PIECES)]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"piece-list--off"}
    DEFAULT_CSS = """
    PieceList > .piece-list--off { color: $foreground 45%; text-style: strike; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id)
        self.bench: Bench | None = None
        self._rows: list[BenchRow] = []

    @property
    def selected(self) -> Piece | None:
        """The piece under the cursor."""
        return self._rows[self.cursor].piece if self.cursor < len(self._rows) else None

    def show(self, bench: Bench) -> None:
        """Show another bench."""
        self.bench = bench
        self.rows_changed()

    def rows_changed(self) -> None:
        """Show the rows as they are now; the cursor stays on its piece."""
        here = self.selected
        self._rows = [] if self.bench is None else self.bench.rows
        self.set_rows(len(self._rows))
        if here is not None:
            self.show_piece(here.id)

    def show_piece(self, piece: int) -> None:
        """Put the cursor on a piece, if it is listed."""
        place = next((n for n, row in enumerate(self._rows) if row.piece.id == piece), None)
        if place is not None:
            self.show_row(place, centre=not self._in_view(place))

    def _in_view(self, row: int) -> bool:
        return self.scroll_offset.y <= row < self.scroll_offset.y + self.size.height

    # Drawing

    def draw(self, row: int, width: int) -> Strip:  # noqa: ARG002 - rows are cropped, not cut
        """Box, ref, what it is, how it begins."""
        entry = self._rows[row]
        assert self.bench is not None  # noqa: S101 - there are rows
        hidden = self.style("hidden")
        box, tone = self._box(entry)
        out = self.bench.outermost_off(entry.piece.id) is not None
        text = one_line(self.bench.text(entry.piece.id), _GLIMPSE)
        ref = entry.piece.ref
        if entry.parent is not None:
            ref = tail(ref, entry.parent.ref)
        kind = f"{piece_words(entry.piece)}: " if entry.parent is None else ""
        fold = "▾" if entry.opened else "▸" if entry.piece.divisible else " "
        words = self.style("piece-list--off") if out else self.tone(Tone.PLAIN)
        return Strip(
            [
                Segment(" "),
                Segment(f"{box} ", tone),
                Segment(f"{'  ' * entry.depth}{fold} ", self.tone(Tone.QUIET)),
                *segments(ref, self.tone(Tone.QUIET if out else Tone.NAME), hidden),
                Segment("  "),
                Segment(kind, self.tone(Tone.QUIET)),
                *segments(text, words, hidden),
            ]
        )

    def _box(self, entry: BenchRow) -> tuple[str, Style]:
        assert self.bench is not None  # noqa: S101 - there are rows
        outer = self.bench.outermost_off(entry.piece.id)
        if outer == entry.piece.id:
            return _OUT, self.tone(Tone.BAD)
        if outer is not None:
            return _WITH, self.tone(Tone.BAD)
        if entry.piece.id in self.bench.texts:
            return _EDITED, self.tone(Tone.WARN)
        return _IN, self.tone(Tone.QUIET)
