"""What the screens of `why`, what-if and odds have in common: prepare, confirm, run, stop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.screen import Screen
from textual.timer import Timer

from runtape.errors import IncompleteContext
from runtape.reports.sheet import Tone
from runtape.workbench import Trace
from runtape.workbench.presentation import outlook_of
from runtape_tui.actions import Action, Scope
from runtape_tui.asking import JobOptions
from runtape_tui.host import host
from runtape_tui.jobs import JobRunner
from runtape_tui.messages import JobEnded, JobMoved, JobPrepared, JobRefused
from runtape_tui.safe import content
from runtape_tui.screens.confirm import ConfirmScreen
from runtape_tui.tickets import Item, Job, JobKind, Problem, Ticket
from runtape_tui.view_models.findings import spending_words
from runtape_tui.widgets.status_line import KeyHints, StatusLine

BEATS = 20
"""Pictures a second while a job runs."""
_SLOW = 5
"""Every so many pictures, times are counted on and rows in flight move."""


class JobScreen(Screen[None]):
    """A screen around one job at a time.

    Attributes:
        trace: the run.
        event: the event that is asked about.
        jobs: who runs the job.
        ticket: the job that is shown, or None.
    """

    KIND: ClassVar[JobKind]
    SCOPES: ClassVar[tuple[Scope, ...]]
    LEGEND: ClassVar[str] = ""
    """Stands at the right of the status line while no other job runs."""

    def __init__(self, trace: Trace, event: int, jobs: JobRunner) -> None:
        super().__init__()
        self.trace, self.event, self.jobs = trace, event, jobs
        self.ticket: Ticket | None = None
        self.status = StatusLine(id="status")
        self.hints = KeyHints(id="hints")
        self._position = 0
        self._beats = 0
        self._timer: Timer | None = None

    # What a subclass provides

    def ready(self) -> None:
        """The screen is on; start what starts by itself."""

    def prepare(self, options: JobOptions) -> Job:
        """Prepare the job; runs in a thread."""
        raise NotImplementedError

    def prepared(self, job: Job) -> None:
        """Show what is known before anything was asked."""

    def begin(self, ticket: Ticket) -> None:
        """Another job is shown from now on."""

    def take(self, items: Sequence[Item]) -> None:
        """The job told something."""

    def paint(self, *, slow: bool) -> None:
        """Show what was told since the last time; `slow` a few times a second."""

    def ended(self, ticket: Ticket) -> None:
        """The job is over."""

    def refused(self, problem: Problem) -> None:
        """Show what keeps the job from a result; it stays on the screen."""

    # What a subclass calls

    def ask(self, *, agreed: bool = False) -> None:
        """Prepare a job, confirm it unless that is not wanted, and run it."""
        if self.ticket is not None and self.ticket.open:
            self.status.say("It runs already: esc stops it.", Tone.WARN)
            return
        self._prepare(agreed=agreed)

    def attach(self, ticket: Ticket) -> None:
        """Show a job from its beginning."""
        self.ticket, self._position = ticket, 0
        self.begin(ticket)
        self._picture()
        self._show_status()
        if ticket.open and self._timer is not None:
            self._timer.resume()
        elif not ticket.open:
            self._over(ticket)

    def copy(self, text: str) -> None:
        """Copy a text, as the app does it."""
        host(self).copy_text(text)

    # Preparing

    @work(thread=True, exclusive=True, group="prepare", exit_on_error=False)
    def _prepare(self, *, agreed: bool) -> None:
        try:
            job = self.prepare(self.jobs.options)
            lacks = isinstance(job.context, IncompleteContext)
            outlook = None if lacks else outlook_of(job)
        except Exception as error:  # noqa: BLE001 - the outer edge: nothing a job does kills the app
            self.post_message(JobRefused(Problem.of(error)))
        else:
            self.post_message(JobPrepared(job, outlook, agreed))

    def on_job_prepared(self, message: JobPrepared) -> None:
        """Run it, or ask first whether to."""
        job, outlook, options = message.job, message.outlook, self.jobs.options
        self.prepared(job)
        expected = None if outlook is None else outlook.calls

        def answered(chosen: JobOptions | None) -> None:
            if chosen is None:
                self.status.say("Nothing was asked.", Tone.QUIET)
            elif chosen is options:
                self._submit(job, expected)
            else:
                self.jobs.options = chosen
                self.ask(agreed=True)

        if outlook is None or message.agreed or not options.asks_first:
            self._submit(job, expected)
        else:
            self.app.push_screen(ConfirmScreen(outlook, options), answered)

    def on_job_refused(self, message: JobRefused) -> None:
        """Say what is wrong."""
        self._complain(message.problem)

    def _submit(self, job: Job, expected: int | None) -> None:
        self.attach(self.jobs.submit(Ticket(self.KIND, job, expected)))

    def _complain(self, problem: Problem) -> None:
        self.status.say(problem.words, Tone.BAD)
        self.refused(problem)

    # Running

    def on_mount(self) -> None:
        """Listen to jobs."""
        self.jobs.listen(self)
        self._timer = self.set_interval(1 / BEATS, self._picture, pause=True)
        self._show_hints()
        self.ready()

    def on_unmount(self) -> None:
        """Listen no more; the job goes on."""
        self.jobs.forget(self)

    def on_job_moved(self, message: JobMoved) -> None:
        """Go on painting; the status of this job is shown with the pictures."""
        if message.ticket is not self.ticket:
            self._show_status()
        elif self._timer is not None:
            self._timer.resume()

    def on_job_ended(self, message: JobEnded) -> None:
        """Show the result."""
        if message.ticket is self.ticket:
            self._picture()
            self._over(message.ticket)
        self._show_status()

    def _picture(self) -> None:
        if self.ticket is None:
            return
        items = self.ticket.read(self._position)
        self._position += len(items)
        if items:
            self.take(items)
        self._beats += 1
        slow = self._beats % _SLOW == 0
        self.paint(slow=slow)
        if slow:
            self._show_status()

    def _over(self, ticket: Ticket) -> None:
        if self._timer is not None:
            self._timer.pause()
        if ticket.error is not None:
            self._complain(Problem.of(ticket.error))
        self.ended(ticket)
        self._show_status()

    def _show_status(self) -> None:
        if self.ticket is not None:
            self.status.show_place(content(self._spending(self.ticket)))
        other = self.jobs.status() if self.jobs.running is not self.ticket else ""
        self.status.show_job(other or self.LEGEND, Tone.NAME if other else Tone.QUIET)
        self._show_hints()

    def _show_hints(self) -> None:
        """The keys of this screen; the one that stops only while there is something to stop."""
        known = host(self).hints(*self.SCOPES, Scope.APP)
        busy = self.ticket is not None and self.ticket.open
        self.hints.show([hint for hint in known if self._hinted(hint[1], busy=busy)])

    def _hinted(self, action: Action, *, busy: bool) -> bool:
        if action.scope is Scope.APP:
            return action.id == "app.help"
        return busy if action.handler == "stop" else not (busy and action.handler == "again")

    def _spending(self, ticket: Ticket) -> str:
        if not ticket.calls.budget:
            return ticket.words()
        return spending_words(
            ticket.calls, ticket.seconds, expected=ticket.expected, running=ticket.open
        )

    # Actions

    def action_again(self) -> None:
        """Ask, or ask again."""
        self.ask()

    def action_stop(self) -> None:
        """Stop the job; when none runs: go back."""
        if self.ticket is not None and self.ticket.open:
            self.jobs.stop(self.ticket)
            self.status.say("Stopping: every reply that came is kept.")
        else:
            self.action_leave()

    def action_leave(self) -> None:
        """Go back; the job goes on."""
        self.dismiss(None)
