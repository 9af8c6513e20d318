"""One line of choices, each with a key: what to copy, whether to go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen

from runtape_tui.safe import content
from runtape_tui.widgets.bar import Bar


@dataclass(frozen=True, slots=True)
class Choice:
    """A key and what it stands for."""

    key: str
    words: str


class _Choices(Bar):
    """The line itself; a click chooses."""

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        parts: list[Content | tuple[str, str]] = [content(f"{title}  ", "bold $accent")]
        at = len(title) + 2
        self.spots: list[tuple[int, int, str]] = []
        for choice in (*choices, Choice("esc", "no")):
            words = f" {choice.words}   "
            parts += [(choice.key, "bold $primary"), (words, "")]
            self.spots.append((at, at + len(choice.key) + len(words), choice.key))
            at = self.spots[-1][1]
        super().__init__(Content.assemble(*parts))

    def on_click(self, event: events.Click) -> None:
        """Choose what is under the mouse."""
        at = event.x - 1
        key = next((key for a, b, key in self.spots if a <= at < b), None)
        if key is not None and isinstance(self.screen, Chooser):
            self.screen.choose(key)


class Chooser(ModalScreen["str | None"]):
    """Asks at the bottom of the screen; any other key means no."""

    DEFAULT_CSS: ClassVar[str] = """
    Chooser { background: transparent; align: center bottom; }
    Chooser > _Choices { background: $panel; dock: bottom; }
    """

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._title, self._choices = title, tuple(choices)

    def compose(self) -> ComposeResult:
        """The line."""
        yield _Choices(self._title, self._choices)

    def on_key(self, event: events.Key) -> None:
        """Choose by key."""
        event.stop()
        self.choose(event.character or event.key)

    def choose(self, key: str) -> None:
        """End with a key that was offered, else with nothing."""
        self.dismiss(key if key in {choice.key for choice in self._choices} else None)
