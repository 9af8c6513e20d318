"""Odds: how often the unchanged context gives the decision."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from runtape.workbench import SampleJob
from runtape_tui.actions import Scope, bindings
from runtape_tui.asking import JobOptions
from runtape_tui.screens.samples import SampleScreen
from runtape_tui.tickets import JobKind


class OddsScreen(SampleScreen):
    """One distribution, growing."""

    KIND = JobKind.ODDS
    SCOPES = (Scope.ODDS, Scope.ROWS)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.ODDS)]

    def compose(self) -> ComposeResult:
        """Question, distribution, bill."""
        yield self.head
        yield self.result
        yield self.status
        yield self.hints

    def ready(self) -> None:
        """Show the last answer about this event, or ask."""
        self.result.focus()
        before = self.jobs.newest(JobKind.ODDS, self.event)
        if before is None:
            self.ask()
        else:
            self.attach(before)

    def prepare(self, options: JobOptions) -> SampleJob:
        """An `odds` about the event."""
        return self.jobs.engine.odds(self.trace, self.event, options.odds())

    def action_whatif(self) -> None:
        """Change the context."""
        from runtape_tui.screens.whatif import WhatIfScreen  # noqa: PLC0415 - only when asked for

        self.app.push_screen(WhatIfScreen(self.trace, self.event, self.jobs))

    def action_why(self) -> None:
        """Look for the cause."""
        from runtape_tui.screens.why import WhyScreen  # noqa: PLC0415 - it opens this one too

        self.app.push_screen(WhyScreen(self.trace, self.event, self.jobs))

    def action_copy(self) -> None:
        """Copy the report."""
        text = self.report()
        if text is not None:
            self.copy(text)
