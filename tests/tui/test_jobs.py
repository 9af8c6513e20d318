"""The queue of jobs: one at a time, outside the user interface, whatever becomes of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runtape.attribution.facts import Calls, CallsChanged, Phase, PhaseChanged
from runtape.attribution.options import Asking
from runtape.errors import MissingKey
from runtape.settings import Settings
from runtape_tui.asking import JobOptions
from runtape_tui.jobs import JobRunner
from runtape_tui.messages import JobEnded, JobMoved
from runtape_tui.tickets import JobKind, JobState, Problem, Ticket

PATIENCE = 20.0


class Told:
    """A listener: keeps what it is told, and can be waited for."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self._news = threading.Condition()

    def post_message(self, message: Any) -> bool:
        """Keep it."""
        with self._news:
            self.messages.append(message)
            self._news.notify_all()
        return True

    def wait_for(self, kind: type, ticket: Ticket) -> None:
        """Until a message of that kind about a ticket came."""

        def came() -> bool:
            return any(isinstance(m, kind) and m.ticket is ticket for m in self.messages)

        with self._news:
            assert self._news.wait_for(came, PATIENCE)


class Steps:
    """A job of some steps: facts are told, functions are called, coroutines are awaited."""

    def __init__(self, event: int, *steps: Any) -> None:
        self.decision = SimpleNamespace(event=event)
        self._steps = steps
        self._stopped = threading.Event()
        self.threads: set[str] = set()

    async def facts(self) -> AsyncGenerator[Any]:
        """One step after the other."""
        for step in self._steps:
            self.threads.add(threading.current_thread().name)
            if isinstance(step, Exception):
                raise step
            if callable(step):
                step()
            else:
                yield step

    def stop(self) -> None:
        """Let a step that waits for it go on."""
        self._stopped.set()

    def until_stopped(self) -> None:
        """A step that ends when the job is stopped."""
        assert self._stopped.wait(PATIENCE)


def ticket(job: Any, kind: JobKind = JobKind.WHY) -> Ticket:
    """A ticket for a job of steps."""
    return Ticket(kind, job)


@pytest.fixture
def told() -> Told:
    """A listener."""
    return Told()


@pytest.fixture
def runner(told: Told) -> JobRunner:
    """A runner with a listener."""
    runner = JobRunner()
    runner.listen(told)
    return runner


FACT = PhaseChanged(Phase.SCREEN)


def test_a_job_runs_elsewhere_and_its_ticket_has_all_it_told(runner, told):
    """Not in the thread that asked; begun and ended, with every fact in order."""
    job = Steps(5, FACT, CallsChanged(Calls(made=3, budget=9)))
    asked = runner.submit(ticket(job))
    told.wait_for(JobEnded, asked)

    assert asked.read(0) == [FACT, CallsChanged(Calls(made=3, budget=9))]
    assert asked.read(1) == [CallsChanged(Calls(made=3, budget=9))]
    assert asked.state is JobState.ENDED
    assert asked.calls.made == 3
    assert job.threads == {"runtape-jobs"}
    assert asked.words() == "why #5 done"


def test_jobs_wait_for_one_another(runner, told):
    """The second begins when the first is over; the status says what runs and what waits."""
    gate = threading.Event()
    first = runner.submit(ticket(Steps(1, FACT, lambda: gate.wait(PATIENCE))))
    second = runner.submit(ticket(Steps(2, FACT)))
    told.wait_for(JobMoved, first)
    assert second.state is JobState.WAITING
    assert runner.waiting == 1
    assert runner.status().startswith("why #1")
    assert "1 more waiting" in runner.status()
    gate.set()
    told.wait_for(JobEnded, second)
    order = [m.ticket.event for m in told.messages if isinstance(m, JobEnded)]
    assert order == [1, 2]
    assert runner.status() == ""


def test_a_failing_job_keeps_its_error_and_the_next_one_runs(runner, told):
    """One bad job never stops the queue."""
    error = MissingKey("No key.", hint="set OPENAI_API_KEY")
    bad, good = runner.submit(ticket(Steps(1, error))), runner.submit(ticket(Steps(2, FACT)))
    told.wait_for(JobEnded, good)

    assert bad.error is error
    assert Problem.of(bad.error) == Problem("No key.", "set OPENAI_API_KEY")
    assert bad.words() == "why #1 failed"
    assert good.error is None


def test_a_fault_of_ours_is_told_as_one(runner, told):
    """A TypeError in a job is no reason to die, and says whose it is."""
    bad = runner.submit(ticket(Steps(1, TypeError("odd"))))
    told.wait_for(JobEnded, bad)
    assert Problem.of(bad.error).words == "TypeError: odd this is a fault in runtape"


def test_stopping_what_runs_lets_it_tell_what_it_knows(runner, told):
    """Facts after the stop still arrive: the partial report is one of them."""
    job = Steps(1, FACT)
    job._steps = (FACT, job.until_stopped, FACT)
    asked = runner.submit(ticket(job))
    told.wait_for(JobMoved, asked)
    runner.stop(asked)
    told.wait_for(JobEnded, asked)
    assert len(asked.items) == 2
    assert asked.stopped
    assert asked.words() == "why #1 stopped"


