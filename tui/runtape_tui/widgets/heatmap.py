"""The live heatmap: one row per piece, hottest first, painted only where something changed."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import RenderResult
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from runtape.attribution.facts import PieceState
from runtape.reports.cells import one_line
from runtape.reports.leftovers import glimpse
from runtape.reports.sheet import Tone
from runtape.reports.words import tally
from runtape_tui.safe import segments
from runtape_tui.view_models.bars import interval_bar
from runtape_tui.view_models.columns import (
    Columns,
    p_cell,
    place_cell,
    unchanged_cell,
    verdict,
    without_cell,
)
from runtape_tui.view_models.heat_rows import Changes, HeatRow
from runtape_tui.view_models.heatmap import Heatmap
from runtape_tui.widgets.interval_bar import bar_segments
from runtape_tui.widgets.line_view import LineView

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
"""One after the other: a row in flight moves."""
_GLIMPSE = 160


class HeatmapView(LineView):
    """Shows a :class:`~runtape_tui.view_models.heatmap.Heatmap`.

    The cursor stays on its piece when rows change places. Until somebody moves it, it follows the
    piece most worth looking at.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"heatmap--{state.name.lower().replace('_', '-')}" for state in PieceState
    } | {"heatmap--drop"}

    DEFAULT_CSS = """
    HeatmapView > .heatmap--cause { color: $error; text-style: bold; }
    HeatmapView > .heatmap--required { color: $primary; }
    HeatmapView > .heatmap--contributes { color: $warning; }
    HeatmapView > .heatmap--suspected { color: $warning; }
    HeatmapView > .heatmap--running { color: $success; }
    HeatmapView > .heatmap--no-effect { color: $foreground 60%; }
    HeatmapView > .heatmap--in-group { color: $foreground 60%; }
    HeatmapView > .heatmap--untested { color: $foreground 60%; }
    """

    def __init__(self, model: Heatmap, *, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id)
        self.model = model
        self.following = True
        self._piece: int | None = None
        self._frame = 0

    # What others call

    @property
    def selected(self) -> HeatRow | None:
        """The row under the cursor."""
        rows = self.model.rows
        return rows[self.cursor] if self.cursor < len(rows) else None

    def show(self, model: Heatmap) -> None:
        """Show another one, and follow it."""
        self.model, self.following, self._piece = model, True, None
        self.apply(model.flush())

    def apply(self, changes: Changes) -> None:
        """Paint what changed; keep or move the cursor."""
        if changes.moved or self.row_count != len(self.model.rows):
            self.set_rows(len(self.model.rows))
        else:
            self.redraw(changes.rows)
        self._place_cursor()

    def turn(self) -> None:
        """Show the next picture of the rows in flight."""
        self._frame = (self._frame + 1) % len(FRAMES)
        places = (self.model.place(row.piece.id) for row in self.model.in_flight)
        self.redraw([place for place in places if place is not None])

    def follow(self) -> None:
        """Let the cursor follow what is most worth looking at."""
        self.following = True
        self._place_cursor()

    def show_piece(self, piece: int) -> None:
        """Put the cursor on a piece and leave it there."""
        self.following, self._piece = False, piece
        self._place_cursor()

    # Drawing

    def draw(self, row: int, width: int) -> Strip:
        """Numbers and bar stand left of the text: they line up whatever the text is."""
        entry = self.model.rows[row]
        state = self.model.standing(entry)
        columns = Columns.fitting(width)
        tone, quiet = self._state(state), self.tone(Tone.QUIET)
        calm = quiet if state in _CALM else self.tone(Tone.PLAIN)
        parts = [
            Segment(" "),
            Segment(verdict(entry, state), tone + _PLAIN if entry.holds else tone),
            Segment(p_cell(entry), calm),
            Segment(without_cell(entry), calm),
            Segment(f"{FRAMES[self._frame] if entry.in_flight else ' '} ", self._state(_RUNNING)),
        ]
        if columns.unchanged:
            words = tally(self.model.baseline) if entry.tally.runs else ""
            parts.append(Segment(unchanged_cell(words), quiet))
        parts += self._bar(entry, columns, tone)
        return Strip([*parts, Segment(" "), *self._words(entry, state)])

    def _bar(self, entry: HeatRow, columns: Columns, tone: Style) -> list[Segment]:
        fall = self.model.fall(entry)
        if fall is None:
            return [Segment(" " * columns.bar)]
        bar = interval_bar(fall.drop, fall.low, fall.high, columns.bar)
        return bar_segments(bar, tone, self.tone(Tone.QUIET))

    def _words(self, entry: HeatRow, state: PieceState) -> list[Segment]:
        quiet, hidden = self.tone(Tone.QUIET), self.style("hidden")
        name = self.tone(Tone.NAME) if state in _CALM else self._state(state)
        text = one_line(entry.piece.text, _GLIMPSE) if entry.parent else glimpse(entry.piece)
        return [
            *segments(place_cell(entry), name, hidden),
            Segment("  "),
            *segments(text, quiet if state in _CALM else self.tone(Tone.PLAIN), hidden),
        ]

    def _state(self, state: PieceState) -> Style:
        return self.style(f"heatmap--{state.name.lower().replace('_', '-')}")

    # The cursor

    def watch_cursor(self, before: int, now: int) -> None:
        """Remember the piece: rows change places."""
        super().watch_cursor(before, now)
        if self.selected is not None:
            self._piece = self.selected.piece.id

    def on_click(self, event: events.Click) -> None:
        """What was clicked is what the reader wants to look at."""
        self.following = False
        super().on_click(event)
        event.prevent_default()

    def action_move(self, rows: int) -> None:
        """Move by so many rows; from now on the cursor is the reader's."""
        self.following = False
        super().action_move(rows)

    def action_move_page(self, pages: float) -> None:
        """Move by a share of the page."""
        self.following = False
        super().action_move_page(pages)

    def action_move_to(self, row: int) -> None:
        """Move to a row."""
        self.following = False
        super().action_move_to(row)

    def _place_cursor(self) -> None:
        lead = self.model.lead if self.following else None
        wanted = self._piece if lead is None else lead.piece.id
        place = None if wanted is None else self.model.place(wanted)
        if place is not None and place != self.cursor:
            self.show_row(place)


_PLAIN = Style(bold=False)
_RUNNING = PieceState.RUNNING
_CALM = {PieceState.UNTESTED, PieceState.NO_EFFECT, PieceState.IN_GROUP}


class HeatmapHead(Widget):
    """The names of the columns, above the rows."""

    DEFAULT_CSS = """
    HeatmapHead { height: 1; color: $foreground 55%; background: $background; }
    """

    def render(self) -> RenderResult:
        """The names for the width there is."""
        return Content(Columns.fitting(self.size.width).heading())
