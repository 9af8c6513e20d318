"""Runs a search against a real model and tells what happens as a stream of facts.

The search is sequential code that knows numbers only. What it asks for becomes request bodies
here, goes through the scheduler, and comes back as what was seen; everything a face shows leaves
through one queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

from runtape.attribution.facts import Fact, Verdict
from runtape.attribution.narration import Inquiry, Narration
from runtape.attribution.observations import Reactions
from runtape.attribution.options import WhyOptions
from runtape.attribution.protocol import Answers, Ask, Batch, SearchResult, Seen
from runtape.attribution.sampling import Gate, Sample, draw
from runtape.attribution.search import Procedure
from runtape.attribution.stopping import StopSignal
from runtape.attribution.streaming import stream
from runtape.context.context import Context
from runtape.decision import Decision
from runtape.errors import MissingKey, MissingPackage, ModelError
from runtape.models.scheduler import Job


def investigate(
    context: Context,
    decision: Decision,
    gate: Gate,
    options: WhyOptions,
    *,
    stop: StopSignal | None = None,
) -> AsyncGenerator[Fact]:
    """Find out which part of `context` makes the model take `decision`; facts as they happen.

    The last fact is always :class:`~runtape.attribution.facts.Finished`, with a partial report
    when the budget ends, the provider (or model function) fails for good, `stop` is requested, or
    the iterating task is cancelled; a cancellation goes on after that fact. Replies that arrived
    are in the cache by then.

    Raises:
        MissingKey, MissingPackage: nobody can answer; nothing was asked.
        asyncio.CancelledError: after the last fact, when the task was cancelled.
    """
    inquiry = Inquiry(context, decision, gate, options)
    return stream(lambda emit: run_search(inquiry, emit), stop)


async def run_search(inquiry: Inquiry, emit: Callable[[Fact], None]) -> None:
    """Search to an end, whatever the end is; emits what :func:`investigate` yields.

    Cancelled, it returns after the last fact, which says so.
    """
    await _Driver(inquiry, emit).run()


class _BudgetSpent(Exception):  # noqa: N818 - reads as what happened
    """The budget cut a batch short."""


class _Driver:
    """Plays the world to one search."""

    def __init__(self, inquiry: Inquiry, emit: Callable[[Fact], None]) -> None:
        self._inquiry = inquiry
        self._story = Narration(inquiry, emit)
        self._reactions = Reactions(self._story.tree)
        at_zero = inquiry.context.dialect.temperature(inquiry.context.body) == 0
        options = inquiry.options.for_search(
            deterministic=at_zero, drifts=inquiry.gate.scheduler.drifts
        )
        self._procedure = Procedure(self._story.tree, options)

    async def run(self) -> None:
        """Search to an end, whatever the end is, and tell it."""
        self._story.begin()
        failure: str | None = None
        try:
            result = await self._search()
        except _BudgetSpent:
            result = self._procedure.partial(Verdict.BUDGET_SPENT)
        except asyncio.CancelledError:
            # This task is only ever cancelled to make it stop and tell what it knows.
            result = self._procedure.partial(Verdict.INTERRUPTED)
        except (MissingKey, MissingPackage):
            raise  # nobody was asked: there is nothing to report
        except ModelError as error:
            result, failure = self._procedure.partial(Verdict.PROVIDER_FAILED), str(error)
        self._story.finish(result, failure)

    async def _search(self) -> SearchResult:
        search = self._procedure.run()
        answers: Answers | None = None
        while True:
            try:
                step = search.send(answers)
            except StopIteration as end:
                result: SearchResult = end.value
                return result
            if isinstance(step, tuple):
                answers = await self._answers(step)
            else:
                answers = None
                self._story.note(step)

    async def _answers(self, batch: Batch) -> Answers:
        gate = self._inquiry.gate
        bodies = [self._story.variants.body(ask.change) for ask in batch]
        asks = [ask for ask, body in zip(batch, bodies, strict=True) if body is not None]
        jobs = [Job(b, a.runs) for a, b in zip(batch, bodies, strict=True) if b is not None]
        self._story.ask(batch)

        def arrived(index: int, sample: Sample) -> None:
            self._story.see(asks[index].change, sample.outcome)

        drawn = await draw(gate, jobs, arrived)
        self._story.end_round()
        if gate.scheduler.exhausted:
            raise _BudgetSpent
        seen = {ask: self._seen(ask, samples) for ask, samples in zip(asks, drawn, strict=True)}
        return [seen.get(ask, []) for ask in batch]

    def _seen(self, ask: Ask, samples: list[Sample]) -> list[Seen]:
        outcomes = [sample.outcome for sample in samples]
        self._story.observed.reorder(ask.change, outcomes)
        return [self._reactions.seen(outcome, ask.change) for outcome in outcomes]
