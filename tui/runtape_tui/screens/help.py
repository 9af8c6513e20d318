"""All keys, by place, those at hand first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.strip import Strip

from runtape.reports.sheet import Tone
from runtape_tui.actions import Scope, actions_of
from runtape_tui.keymap import Keymap, key_words
from runtape_tui.widgets.bar import Bar
from runtape_tui.widgets.line_view import LineView

_GLYPHS = (
    ("▲ ▼", "a model call and its reply"),
    ("⚙ ↩", "a tool call and its result"),
    ("◆", "a mark of yours"),
    ("•", "the event holds a hit of the search"),
    ("━╸", "how long it took: a cell 0.1 s, two 1 s, three 10 s, four 100 s"),
    ("×2", "the second try of a model call"),
    ("+ new", "not yet part of the model call before"),
    ("␛ <U+202E>", "a character a terminal would obey or hide"),
)


@dataclass(frozen=True, slots=True)
class _Row:
    left: str = ""
    right: str = ""
    heading: bool = False


def help_rows(keymap: Keymap, scopes: Sequence[Scope]) -> Iterator[_Row]:
    """The rows of the help; `scopes` are at hand now and come first."""
    order = [*scopes, *(scope for scope in Scope if scope not in scopes)]
    for scope in order:
        actions = list(actions_of(scope))
        if not actions:
            continue
        yield _Row(scope.value, heading=True)
        yield from (_Row(key_words(keymap.of(action)), action.label) for action in actions)
        yield _Row()
    yield _Row("Signs", heading=True)
    yield from (_Row(sign, meaning) for sign, meaning in _GLYPHS)
    yield _Row()
    yield _Row("Keys of your own", heading=True)
    yield _Row("", '~/.config/runtape/config.toml, under [keys]: "call.after" = "n"')
    yield _Row("", "every view in plain text: runtape timeline, context, diff, show, why")


class _HelpRows(LineView):
    """The table."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        super().__init__()
        self.rows = rows

    def on_mount(self) -> None:
        """Show all of it."""
        self.set_rows(len(self.rows))

    def draw(self, row: int, width: int) -> Strip:  # noqa: ARG002 - rows are cropped, not cut
        """One row."""
        shown = self.rows[row]
        if shown.heading:
            return Strip([Segment(" "), Segment(shown.left, self.tone(Tone.MARK))])
        key = Segment(f"  {shown.left:<16} ", self.tone(Tone.NAME))
        return Strip([key, Segment(shown.right)])


class HelpScreen(ModalScreen[None]):
    """A sheet over the screen."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; background: $background 60%; }
    HelpScreen Bar, HelpScreen LineView { width: 78; max-width: 96%; }
    HelpScreen Bar { background: $panel; }
    HelpScreen LineView { height: 80%; max-height: 40; background: $surface; padding: 0 1 1 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "close", "Close", show=False)
    ]

    def __init__(self, keymap: Keymap, scopes: Sequence[Scope]) -> None:
        super().__init__()
        self._rows = list(help_rows(keymap, scopes))

    def compose(self) -> ComposeResult:
        """Title and table."""
        yield Bar(
            Content.assemble(("keys", "bold $accent")),
            Content.assemble(("esc closes · ctrl+p finds an action by name", "$foreground 55%")),
        )
        yield _HelpRows(self._rows)

    def action_close(self) -> None:
        """Back to where one was."""
        self.dismiss()
