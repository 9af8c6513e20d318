"""Chain: from a decision back over the decisions that brought its cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType

from runtape.attribution.facts import Fact
from runtape.reports.fix_report import FixReport
from runtape.reports.sheet import Line, Span, Tone, line
from runtape.reports.why_report import WhyReport
from runtape.reports.why_text import why_sheet
from runtape.workbench import Trace, WhyJob
from runtape.workbench.presentation import subject_with_handle
from runtape_tui.actions import Scope, bindings
from runtape_tui.asking import JobOptions
from runtape_tui.jobs import JobRunner
from runtape_tui.screens.saving import SavingScreen, Test, choose_cause_test
from runtape_tui.screens.trace import TraceScreen
from runtape_tui.tickets import Item, Job, JobKind, Problem, Ticket
from runtape_tui.view_models.bars import BAR_LEGEND
from runtape_tui.view_models.chain import ChainTree, Row
from runtape_tui.view_models.findings import hint_line, problem_line, question_line
from runtape_tui.widgets.line_list import LineList
from runtape_tui.widgets.line_view import LineView
from runtape_tui.widgets.sheet_view import Lines

_LINES_OF_HELP = "⏎ goes to the event of a row, in the trace"


class ChainScreen(SavingScreen):
    """A tree of decisions; Enter goes to the event behind a row."""

    KIND = JobKind.CHAIN
    SCOPES = (Scope.CHAIN, Scope.ROWS)
    LEGEND = BAR_LEGEND
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.CHAIN)]

    DEFAULT_CSS = """
    ChainScreen #head { background: $surface; }
    """

    def __init__(self, trace: Trace, event: int, jobs: JobRunner) -> None:
        super().__init__(trace, event, jobs)
        self.head = Lines(id="head")
        self.rows = LineList(id="tree")
        self.tree_model: ChainTree | None = None
        self._shown: list[Row] = []
        self._job: WhyJob | None = None
        self._report: WhyReport | None = None
        self._problem: Problem | None = None
        self._fresh = False

    def compose(self) -> ComposeResult:
        """Question, tree, bill."""
        yield self.head
        yield self.rows
        yield self.status
        yield self.hints

    # The job

    def ready(self) -> None:
        """Show the last answer about this event, or ask."""
        self.rows.focus()
        before = self.jobs.newest(JobKind.CHAIN, self.event)
        if before is None:
            self.ask()
            return
        self.prepared(before.job)
        self.attach(before)

    def prepare(self, options: JobOptions) -> WhyJob:
        """A `why` that goes on; what an earlier search asked is kept, and free."""
        return self.jobs.engine.why(self.trace, self.event, options.chain())

    def prepared(self, job: Job) -> None:
        """The question is known."""
        assert isinstance(job, WhyJob)  # noqa: S101 - what `prepare` made
        self._job = job
        self._start_over()

    def begin(self, ticket: Ticket) -> None:
        """Forget what an earlier job told."""
        del ticket
        self._start_over()

    def take(self, items: Sequence[Item]) -> None:
        """Facts go into the tree; nothing is painted yet."""
        for item in items:
            if isinstance(item, Fact) and self.tree_model is not None:
                self.tree_model.take(item)
                self._fresh = True

    def paint(self, *, slow: bool) -> None:
        """Show what changed, a few times a second."""
        if self._fresh and slow:
            self._fresh = False
            self._show()

    def ended(self, ticket: Ticket) -> None:
        """Say where it ends."""
        del ticket
        found = None if self.tree_model is None else self.tree_model.report
        if found is not None and self._job is not None:
            plain = self._job.report(found)
            subject = subject_with_handle(plain.subject, self.trace, self.jobs.options.folder)
            self._report = replace(plain, subject=subject)
        self._show()

    def refused(self, problem: Problem) -> None:
        """Say why there is no answer."""
        self._problem = problem
        self._show()

    def _start_over(self) -> None:
        self._report = self._problem = None
        self.tree_model = None if self._job is None else ChainTree(self._job.decision)
        self._show()

    # Words

    def _show(self) -> None:
        columns = max(40, self.size.width - 2)
        self.head.set(*self._head(columns))
        self._shown = [] if self.tree_model is None else self.tree_model.rows(columns)
        self.rows.set([row.line for row in self._shown])

    def _head(self, columns: int) -> list[Line]:
        lines = []
        if self._job is not None:
            lines.append(question_line(self._job.decision, columns, self.KIND.value))
        if self._problem is None:
            return [*lines, line(Span(_LINES_OF_HELP, Tone.QUIET))]
        lines.append(problem_line(self._problem.text, columns))
        if self._problem.hint:
            lines.append(hint_line(self._problem.hint, columns))
        return lines

    def on_resize(self, event: events.Resize) -> None:
        """Cut anew."""
        del event
        self._show()

    def on_line_view_chosen(self, message: LineView.Chosen) -> None:
        """Enter: back to the trace, at the event of the row."""
        if message.view is not self.rows or message.row >= len(self._shown):
            return
        event = self._shown[message.row].event
        screens = self.app.screen_stack
        below = next((s for s in reversed(screens) if isinstance(s, TraceScreen)), None)
        if below is None:
            self.status.say(f"Event {event} is in the trace.", Tone.QUIET)
            return
        while self.app.screen is not below:
            self.app.pop_screen()
        below.jump(event, "")

    # Results

    def result(self) -> tuple[WhyReport, FixReport | None] | None:
        """The report, with its chain."""
        return None if self._report is None else (self._report, None)

    def choose_test(self, then: Callable[[Test], None]) -> None:
        """The recorded context, or the one without the cause."""
        if self._report is not None:
            choose_cause_test(self, self._report, then)

    def action_copy(self) -> None:
        """Copy the report."""
        if self._report is not None:
            self.copy(why_sheet(self._report).plain())
