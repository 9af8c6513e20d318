"""One line to type into: a pattern, a filter, a place to go to."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static


class Asked(Enum):
    """What is typed; the value stands before it."""

    SEARCH = "/"
    FILTER = "filter "
    PLACE = ":"


_HELP = {
    Asked.SEARCH: "regular expression; case counts when it has a capital",
    Asked.FILTER: "regular expression over kind, tool:NAME, what happened, error; empty: all",
    Asked.PLACE: "event number, tool:NAME, last, error, or a ref such as 12.body para 4",
}


class SearchBar(Horizontal):
    """Takes the place of the status line while it is open."""

    DEFAULT_CSS = """
    SearchBar { height: 1; background: $surface; display: none; padding: 0 1; }
    SearchBar.-open { display: block; }
    SearchBar Static { width: auto; height: 1; }
    SearchBar #asked { color: $accent; text-style: bold; }
    SearchBar #note { color: $foreground 55%; padding: 0 0 0 2; }
    SearchBar.-wrong #note { color: $error; }
    SearchBar Input {
        border: none; padding: 0; height: 1; width: 1fr; background: $surface;
    }
    SearchBar Input:focus { border: none; background-tint: $foreground 0%; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("up", "recall", show=False),
    ]

    class Typed(Message):
        """The text changed."""

        def __init__(self, asked: Asked, text: str) -> None:
            super().__init__()
            self.asked, self.text = asked, text

    class Done(Message):
        """Enter (with the text), or escape (None)."""

        def __init__(self, asked: Asked, text: str | None) -> None:
            super().__init__()
            self.asked, self.text = asked, text

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id)
        self._asked = Asked.SEARCH
        self._last: dict[Asked, str] = {}

    def compose(self) -> ComposeResult:
        """Sign, text, note."""
        yield Static(id="asked")
        yield Input(id="typed", compact=True, select_on_focus=False)
        yield Static(id="note")

    def open(self, asked: Asked, text: str = "") -> None:
        """Ask for something; `text` stands there already."""
        self._asked = asked
        self.query_one("#asked", Static).update(Content(asked.value))
        self.note(_HELP[asked])
        field = self.query_one(Input)
        with self.prevent(Input.Changed):
            field.value = text
        field.cursor_position = len(text)
        self.add_class("-open")
        self.screen.add_class("-asking")
        field.focus()

    def note(self, text: str, *, wrong: bool = False) -> None:
        """Say something beside the text."""
        self.set_class(wrong, "-wrong")
        self.query_one("#note", Static).update(Content(text))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell what is typed."""
        event.stop()
        self.post_message(self.Typed(self._asked, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take it."""
        event.stop()
        if event.value:
            self._last[self._asked] = event.value
        self._close(event.value)

    def action_close(self) -> None:
        """Leave everything as it was."""
        self._close(None)

    def action_recall(self) -> None:
        """What was typed last."""
        field = self.query_one(Input)
        field.value = self._last.get(self._asked, field.value)
        field.cursor_position = len(field.value)

    def _close(self, text: str | None) -> None:
        self.remove_class("-open")
        self.screen.remove_class("-asking")
        self.post_message(self.Done(self._asked, text))
