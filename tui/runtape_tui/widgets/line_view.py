"""The one scrolling view under timeline, document, diff and heatmap: rows drawn on demand.

Textual's line API asks for the visible lines only, so a million rows mount as fast as ten. Drawn
rows are kept in a small cache; moving the cursor repaints two lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from runtape.reports.sheet import Tone
from runtape_tui.actions import Scope, bindings
from runtape_tui.safe import Layer

_KEPT_STRIPS = 1_000
_MARGIN = 2
"""Rows kept above and below the cursor."""
POINTER = "▸"
"""Stands at the left of the row under the cursor: its place does not depend on colours."""


class LineView(ScrollView, can_focus=True):
    """A cursor over rows that a subclass draws one at a time.

    Subclasses implement :meth:`draw` and say how many rows there are with :meth:`set_rows`. Text of
    a trace enters a strip only through :mod:`runtape_tui.safe`. The first cell of a row is the
    pointer's: leave it blank.
    """

    ALLOW_SELECT: ClassVar[bool] = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "line-view--cursor",
        "line-view--pointer",
        "line-view--hidden",
        "line-view--hit",
        "line-view--hit-current",
        *(f"line-view--{tone.name.lower()}" for tone in Tone),
    }

    DEFAULT_CSS = """
    LineView {
        height: 1fr;
        background: $background;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 1;
        scrollbar-color: $panel;
        scrollbar-color-hover: $secondary;
        scrollbar-color-active: $primary;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
    }
    LineView > .line-view--cursor { background: $surface; }
    LineView:focus > .line-view--cursor { background: $primary 22%; }
    LineView > .line-view--pointer { color: $accent; text-style: bold; }
    LineView > .line-view--hidden { color: $warning; text-style: bold; }
    LineView > .line-view--hit { background: $warning 30%; }
    LineView > .line-view--hit-current { background: $warning; color: $background; }
    LineView > .line-view--strong { text-style: bold; }
    LineView > .line-view--quiet { color: $foreground 55%; }
    LineView > .line-view--mark { color: $accent; text-style: bold; }
    LineView > .line-view--good { color: $success; }
    LineView > .line-view--bad { color: $error; }
    LineView > .line-view--warn { color: $warning; }
    LineView > .line-view--name { color: $primary; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.ROWS)]

    POINTS: ClassVar[bool] = True
    """Whether the cursor is shown while the keys go elsewhere."""

    cursor: reactive[int] = reactive(0, repaint=False)

    class Moved(Message):
        """The cursor stands on another row."""

        def __init__(self, view: LineView, row: int) -> None:
            super().__init__()
            self.view = view
            self.row = row

        @property
        def control(self) -> LineView:
            """The view it happened in."""
            return self.view

        def can_replace(self, message: Message) -> bool:
            """Only the last place of a fast move matters."""
            return isinstance(message, LineView.Moved) and message.view is self.view

    class Chosen(Message):
        """Enter or a double click on a row."""

        def __init__(self, view: LineView, row: int) -> None:
            super().__init__()
            self.view = view
            self.row = row

        @property
        def control(self) -> LineView:
            """The view it happened in."""
            return self.view

    def __init__(self, *, name: str | None = None, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(name=name, id=id)
        self._count = 0
        self._widest = 0
        self._strips: LRUCache[tuple[int, int, int], Strip] = LRUCache(_KEPT_STRIPS)
        self._styles: dict[str, Style] = {}
        self.lit: re.Pattern[str] | None = None

    # What a subclass provides

    def draw(self, row: int, width: int) -> Strip:
        """Draw one row; `width` is that of the view, in cells. Longer strips can be panned to."""
        raise NotImplementedError

    def matches(self, row: int, pattern: re.Pattern[str]) -> bool:
        """Whether a row holds a match of a search."""
        del row, pattern
        return False

    # What a subclass calls

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return self._count

    def set_rows(self, count: int, *, widest: int = 0, keep_drawn: bool = False) -> None:
        """Say how many rows there are, and how wide the widest is (0: never wider than the view).

        With `keep_drawn` rows drawn before are still right: rows were only added at the end.
        """
        self._count, self._widest = count, widest
        if not keep_drawn:
            self._strips.clear()
        self.virtual_size = Size(widest, count)
        if self.cursor >= count:
            self.cursor = max(0, count - 1)
        self.refresh()

    def redraw(self, rows: Iterable[int]) -> None:
        """Repaint these rows only."""
        width = self.size.width
        (left, top), height = self.scroll_offset, self.size.height
        for row in rows:
            self._strips.discard((row, width, left))
            if top <= row < top + height:
                self.refresh(Region(0, row - top, width, 1))

    def redraw_all(self) -> None:
        """Repaint everything."""
        self._strips.clear()
        self.refresh()

    def show_row(self, row: int, *, centre: bool = False) -> None:
        """Put the cursor on a row and bring it into view."""
        if not self._count:
            return
        row = max(0, min(row, self._count - 1))
        self.cursor = row
        self._bring_into_view(row, centre=centre)

    def light(self, pattern: re.Pattern[str] | None) -> None:
        """Light all matches of a pattern."""
        if pattern is not self.lit:
            self.lit = pattern
            self.redraw_all()

    def hit_layers(self, text: str) -> list[Layer]:
        """The matches in a visible text, as layers."""
        if self.lit is None:
            return []
        style = self.style("hit")
        return [(*match.span(), style) for match in self.lit.finditer(text)]

    def step_hit(self, by: int) -> bool | None:
        """Go to the next (or previous) hit; whether round the end, None: there is none."""
        if self.lit is None:
            return None
        for distance in range(1, self._count + 1):
            row = (self.cursor + by * distance) % self._count
            if self.matches(row, self.lit):
                beyond = (row <= self.cursor) if by > 0 else (row >= self.cursor)
                self.show_row(row)
                return beyond
        return None

    def style(self, name: str) -> Style:
        """The style of the component class ``line-view--name``, without a background of its own."""
        found = self._styles.get(name)
        if found is None:
            full = name if "--" in name else f"line-view--{name}"
            found = self._styles[name] = self._component_style(full)
        return found

    def _component_style(self, name: str) -> Style:
        """Only what the component's rules say, colours with alpha mixed with what lies under."""
        rules = self.get_component_rich_style(name, partial=True)
        mixed = self.get_component_rich_style(name)
        colours = Style(
            color=mixed.color if rules.color else None,
            bgcolor=mixed.bgcolor if rules.bgcolor else None,
        )
        return rules + colours

    def tone(self, tone: Tone) -> Style:
        """The style of a tone of the reports."""
        return self.style(tone.name.lower())

    # Textual's side

    def render_line(self, y: int) -> Strip:
        """Draw line `y` of the viewport."""
        left, top = self.scroll_offset
        row, width = top + y, self.size.width
        pointing = self.POINTS or self.has_focus
        if pointing and row == self.cursor and row < self._count:
            pointed = [Segment(POINTER, self.style("pointer")), *self.draw(row, width).crop(1)]
            lit = self._ground() + self.style("cursor")
            return self._finished(Strip(pointed), left, width, lit)
        key = (row, width, left)
        strip = self._strips.get(key)
        if strip is None:
            drawn = self.draw(row, width) if row < self._count else Strip([])
            strip = self._strips[key] = self._finished(drawn, left, width, self._ground())
        return strip

    def _finished(self, strip: Strip, left: int, width: int, base: Style) -> Strip:
        """The visible part of a row, as wide as the view, on the view's background."""
        if left or strip.cell_length > width:
            strip = strip.crop(left, left + width)
        parts = list(Segment.apply_style(strip, base))
        if strip.cell_length < width:
            parts.append(Segment(" " * (width - strip.cell_length), base))
        return Strip(parts, width)

    def _ground(self) -> Style:
        found = self._styles.get("")
        if found is None:
            found = self._styles[""] = self.rich_style
        return found

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Keep the scrollbar in step, also before it is shown: Textual forgets it then."""
        super().watch_scroll_y(old_value, new_value)
        self.vertical_scrollbar.position = new_value

    def watch_cursor(self, before: int, now: int) -> None:
        """Repaint the two rows concerned and tell the others."""
        top = self.scroll_offset.y
        for row in (before, now):
            self.refresh(Region(0, row - top, self.size.width, 1))
        self.post_message(self.Moved(self, now))

    def notify_style_update(self) -> None:
        """Forget drawn rows when theme or focus changed their colours."""
        super().notify_style_update()
        self._styles.clear()
        self._strips.clear()

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._bring_into_view(self.cursor)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse is; twice: open."""
        row = event.y + self.scroll_offset.y
        if row >= self._count:
            return
        self.show_row(row)
        if event.chain == 2:  # noqa: PLR2004 - a double click
            self.post_message(self.Chosen(self, row))

    def _bring_into_view(self, row: int, *, centre: bool = False) -> None:
        """Scroll so that the row is seen, with some rows around it."""
        top, height = self.scroll_offset.y, max(1, self.size.height)
        margin = min(_MARGIN, (height - 1) // 4)
        if centre:
            target = row - height // 2
        elif row < top + margin:
            target = row - margin
        elif row >= top + height - margin:
            target = row - height + 1 + margin
        else:
            return
        self.scroll_to(y=max(0, target), animate=False, force=True)

    # Actions

    def action_move(self, rows: int) -> None:
        """Move the cursor by so many rows."""
        self.show_row(self.cursor + rows)

    def action_move_page(self, pages: float) -> None:
        """Move the cursor by a share of the page."""
        self.show_row(self.cursor + int(pages * max(1, self.size.height - 1)))

    def action_move_to(self, row: int) -> None:
        """Move the cursor to a row; negative: from the end."""
        self.show_row(row if row >= 0 else self._count + row)

    def action_pan(self, cells: int) -> None:
        """Scroll sideways."""
        self.scroll_to(x=self.scroll_offset.x + cells, animate=False)

    def action_choose(self) -> None:
        """Open the row under the cursor."""
        if self._count:
            self.post_message(self.Chosen(self, self.cursor))
