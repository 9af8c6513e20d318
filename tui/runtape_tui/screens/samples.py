"""What the screens of odds and what-if have in common: a question and a distribution."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from runtape.attribution.distribution import Distribution
from runtape.reports.distribution_report import DistributionReport
from runtape.reports.distribution_text import distribution_sheet
from runtape.workbench import SampleJob, Trace
from runtape.workbench.presentation import subject_with_handle
from runtape.workbench.results import changed_settings, subject_of
from runtape_tui.jobs import JobRunner
from runtape_tui.screens.job_screen import JobScreen
from runtape_tui.tickets import Item, Job, Problem, Ticket
from runtape_tui.view_models.findings import hint_line, problem_line, question_line
from runtape_tui.widgets.distribution import DistributionView
from runtape_tui.widgets.sheet_view import Lines


class SampleScreen(JobScreen):
    """A screen around a distribution.

    Attributes:
        found: the newest snapshot, or None.
    """

    DEFAULT_CSS = """
    SampleScreen #head { background: $surface; }
    """

    def __init__(self, trace: Trace, event: int, jobs: JobRunner) -> None:
        super().__init__(trace, event, jobs)
        self.head = Lines(id="head")
        self.result = DistributionView(id="result")
        self.found: Distribution | None = None
        self._problem: Problem | None = None
        self._fresh = False

    def begin(self, ticket: Ticket) -> None:
        """Forget what an earlier job told."""
        del ticket
        self.found = self._problem = None
        self._fresh = True
        self.show_head()

    def take(self, items: Sequence[Item]) -> None:
        """The newest snapshot says all."""
        for item in items:
            if isinstance(item, Distribution):
                self.found, self._fresh = item, True

    def paint(self, *, slow: bool) -> None:
        """Show it, if it is another one."""
        del slow
        if self._fresh:
            self._fresh = False
            self.result.show(self.found, running=self.ticket is not None and self.ticket.open)

    def ended(self, ticket: Ticket) -> None:
        """Without the mark of progress."""
        del ticket
        self.result.show(self.found, running=False)

    def refused(self, problem: Problem) -> None:
        """Say in the head why there is no answer."""
        self._problem = problem
        self.show_head()

    def on_resize(self) -> None:
        """Cut the head anew."""
        self.show_head()

    def show_head(self) -> None:
        """The question, and what went wrong."""
        columns = max(40, self.size.width - 2)
        lines = []
        job = self.question_job
        if job is not None:
            lines.append(question_line(job.decision, columns, self.KIND.value))
        if self._problem is not None:
            lines.append(problem_line(self._problem.text, columns))
            if self._problem.hint:
                lines.append(hint_line(self._problem.hint, columns))
        self.head.set(*lines)

    @property
    def question_job(self) -> Job | None:
        """A job that knows the decision."""
        return self.ticket.job if self.ticket is not None else None

    def report(self) -> str | None:
        """The distribution as ``runtape rerun`` and ``runtape odds`` print it; None before."""
        if self.found is None or self.ticket is None or not isinstance(self.ticket.job, SampleJob):
            return None
        job = self.ticket.job
        subject = subject_of(job.question, job.context)
        found = DistributionReport(
            distribution=self.found,
            subject=subject_with_handle(subject, self.trace, self.jobs.options.folder),
            changed=self.changes(),
            settings=changed_settings(job.question.options),
            version=version("runtape"),
        )
        return distribution_sheet(found).plain()

    def changes(self) -> tuple[str, ...]:
        """What was changed, in words."""
        return ()
