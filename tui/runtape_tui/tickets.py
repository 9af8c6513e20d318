"""A job as the app sees it: what it is about, what it told so far, how it ended."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from enum import Enum

from runtape.attribution.distribution import Distribution
from runtape.attribution.facts import Calls, CallsChanged, Fact, Finished, Phase, PhaseChanged
from runtape.errors import RuntapeError
from runtape.remedies.facts import FixFact, FixFinished, Proposed
from runtape.reports.codes import PHASE_WORDS
from runtape.workbench import FixJob, SampleJob, WhyJob

Job = WhyJob | SampleJob | FixJob
"""What can be asked for."""
Item = Fact | FixFact | Distribution
"""What a job tells: facts of a `why` or `fix`, the growing distribution of a `rerun` or `odds`."""


class JobKind(Enum):
    """What is asked; the value stands in the status line."""

    WHY = "why"
    RERUN = "what-if"
    ODDS = "odds"
    FIX = "fix"
    CHAIN = "chain"


class JobState(Enum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"


@dataclass(eq=False, slots=True)
class Ticket:
    """One job from the moment it is asked for.

    The thread that runs it appends to `items` and never takes away: readers in other threads keep
    a position and read on from there.

    Attributes:
        kind: what is asked.
        job: the prepared job.
        expected: calls it will probably take; None when that is not known.
        items: what it told so far.
        state: where it stands.
        error: what kept it from a result.
        stopped: whether somebody asked it to stop.
        told: whether its listeners know that there is something to read.
    """

    kind: JobKind
    job: Job
    expected: int | None = None
    items: list[Item] = field(default_factory=list)
    state: JobState = JobState.WAITING
    error: Exception | None = None
    stopped: bool = False
    told: bool = False
    _calls: Calls = field(default_factory=Calls)
    _phase: Phase | None = None
    _began: float | None = None
    _ended: float | None = None

    # For the thread that runs it

    def stream(self) -> AsyncGenerator[Item]:
        """Start it; yields what it tells, the result last."""
        if isinstance(self.job, SampleJob):
            return self.job.snapshots()
        return self.job.facts()

    def begin(self) -> None:
        """It runs from now on."""
        self.state, self._began = JobState.RUNNING, time.monotonic()

    def add(self, item: Item) -> None:
        """Keep what it told."""
        if isinstance(item, CallsChanged | Distribution):
            self._calls = item.calls
        elif isinstance(item, PhaseChanged):
            self._phase = item.phase
        elif isinstance(item, Finished):
            self._calls = item.report.calls
        elif isinstance(item, Proposed):
            self._phase = None
        elif isinstance(item, FixFinished):
            self._calls = item.fix.calls
        self.items.append(item)

    def end(self, error: Exception | None = None) -> None:
        """It is over."""
        self.state, self.error, self._ended = JobState.ENDED, error, time.monotonic()

    # For everybody

    def read(self, position: int) -> list[Item]:
        """What it told since `position` items."""
        self.told = False
        return self.items[position:]

    @property
    def event(self) -> int:
        """The event it is about."""
        return self.job.decision.event

    @property
    def open(self) -> bool:
        """Whether it waits or runs."""
        return self.state is not JobState.ENDED

    @property
    def calls(self) -> Calls:
        """What it cost so far."""
        return self._calls

    @property
    def seconds(self) -> float:
        """How long it has run."""
        if self._began is None:
            return 0.0
        return (self._ended or time.monotonic()) - self._began

    def words(self) -> str:
        """Where it stands, for a status line."""
        name = f"{self.kind.value} #{self.event}"
        if self.state is JobState.WAITING:
            return f"{name} waits"
        if self.state is JobState.ENDED:
            return f"{name} {'failed' if self.error else 'stopped' if self.stopped else 'done'}"
        phase = f"{PHASE_WORDS[self._phase]} · " if self._phase is not None else ""
        return f"{name} {phase}{self._calls.made + self._calls.cached:,} calls"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong, for a status line: what, and one thing to do."""

    text: str
    hint: str = ""

    @property
    def words(self) -> str:
        """Both on one line."""
        return f"{self.text} {self.hint}" if self.hint else self.text

    @classmethod
    def of(cls, error: Exception) -> Problem:
        """The words of an error; those of a fault in this program say so."""
        if isinstance(error, RuntapeError):
            return cls(error.message, error.hint)
        return cls(f"{type(error).__name__}: {error}", "this is a fault in runtape")
