"""The line between two panes; it can be dragged."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget


class Divider(Widget):
    """One column."""

    ALLOW_SELECT: ClassVar[bool] = False

    DEFAULT_CSS = """
    Divider { width: 1; height: 1fr; color: $panel; }
    Divider:hover, Divider.-dragged { color: $primary; }
    """

    class Dragged(Message):
        """The mouse pulled it to a column of the screen."""

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

    def render(self) -> Content:
        """A line from top to bottom."""
        return Content("\n".join("│" * self.size.height))

    def on_mouse_down(self) -> None:
        """Hold it."""
        self.capture_mouse()
        self.add_class("-dragged")

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Pull it."""
        if self.has_class("-dragged"):
            self.post_message(self.Dragged(event.screen_x))

    def on_mouse_up(self) -> None:
        """Let it go."""
        self.release_mouse()
        self.remove_class("-dragged")
