"""The terminal app."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.screen import Screen

from runtape.settings import Settings
from runtape.workbench import Trace, find_event, open_trace
from runtape_tui.actions import Scope, bindings
from runtape_tui.safe import Backstop
from runtape_tui.screens.trace import TraceScreen


class RuntapeApp(App[None]):
    """Looks at one run and asks why."""

    CSS_PATH = "runtape.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.APP)]

    def __init__(
        self,
        trace: Path | None = None,
        *,
        at: str | None = None,
        why: bool = False,
        settings: Settings | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.trace: Trace | None = None
        self._path, self._at, self._why = trace, at, why
        self._filters.append(Backstop())

    def on_mount(self) -> None:
        """Open the trace."""
        if self._path is not None:
            self.open_trace_file(self._path)

    def open_trace_file(self, path: Path) -> None:
        """Show another run."""
        self.trace = open_trace(path)
        event = None if self._at is None else find_event(self.trace, self._at)
        self.push_screen(TraceScreen(self.trace, event))
        if self._why and event is not None:
            self.open_why(event)

    def open_why(self, event: int) -> None:
        """Ask which part of the context caused the decision at an event."""
        self._push("runtape_tui.screens.why", "WhyScreen", event)

    def open_whatif(self, event: int) -> None:
        """Open the bench on which the context of a decision can be changed."""
        self._push("runtape_tui.screens.whatif", "WhatIfScreen", event)

    def open_rerun(self, event: int) -> None:
        """Run a decision again."""
        self._push("runtape_tui.screens.whatif", "WhatIfScreen", event, rerun=True)

    def open_odds(self, event: int) -> None:
        """See how often the unchanged context gives a decision."""
        self._push("runtape_tui.screens.whatif", "WhatIfScreen", event, odds=True)

    def action_ask(self, what: str) -> None:
        """Ask about the selected event: ``why``, ``rerun``, ``odds`` or ``whatif``."""
        if isinstance(self.screen, TraceScreen):
            getattr(self, f"open_{what}")(self.screen.selected_event)

    def _push(self, module: str, name: str, event: int, **more: Any) -> None:
        screen: Callable[..., Screen[Any]] = getattr(import_module(module), name)
        self.push_screen(screen(self.trace, event, **more))

    async def action_leave(self) -> None:
        """Quit."""
        self.exit()


def run_app(
    trace: Path | None, *, at: str | None = None, why: bool = False, settings: Settings
) -> int:
    """Run the app until the user quits; returns the exit code."""
    app = RuntapeApp(trace, at=at, why=why, settings=settings)
    app.run()
    return app.return_code or 0
