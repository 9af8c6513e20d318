"""Lines of the reports on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from runtape.reports.sheet import Line
from runtape_tui.safe import content
from runtape_tui.widgets.line_view import LineView
from runtape_tui.widgets.status_line import STYLES


def content_of(line: Line) -> Content:
    """A line with its tones, for a widget that takes content."""
    return Content.assemble(*(content(span.text, STYLES[span.tone]) for span in line.spans))


class Lines(Widget):
    """Some lines, each cut at the right edge."""

    ALLOW_SELECT: ClassVar[bool] = False

    DEFAULT_CSS = """
    Lines { height: auto; width: 1fr; padding: 0 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id)
        self._lines: tuple[Line, ...] = ()

    @property
    def text(self) -> str:
        """What it says."""
        return "\n".join(line.plain for line in self._lines)

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is shown."""
        return self._lines

    def set(self, *lines: Line) -> None:
        """Show other lines."""
        if lines != self._lines:
            grown = len(lines) != len(self._lines)
            self._lines = lines
            self.refresh(layout=grown)

    def render(self) -> Content:
        """The lines."""
        width = self.content_size.width or self.container_size.width
        rows = [content_of(line).truncate(width, ellipsis=True) for line in self._lines]
        return Content("\n").join(rows)


class SheetView(LineView):
    """A sheet that can be scrolled."""

    POINTS: ClassVar[bool] = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id)
        self._lines: tuple[Line, ...] = ()

    @property
    def text(self) -> str:
        """What it says."""
        return "\n".join(line.plain for line in self._lines)

    def set(self, lines: Sequence[Line]) -> None:
        """Show other lines, from their top when it is another text."""
        now = tuple(lines)
        if now != self._lines:
            self._lines = now
            self.set_rows(len(now))

    def draw(self, row: int, width: int) -> Strip:  # noqa: ARG002 - rows are cropped, not cut
        """One line behind the pointer's cell."""
        spans = self._lines[row].spans
        return Strip([Segment(" "), *(Segment(s.text, self.tone(s.tone)) for s in spans)])