def test_stopping_what_waits_takes_it_off_the_queue(runner, told):
    """It never begins, and its listeners know."""
    gate = threading.Event()
    first = runner.submit(ticket(Steps(1, lambda: gate.wait(PATIENCE))))
    second = runner.submit(ticket(Steps(2, FACT)))
    runner.stop(second)
    told.wait_for(JobEnded, second)
    gate.set()
    told.wait_for(JobEnded, first)
    assert second.items == []
    assert second.state is JobState.ENDED


def test_the_newest_job_about_an_event_is_found_again(runner, told):
    """Coming back to an event shows what was asked about it last."""
    first = runner.submit(ticket(Steps(7, FACT)))
    second = runner.submit(ticket(Steps(7, FACT)))
    odds = runner.submit(ticket(Steps(7, FACT), JobKind.ODDS))
    told.wait_for(JobEnded, odds)
    assert runner.newest(JobKind.WHY, 7) is second
    assert runner.newest(JobKind.WHY, 7) is not first
    assert runner.newest(JobKind.ODDS, 7) is odds
    assert runner.newest(JobKind.WHY, 8) is None


def test_news_is_told_once_until_somebody_reads(runner, told):
    """A thousand facts wake a listener that does not read no more than one."""
    asked = runner.submit(ticket(Steps(1, *[FACT] * 1_000)))
    told.wait_for(JobEnded, asked)
    moves = [m for m in told.messages if isinstance(m, JobMoved)]
    assert len(moves) <= 2
    assert moves[0].can_replace(JobMoved(asked))
    assert not moves[0].can_replace(JobMoved(ticket(Steps(2))))


def test_leaving_stops_what_runs_and_says_what_is_kept(runner, told):
    """Calls made, where replies are, and what never began."""
    job = Steps(4)
    job._steps = (CallsChanged(Calls(made=41, budget=400)), job.until_stopped)
    asked = runner.submit(ticket(job))
    runner.submit(ticket(Steps(5, FACT)))
    told.wait_for(JobMoved, asked)
    while not asked.items:
        threading.Event().wait(0.01)
    words = runner.close()
    assert words == (
        "Stopped why #4 after 41 calls. Every reply is kept in .runtape: asking again goes on"
        " there. 1 job never began."
    )
    assert asked.state is JobState.ENDED


def test_leaving_while_nothing_runs_says_nothing():
    """There is nothing to say."""
    assert JobRunner().close() is None


def test_a_listener_that_is_gone_harms_nobody(told):
    """Its loop may be closed by the time something is told."""

    class Gone(Told):
        def post_message(self, message: Any) -> bool:
            """Too late."""
            del message
            raise RuntimeError("Event loop is closed")

    runner = JobRunner()
    runner.listen(Gone())
    runner.listen(told)
    asked = runner.submit(ticket(Steps(1, FACT)))
    told.wait_for(JobEnded, asked)
    assert asked.error is None


def test_forgotten_listeners_hear_nothing(runner, told):
    """A screen that was left."""
    other = Told()
    runner.listen(other)
    runner.forget(other)
    runner.forget(other)
    asked = runner.submit(ticket(Steps(1, FACT)))
    told.wait_for(JobEnded, asked)
    assert other.messages == []


def test_each_job_has_a_loop_of_its_own(runner, told):
    """Loops are not shared: what one job leaves behind cannot hold up the next."""
    loops: list[Callable[[], Any]] = []
    first = runner.submit(ticket(Steps(1, lambda: loops.append(asyncio.get_running_loop()))))
    second = runner.submit(ticket(Steps(2, lambda: loops.append(asyncio.get_running_loop()))))
    told.wait_for(JobEnded, second)
    assert first.error is None
    assert loops[0] is not loops[1]


def test_options_come_from_flags_then_settings():
    """A flag that was not given leaves the setting in force."""
    settings = Settings(dir=Path("runs"), budget=77, fill="empty", cache=True, yes=False)
    options = JobOptions.read(settings, model_fn=None, budget=None, workers=3, no_cache=True)
    assert options.asking.budget == 77
    assert options.asking.workers == 3
    assert not options.asking.cache
    assert options.folder == Path("runs")
    assert options.why().fill is options.rerun().fill
    assert options.asks_first
    assert not JobOptions.read(settings, yes=True).asks_first
    assert not JobOptions.read(settings, model_fn="m.py:f").asks_first


def test_a_typed_function_answers_instead_of_a_server():
    """What names a server would contradict it."""
    asking = Asking(model_name="m-2", base_url="http://localhost:1", budget=9)
    options = JobOptions(asking=asking).with_function("m.py:f")
    assert options.asking == Asking(model_fn="m.py:f", budget=9)
    assert options.odds().model_fn == "m.py:f"
