"""The tabs above the document."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.message import Message

from runtape_tui.view_models.loading import Tab
from runtape_tui.widgets.bar import TitleBar

_GAP = 2


class TabBar(TitleBar):
    """Titles of the tabs, the active one marked; and what it is about."""

    DEFAULT_CSS = """
    TabBar { color: $foreground 55%; }
    """

    class Picked(Message):
        """A tab was clicked."""

        def __init__(self, tab: Tab) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id, classes=classes)
        self._ends: list[tuple[int, Tab]] = []

    def show(self, active: Tab, subject: Content, *, focused: bool) -> None:
        """Mark a tab and say what it is about."""
        style = "bold $primary underline" if focused else "bold $foreground"
        parts: list[tuple[str, str]] = []
        self._ends, at = [], 0
        for tab in Tab:
            parts += [(tab.value, style if tab is active else ""), (" " * _GAP, "")]
            at += len(tab.value) + _GAP
            self._ends.append((at, tab))
        self.set(Content.assemble(*parts), subject)

    def on_click(self, event: events.Click) -> None:
        """Pick the tab under the mouse."""
        at = event.x - 1
        tab = next((tab for end, tab in self._ends if at < end), None)
        if tab is not None:
            self.post_message(self.Picked(tab))
