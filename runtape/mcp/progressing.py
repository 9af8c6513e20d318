"""Progress notifications: how many replies there are, and what is being done."""

from __future__ import annotations

import time
from collections.abc import Callable

from mcp.server.mcpserver import Context

from runtape.attribution.distribution import Distribution
from runtape.attribution.facts import CallsChanged, CauseConfirmed, Fact
from runtape.remedies.facts import FixFact, Graded
from runtape.reports.distribution_text import progress_words
from runtape.reports.fix_progress import FixProgress, fix_phase_words
from runtape.reports.progress import Progress, phase_words
from runtape.visible import visible

_PAUSE = 0.25
"""Seconds between two notifications: a client shows them to a person."""


class Reporter:
    """Sends progress that only grows, at most some times a second.

    Args:
        context: of the tool call; without a progress token of the client nothing is sent.
        total: most replies there can be.
    """

    def __init__(
        self, context: Context, total: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._context = context
        self._total = total
        self._clock = clock
        self._sent = 0
        self._at = float("-inf")

    async def tell(self, done: int, words: str, *, now: bool = False) -> None:
        """Say how many replies there are; `now` also shortly after the last time."""
        early = self._clock() - self._at < _PAUSE and not now
        if done <= self._sent or early:
            return
        self._sent, self._at = done, self._clock()
        total = max(done, self._total)
        await self._context.report_progress(done, total, visible(words).text)


class WhyReporter:
    """Progress of a `why`, from its facts."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._progress = Progress()

    async def see(self, fact: Fact) -> None:
        """Take one fact in, and tell of it if that is worth it."""
        self._progress.see(fact)
        if not isinstance(fact, CallsChanged | CauseConfirmed):
            return
        calls = self._progress.calls
        words = phase_words(self._progress)
        claimed = isinstance(fact, CauseConfirmed)
        await self._reporter.tell(calls.made + calls.cached, words, now=claimed)


class FixReporter:
    """Progress of a `fix`, from its facts: the search first, then the remedies."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._progress = FixProgress()

    async def see(self, fact: FixFact) -> None:
        """Take one fact in, and tell of it if that is worth it."""
        self._progress.see(fact)
        if not isinstance(fact, CallsChanged | Graded):
            return
        calls = self._progress.why.calls
        words = fix_phase_words(self._progress)
        await self._reporter.tell(calls.made + calls.cached, words, now=isinstance(fact, Graded))


class SampleReporter:
    """Progress of a `rerun` or `odds`, from its snapshots."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    async def see(self, found: Distribution) -> None:
        """Tell of one snapshot."""
        beside = len(found.baseline) if found.baseline is not None else 0
        await self._reporter.tell(len(found) + beside, progress_words(found))
