"""Fix: what helps against a decision, measured remedy by remedy, and what that breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType

from runtape.attribution.distribution import Distribution
from runtape.attribution.facts import Finished, Investigation, Verdict
from runtape.reports.fix_report import FixReport
from runtape.reports.remedies_text import fix_sheet
from runtape.reports.sheet import Line, Span, Tone, line
from runtape.reports.why_report import WhyReport
from runtape.workbench import FixJob, Trace
from runtape.workbench.presentation import subject_with_handle
from runtape.workbench.regressions import kept_by, rerun_options
from runtape_tui.actions import Scope, bindings
from runtape_tui.asking import JobOptions
from runtape_tui.jobs import JobRunner
from runtape_tui.screens.saving import SavingScreen, Test
from runtape_tui.tickets import Item, Job, JobKind, Problem, Ticket
from runtape_tui.view_models.bars import BAR_LEGEND
from runtape_tui.view_models.findings import hint_line, problem_line, question_line
from runtape_tui.view_models.fix import FixTable, report_lines, waiting_words
from runtape_tui.widgets.line_list import LineList
from runtape_tui.widgets.line_view import LineView
from runtape_tui.widgets.sheet_view import Lines, SheetView

_UNTRIED = {
    Verdict.BUDGET_SPENT,
    Verdict.INCOMPLETE_CONTEXT,
    Verdict.PROVIDER_FAILED,
    Verdict.INTERRUPTED,
}
"""Ends of a search that a `fix` does not build upon: it looks again, kept replies are free."""


class FixScreen(SavingScreen):
    """Remedies as rows, the one under the pointer in full below."""

    KIND = JobKind.FIX
    SCOPES = (Scope.FIX, Scope.ROWS)
    LEGEND = BAR_LEGEND
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.FIX)]

    DEFAULT_CSS = """
    FixScreen #head { background: $surface; }
    FixScreen #table { height: 10; }
    FixScreen #details { height: 1fr; border-top: solid $panel; }
    """

    def __init__(self, trace: Trace, event: int, jobs: JobRunner) -> None:
        super().__init__(trace, event, jobs)
        self.table = FixTable()
        self.head = Lines(id="head")
        self.columns_head = Lines(id="columns")
        self.rows = LineList(id="table")
        self.details = SheetView(id="details")
        self._job: FixJob | None = None
        self._report: FixReport | None = None
        self._problem: Problem | None = None
        self._fresh = True

    def compose(self) -> ComposeResult:
        """Question, table, details, bill."""
        yield self.head
        yield self.columns_head
        yield self.rows
        yield self.details
        yield self.status
        yield self.hints

    # The job

    def ready(self) -> None:
        """Show the last answer about this event, or ask."""
        self.rows.focus()
        before = self.jobs.newest(JobKind.FIX, self.event)
        if before is None:
            self.ask()
            return
        self.prepared(before.job)
        self.attach(before)

    def prepare(self, options: JobOptions) -> FixJob:
        """A `fix` of the event; a finished search of its cause is not made again."""
        return self.jobs.engine.fix(self.trace, self.event, options.fix(), self._found())

    def _found(self) -> Investigation | None:
        before = self.jobs.newest(JobKind.WHY, self.event)
        last = before.items[-1] if before is not None and before.items else None
        if isinstance(last, Finished) and last.report.verdict not in _UNTRIED:
            return last.report
        return None

    def prepared(self, job: Job) -> None:
        """The question is known."""
        assert isinstance(job, FixJob)  # noqa: S101 - what `prepare` made
        self._job = job
        self._start_over()

    def begin(self, ticket: Ticket) -> None:
        """Forget what an earlier job told."""
        del ticket
        self._start_over()

    def take(self, items: Sequence[Item]) -> None:
        """Facts go into the table; nothing is painted yet."""
        for item in items:
            if not isinstance(item, Distribution):
                self.table.take(item)
                self._fresh = True

    def paint(self, *, slow: bool) -> None:
        """Show what changed."""
        if self._fresh and (slow or self.table.progress.explained):
            self._fresh = False
            self._show()

    def ended(self, ticket: Ticket) -> None:
        """Say what helps."""
        del ticket
        if self.table.fix is not None and self._job is not None:
            plain = self._job.report(self.table.fix)
            subject = subject_with_handle(plain.subject, self.trace, self.jobs.options.folder)
            self._report = replace(plain, subject=subject)
        self._show()

    def refused(self, problem: Problem) -> None:
        """Say in the place of the answer why there is none."""
        self._problem = problem
        self._show()

    def _start_over(self) -> None:
        self.table = FixTable()
        self._report = self._problem = None
        self._show()

    # Words

    def _show(self) -> None:
        columns = max(40, self.size.width - 2)
        self.head.set(*self._head(columns))
        self.columns_head.set(*([self.table.heading(columns)] if self.table.rows else []))
        count = len(self.table.rows)
        waits = [line(Span(waiting_words(self.table), Tone.QUIET))]
        self.rows.set([self.table.row_line(n, columns) for n in range(count)] or waits)
        # The heading, no row beneath the last one, and most of the screen for the details.
        self.rows.styles.height = max(1, min(count, self.size.height // 2))
        self._show_details()

    def _head(self, columns: int) -> list[Line]:
        lines = []
        if self._job is not None:
            lines.append(question_line(self._job.decision, columns, self.KIND.value))
        running = self.ticket is not None and self.ticket.open
        lines += self.table.head_lines(columns, running=running)
        if self._problem is not None:
            lines.append(problem_line(self._problem.text, columns))
            if self._problem.hint:
                lines.append(hint_line(self._problem.hint, columns))
        elif self._report is not None:
            lines.append(self.table.answer_line(self._report, columns))
        return lines

    def _show_details(self) -> None:
        columns = max(40, self.size.width - 3)
        lines: list[Line] = []
        if self.rows.cursor < len(self.table.rows):
            lines += self.table.detail_lines(self.rows.cursor, columns)
        if self._report is not None:
            lines += [line(), line(Span("── report " + "─" * (columns - 10), Tone.QUIET))]
            lines += report_lines(self._report, columns)
        self.details.set(lines)

    def on_resize(self, event: events.Resize) -> None:
        """Bars and words for another width."""
        del event
        self._show()

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        """The details follow the pointer."""
        if message.view is self.rows:
            self._show_details()
            self.details.scroll_to(y=0, animate=False)

    def on_line_view_chosen(self, message: LineView.Chosen) -> None:
        """Enter on a remedy: to its details."""
        if message.view is self.rows:
            self.details.focus()

    # Results

    def result(self) -> tuple[WhyReport, FixReport | None] | None:
        """The report with its remedies."""
        return None if self._report is None else (self._report.why, self._report)

    def choose_test(self, then: Callable[[Test], None]) -> None:
        """The test of the remedy under the pointer."""
        number, fix = self.rows.cursor, self.table.fix
        if fix is None or self._job is None or number >= len(fix.trials):
            self.status.say("No remedy was measured: nothing to test.", Tone.WARN)
            return
        trial, name = fix.trials[number], self.table.rows[number].name
        if not trial.remains.runs:
            self.status.say(f"{name} was not run: nothing to test.", Tone.WARN)
            return
        options = rerun_options(trial.remedy, self._job.question.options, trial.remains.runs)
        grade = "not graded" if trial.grade is None else trial.grade.value
        then(Test(options, f"{name} ({grade})", kept_by(trial, fix)))

    # Actions

    def action_other_pane(self) -> None:
        """Table or details."""
        (self.rows if self.details.has_focus else self.details).focus()

    def action_copy(self) -> None:
        """Copy the report."""
        if self._report is not None:
            self.copy(fix_sheet(self._report).plain())
