"""Runs jobs one after the other, outside the hands of the user interface.

Every job has an event loop of its own in a thread of its own: an SDK that parses a long answer, or
a model function that computes, never keeps a key waiting. What a job tells lands in its ticket;
listeners get a message that there is something to read.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message
from textual.message_pump import MessagePump

from runtape.attribution.facts import Investigation
from runtape.attribution.options import OddsOptions, RerunOptions, WhyOptions
from runtape.remedies.options import FixOptions
from runtape.reports.words import plural
from runtape.workbench import (
    FixJob,
    SampleJob,
    Trace,
    WhyJob,
    prepare_fix,
    prepare_odds,
    prepare_rerun,
    prepare_why,
)
from runtape_tui.asking import JobOptions
from runtape_tui.messages import JobEnded, JobMoved
from runtape_tui.tickets import JobKind, Ticket

_PATIENCE = 2.0
"""Seconds that leaving the app waits for a job to let go."""


def _fix(trace: Trace, event: int, options: FixOptions, found: Investigation | None) -> FixJob:
    return prepare_fix(trace, event, options, found=found)


@dataclass(frozen=True, slots=True)
class Engine:
    """Where jobs come from: the workbench, or what stands in for it."""

    why: Callable[[Trace, int, WhyOptions], WhyJob] = prepare_why
    rerun: Callable[[Trace, int, RerunOptions], SampleJob] = prepare_rerun
    odds: Callable[[Trace, int, OddsOptions], SampleJob] = prepare_odds
    fix: Callable[[Trace, int, FixOptions, Investigation | None], FixJob] = _fix


_WORKBENCH = Engine()


class JobRunner:
    """The queue of jobs of the app.

    Attributes:
        options: how the next job asks.
        engine: where jobs come from.
    """

    def __init__(self, options: JobOptions | None = None, engine: Engine = _WORKBENCH) -> None:
        self.options = options or JobOptions()
        self.engine = engine
        self._lock = threading.Lock()
        self._queue: deque[Ticket] = deque()
        self._tickets: list[Ticket] = []
        self._running: Ticket | None = None
        self._thread: threading.Thread | None = None
        self._listeners: list[MessagePump] = []

    # Jobs

    def submit(self, ticket: Ticket) -> Ticket:
        """Run a job as soon as those before it are over."""
        with self._lock:
            self._queue.append(ticket)
            self._tickets.append(ticket)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="runtape-jobs", daemon=True)
                self._thread.start()
        return ticket

    def stop(self, ticket: Ticket) -> None:
        """End a job now: it still tells what it knows, and its replies are kept."""
        if not ticket.open:
            return
        ticket.stopped = True
        with self._lock:
            waits = ticket in self._queue
            if waits:
                self._queue.remove(ticket)
        if waits:
            ticket.end()
            self._tell(JobEnded, ticket)
        else:
            ticket.job.stop()

    def close(self) -> str | None:
        """Stop everything, for leaving the app; says what is kept, None when nothing ran."""
        with self._lock:
            waiting, running, thread = len(self._queue), self._running, self._thread
            self._queue.clear()
            self._listeners.clear()
        if running is None:
            return None
        self.stop(running)
        if thread is not None:
            thread.join(_PATIENCE)
        return self._farewell(running, waiting)

    # What is known

    @property
    def running(self) -> Ticket | None:
        """The job that runs now."""
        return self._running

    @property
    def waiting(self) -> int:
        """How many wait behind it."""
        return len(self._queue)

    def newest(self, kind: JobKind, event: int) -> Ticket | None:
        """The last job of a kind about an event, running or over."""
        same = (t for t in reversed(self._tickets) if t.kind is kind and t.event == event)
        return next(same, None)

    def status(self) -> str:
        """What runs and what waits, on one line; empty when nothing does."""
        if self._running is None:
            return ""
        more = f" · {self.waiting} more waiting" if self._queue else ""
        return f"{self._running.words()}{more}"

    # Listeners

    def listen(self, pump: MessagePump) -> None:
        """Send `pump` JobMoved and JobEnded from now on."""
        if pump not in self._listeners:
            self._listeners.append(pump)

    def forget(self, pump: MessagePump) -> None:
        """Send `pump` nothing any more."""
        with contextlib.suppress(ValueError):
            self._listeners.remove(pump)

    # The thread

    def _work(self) -> None:
        while (ticket := self._next()) is not None:
            ticket.begin()
            self._tell(JobMoved, ticket)
            try:
                asyncio.run(self._consume(ticket))
            except Exception as error:  # noqa: BLE001 - the outer edge: one bad job never kills the app
                ticket.end(error)
            else:
                ticket.end()
            with self._lock:
                self._running = None
            self._tell(JobEnded, ticket)

    def _next(self) -> Ticket | None:
        with self._lock:
            if not self._queue:
                self._thread = None
                return None
            self._running = self._queue.popleft()
            return self._running

    async def _consume(self, ticket: Ticket) -> None:
        async with contextlib.aclosing(ticket.stream()) as items:
            async for item in items:
                ticket.add(item)
                if not ticket.told:
                    ticket.told = True
                    self._tell(JobMoved, ticket)

    def _tell(self, message: Callable[[Ticket], Message], ticket: Ticket) -> None:
        for pump in tuple(self._listeners):
            # A pump's loop may close while the last messages are on their way.
            with contextlib.suppress(RuntimeError):
                pump.post_message(message(ticket))

    def _farewell(self, ticket: Ticket, waiting: int) -> str:
        done = plural(ticket.calls.made + ticket.calls.cached, "call")
        words = [f"Stopped {ticket.kind.value} #{ticket.event} after {done}."]
        asking = self.options.asking
        if asking.cache:
            words.append(
                f"Every reply is kept in {asking.cache_folder}: asking again goes on there."
            )
        if waiting:
            words.append(f"{plural(waiting, 'job')} never began.")
        return " ".join(words)
