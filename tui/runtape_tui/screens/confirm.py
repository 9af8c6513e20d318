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

_KEYS = "⏎ go on   esc ask nothing   or type file.py:function to ask that instead"
_YES, _NO = {"", "y", "yes"}, {"n", "no", "q"}


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
    ConfirmScreen Input, ConfirmScreen Input:focus {
        border: none; height: 1; padding: 0; background: $surface;
    }
    """

    def __init__(self, outlook: Outlook, options: JobOptions) -> None:
        super().__init__()
        self._outlook = outlook
        self._options = options

    def compose(self) -> ComposeResult:
        """The estimate, the keys, and a line to type in."""
        with Vertical():
            yield Static(content(outlook_words(self._outlook)), id="estimate")
            yield Static(content(_KEYS), id="keys")
            yield Input()

    def on_mount(self) -> None:
        """Every key is typed: there is nothing to press by mistake."""
        self.query_one(Input).focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Go on, or ask the function that was typed."""
        message.stop()
        typed = message.value.strip()
        if typed.lower() in _YES:
            self.dismiss(self._options)
        elif typed.lower() in _NO:
            self.dismiss(None)
        else:
            self.dismiss(self._options.with_function(typed))

    def action_decline(self) -> None:
        """Ask nothing."""
        self.dismiss(None)
