"""One line before model calls: what they will cost, and who is asked."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from runtape.reports.plan_text import Outlook, outlook_words
from runtape_tui.actions import Scope, bindings
from runtape_tui.asking import JobOptions
from runtape_tui.safe import content


class ConfirmScreen(ModalScreen[JobOptions | None]):
    """Asks before anything is paid for.

    Dismissed with the options to ask with (a model function may have been typed in), or with None.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.CONFIRM)]

    DEFAULT_CSS = """
    ConfirmScreen { align: left bottom; background: transparent; }
    ConfirmScreen > Vertical {
        height: auto; background: $panel; border-top: tall $accent; padding: 0 1;
    }
    ConfirmScreen #keys { color: $foreground 70%; }
    ConfirmScreen Input { border: none; height: 1; padding: 0; background: $surface; }
    """

    def __init__(self, outlook: Outlook, options: JobOptions) -> None:
        super().__init__()
        self._outlook = outlook
        self._options = options
        self._input = Input(placeholder="file.py:function", id="function")

    def compose(self) -> ComposeResult:
        """The estimate, the keys, and a line to type in that is hidden at first."""
        self._input.display = False
        with Vertical():
            yield Static(content(outlook_words(self._outlook)), id="estimate")
            yield self._input
            yield Static(content(_KEYS), id="keys")

    def action_agree(self) -> None:
        """Go on."""
        self.dismiss(self._options)

    def action_decline(self) -> None:
        """Ask nothing; while typing: type nothing."""
        if self._input.display:
            self._show_input(shown=False)
        else:
            self.dismiss(None)

    def action_type_function(self) -> None:
        """Name a function that answers instead of the model."""
        self._show_input(shown=True)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Ask the function that was typed."""
        message.stop()
        named = message.value.strip()
        if named:
            self.dismiss(self._options.with_function(named))

    def _show_input(self, *, shown: bool) -> None:
        self._input.display = shown
        if shown:
            self._input.focus()
        else:
            self.set_focus(None)
        self.query_one("#keys", Static).update(content(_TYPING if shown else _KEYS))


_KEYS = "⏎ go on   f ask a model function instead   esc ask nothing"
_TYPING = "⏎ ask this function: it takes the request and returns an answer   esc back"
