"""A text to edit, over the screen it belongs to."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, TextArea

from runtape.reports.sheet import Tone
from runtape_tui.actions import Scope, actions_of, bindings
from runtape_tui.keymap import key_words
from runtape_tui.safe import content
from runtape_tui.view_models.editable import edited
from runtape_tui.widgets.bar import Bar
from runtape_tui.widgets.status_line import STYLES


class EditScreen(ModalScreen[str | None]):
    """Dismissed with the new text, or with None when it is to stay as it was.

    Args:
        title: what is edited; may hold text of a trace.
        field: the text, hidden characters spelled out (:func:`editable`).
        one_line: whether a line is enough.
        missing: what stands in an empty line.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.EDITING)]
    DEFAULT_CSS = """
    EditScreen { align: center middle; background: $background 60%; }
    EditScreen > Vertical {
        width: 90%; height: auto; max-height: 90%; background: $surface;
        border: round $primary; padding: 0 1;
    }
    EditScreen TextArea { height: auto; max-height: 20; min-height: 5; padding: 0; }
    EditScreen TextArea, EditScreen TextArea:focus { border: none; }
    EditScreen Bar { padding: 0; }
    EditScreen Input, EditScreen Input:focus { border: none; height: 1; padding: 0; }
    """

    def __init__(
        self, title: str, field: str, *, one_line: bool = False, missing: str = ""
    ) -> None:
        super().__init__()
        self._title = title
        self._field: TextArea | Input
        if one_line:
            self._field = Input(field, placeholder=missing)
        else:
            self._field = TextArea(field, soft_wrap=True)

    def compose(self) -> ComposeResult:
        """Title, text, keys."""
        keys = "  ".join(
            f"{key_words(action.keys)} {action.hint}" for action in actions_of(Scope.EDITING)
        )
        with Vertical():
            yield Bar(content(self._title, STYLES[Tone.STRONG]))
            yield self._field
            yield Bar(content(keys, STYLES[Tone.QUIET]))

    def on_mount(self) -> None:
        """Type at once."""
        self._field.focus()

    def on_input_submitted(self) -> None:
        """Enter keeps a line."""
        self.action_keep()

    def action_keep(self) -> None:
        """Done."""
        field = self._field
        self.dismiss(edited(field.text if isinstance(field, TextArea) else field.value))

    def action_drop(self) -> None:
        """Leave it as it was."""
        self.dismiss(None)
