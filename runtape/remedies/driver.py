"""Finds out why, measures what helps and what that breaks; told as a stream of facts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from runtape.attribution.driver import run_search
from runtape.attribution.facts import (
    Calls,
    CallsChanged,
    Fact,
    Finished,
    Investigation,
    Verdict,
    Warned,
)
from runtape.attribution.narration import Inquiry
from runtape.attribution.sampling import Place
from runtape.attribution.stopping import StopSignal
from runtape.attribution.streaming import stream
from runtape.errors import MissingKey, MissingPackage, ModelError
from runtape.remedies.facts import (
    Explained,
    Fix,
    FixEnd,
    FixFact,
    FixFinished,
)
from runtape.remedies.measuring import Measuring, Others
from runtape.remedies.options import FixOptions
from runtape.remedies.rules import Rule

FindOthers: TypeAlias = Callable[[], Awaitable[Others]]
"""Looks up the other recorded decisions; called once, after the remedies were proposed."""

_ENDS = {
    Verdict.DID_NOT_RECUR: FixEnd.NOTHING_TO_FIX,
    Verdict.TOO_RARE: FixEnd.NOTHING_TO_FIX,
    Verdict.INCOMPLETE_CONTEXT: FixEnd.INCOMPLETE_CONTEXT,
    Verdict.BUDGET_SPENT: FixEnd.BUDGET_SPENT,
    Verdict.PROVIDER_FAILED: FixEnd.PROVIDER_FAILED,
    Verdict.INTERRUPTED: FixEnd.INTERRUPTED,
}
"""Verdicts after which nothing is measured."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is to be fixed, and how.

    Attributes:
        place: the model call that decided badly.
        options: how often, of whom.
        rules: rules of the user's own, read.
        others: finds the decisions that have to be kept.
        found: the `why`, when it is known already.
    """

    place: Place
    options: FixOptions
    rules: tuple[Rule, ...]
    others: FindOthers
    found: Investigation | None = None


def remedy(complaint: Complaint, *, stop: StopSignal | None = None) -> AsyncGenerator[FixFact]:
    """Measure what helps against a decision, and what that breaks; facts as they happen.

    The last fact is always :class:`~runtape.remedies.facts.FixFinished`, partial in the same cases
    as :func:`runtape.attribution.driver.investigate`, which also says what is raised.
    """
    return stream(lambda emit: _Driver(complaint, emit).run(), stop)


class _Driver:
    """One `fix` from the question to the result."""

    def __init__(self, complaint: Complaint, emit: Callable[[FixFact], None]) -> None:
        self._complaint = complaint
        self._emit = emit
        self._began = time.monotonic()
        self._warnings: list[Warned] = []

    async def run(self) -> None:
        """Explain, measure, and tell how it ended."""
        explained = self._complaint.found or await self._explain()
        self._warnings += explained.warnings
        self._emit(Explained(explained))
        end = _ENDS.get(explained.verdict)
        if end is not None:
            self._finish(Fix(explained, end, failure=explained.failure), explained.calls.rounds)
            return
        measuring = Measuring(self._complaint.place, explained, self._complaint.options, self._tell)
        end, failure = await self._measure(measuring)
        rounds = measuring.rounds + (0 if self._complaint.found else explained.calls.rounds)
        self._finish(replace(measuring.fix(end), failure=failure), rounds)

    async def _explain(self) -> Investigation:
        reports: list[Investigation] = []

        def tell(fact: Fact) -> None:
            if isinstance(fact, Finished):
                reports.append(fact.report)
            else:
                self._emit(fact)

        place, options = self._complaint.place, self._complaint.options.for_why()
        await run_search(Inquiry(place.context, place.decision, place.gate, options), tell)
        return reports[0]

    async def _measure(self, measuring: Measuring) -> tuple[FixEnd, str | None]:
        """Run the table; how it ended, and the error text if it failed."""
        complaint = self._complaint
        if not measuring.propose(complaint.rules, complaint.options.model_name):
            return FixEnd.NOTHING_TO_TRY, None
        try:
            await measuring.try_remedies()
            if measuring.hopeful:
                await measuring.watch(await complaint.others())
        except asyncio.CancelledError:
            return FixEnd.INTERRUPTED, None  # this task is only cancelled to tell what it knows
        except (MissingKey, MissingPackage):
            raise  # nobody was asked: there is nothing to report
        except ModelError as error:
            return FixEnd.PROVIDER_FAILED, str(error)
        spent = measuring.short or complaint.place.gate.scheduler.exhausted
        return (FixEnd.BUDGET_SPENT if spent else FixEnd.MEASURED), None

    def _tell(self, fact: FixFact) -> None:
        if isinstance(fact, Warned):
            self._warnings.append(fact)
        self._emit(fact)

    def _finish(self, fix: Fix, rounds: int) -> None:
        calls = self._bill(rounds)
        self._emit(CallsChanged(calls))
        seconds = time.monotonic() - self._began
        told = tuple(self._warnings)
        self._emit(FixFinished(replace(fix, calls=calls, warnings=told, seconds=seconds)))

    def _bill(self, rounds: int) -> Calls:
        """What it cost; another model has another price, so a bill for both has none."""
        calls = self._complaint.place.gate.bill(rounds)
        return replace(calls, cost_usd=None) if self._complaint.options.model_name else calls
