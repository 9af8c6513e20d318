"""A question about one decision, and the gate its model calls go through."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from runtape.attribution.facts import Warned
from runtape.attribution.options import Asking
from runtape.attribution.sampling import Gate, Place
from runtape.context import Context, build_context
from runtape.decision import Decision, Judge, make_rule
from runtape.dialects.base import Reply
from runtape.errors import IncompleteContext
from runtape.models.base import Model
from runtape.models.cache import Cache
from runtape.models.judge import ModelJudge
from runtape.models.scheduler import Scheduler, SchedulerOptions
from runtape.models.selection import ModelOptions, default_workers, select_model
from runtape.workbench.addresses import find_decision
from runtape.workbench.tariffs import Tariff
from runtape.workbench.traces import Trace


@dataclass(frozen=True, slots=True)
class Question:
    """Which decision is asked about, and how."""

    trace: Trace
    decision: Decision
    options: Asking

    def context(self) -> Context:
        """What the model saw; raises IncompleteContext when that cannot be put together."""
        return build_context(self.trace.tape, self.decision.request)

    def context_or_lack(self) -> Context | IncompleteContext:
        """What the model saw, or the error that says what the tape lacks."""
        try:
            return self.context()
        except IncompleteContext as error:
            return error


def ask_about(trace: Trace, event: int | str, options: Asking) -> Question:
    """The question whether, or why, the model decides as it did at `event`.

    Raises EventNotFound, NotADecision, or UsageError for options that make no sense there.
    """
    decision = find_decision(trace, event, options)
    judge = _unnamed if isinstance(options.judge, str) else options.judge
    make_rule(decision, exact_args=options.exact_args, judge=judge)
    return Question(trace, decision, options)


def answerer(question: Question, context: Context) -> Model:
    """Who would answer; raises ModelFunctionError or UsageError. Nothing is called or connected."""
    options = _model_options(question.options)
    return select_model(context.request, context.dialect, options=options)


def asked_model(question: Question, context: Context) -> str | None:
    """Name of the model that is asked for; None when the request does not say."""
    return question.options.model_name or context.dialect.model(context.body)


class Gates:
    """The gate of a question, and further ones for other model calls: one budget, one bill.

    Attributes:
        gate: that of the question.
        cache: where replies are kept; None when they are not.
    """

    def __init__(self, question: Question, gate: Gate, cache: Cache | None) -> None:
        self.gate = gate
        self.cache = cache
        self._question = question
        self._beside: list[Scheduler] = []

    @property
    def warning(self) -> Warned | None:
        """That the cache turned itself off; known for sure only when the job is over."""
        if self.cache is None or self.cache.problem is None:
            return None
        return Warned("cache_off", {"problem": str(self.cache.problem)})

    def beside(self, context: Context, decision: Decision, *, exact_args: bool) -> Place:
        """Another call of the run (or of another one), asked of whoever answers there.

        Raises ModelFunctionError or UsageError.
        """
        scheduler = self.gate.scheduler.beside(answerer(self._question, context))
        self._beside.append(scheduler)
        rule = make_rule(decision, exact_args=exact_args)
        return Place(context, decision, Gate(scheduler, rule, self.gate.cost))

    async def aclose(self) -> None:
        """Release the connections of the further gates."""
        for scheduler in self._beside:
            await scheduler.aclose()


@asynccontextmanager
async def open_gates(question: Question, context: Context) -> AsyncIterator[Gates]:
    """Open model, cache and scheduler for one job, and close them after it.

    Raises ModelFunctionError or UsageError; a cache that cannot be used is off and says so.
    """
    options = question.options
    model = answerer(question, context)
    limits = SchedulerOptions(
        budget=0 if options.only_kept else options.budget,
        workers=options.workers or default_workers(model),
    )
    cache = Cache.open(options.cache_folder) if options.cache else None
    scheduler = Scheduler(model, options=limits, cache=cache)
    cost = Tariff(model, asked_model(question, context)).cost
    try:
        async with _judge(question, context, scheduler) as judge:
            rule = make_rule(question.decision, exact_args=options.exact_args, judge=judge)
            gates = Gates(question, Gate(scheduler, rule, cost), cache)
            try:
                yield gates
            finally:
                await gates.aclose()
    finally:
        await scheduler.aclose()
        if cache is not None:
            cache.close()


@asynccontextmanager
async def _judge(
    question: Question, context: Context, scheduler: Scheduler
) -> AsyncIterator[Judge | None]:
    """The judge; a model judges through the same gate: one budget, one bill."""
    named = question.options.judge
    if not isinstance(named, str):
        yield named
        return
    options = replace(_model_options(question.options), model_fn=None, model=named)
    beside = scheduler.beside(select_model(context.request, context.dialect, options=options))
    try:
        yield ModelJudge(beside, context.dialect, model=named, decision=question.decision)
    finally:
        await beside.aclose()


def _model_options(options: Asking) -> ModelOptions:
    return ModelOptions(
        model_fn=options.model_fn,
        model=options.model_name,
        base_url=options.base_url,
        provider=options.provider,
        timeout=options.timeout,
    )


def _unnamed(_: Reply) -> bool:
    """Stands for a judge that is only named so far."""
    return False
