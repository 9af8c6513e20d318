"""The one gate of all model calls: budget, workers, cache, batching, failures, cancellation.

A *variant* is one body answered by one model; its samples are numbered in the order they arrived.
A sample is in the cache before anything else looks at it, so whatever happens next (a rule that
raises, Ctrl-C, a provider that fails), no reply is ever paid for twice.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from runtape.dialects.base import Reply
from runtape.errors import ProviderError
from runtape.jsonio import Json
from runtape.models.base import Model
from runtape.models.cache import Cache, variant_key

OnAnswer: TypeAlias = Callable[[int, Reply], None]
"""Called with the index of the job and the reply, as each arrives."""

_NO_CHOICES = (400, 422)
"""Statuses of servers that refuse ``n`` above 1 instead of ignoring it."""


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """Limits of one gate.

    Attributes:
        budget: most replies that may be paid for; cached ones are free.
        workers: most requests in flight.
        choices: most choices asked for in one request, where the model honours ``n``.
        patience: transient failures in a row after which the provider counts as down.
        grace: seconds in which replies that are under way may still come in after a cancellation
            or a fatal error.
    """

    budget: int = 400
    workers: int = 8
    choices: int = 16
    patience: int = 5
    grace: float = 0.25


@dataclass(frozen=True, slots=True)
class Job:
    """Take the next `runs` samples of this body."""

    body: Json
    runs: int


@dataclass(slots=True)
class Answer:
    """Samples of one job in sample order, and the runs that failed for good.

    Shorter than asked for by `errors`, and by what the budget did not allow.
    """

    replies: list[Reply] = field(default_factory=list)
    errors: int = 0


@dataclass(slots=True)
class Spending:
    """What went through a gate.

    Attributes:
        made: replies paid for.
        cached: replies handed out that were paid for earlier.
        requests: requests made (one can bring several replies).
        errors: requests that failed, retried ones included.
        input_tokens, output_tokens: as reported; None as long as nothing was reported.
    """

    made: int = 0
    cached: int = 0
    requests: int = 0
    errors: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None

    def add(self, replies: Sequence[Reply]) -> None:
        """Add the replies of one request; each of them carries the usage of the whole request."""
        self.made += len(replies)
        for reply in replies[:1]:
            self.input_tokens = _plus(self.input_tokens, reply.usage.input_tokens)
            self.output_tokens = _plus(self.output_tokens, reply.usage.output_tokens)


class Scheduler:
    """Answers jobs from the cache and from one model, within a budget.

    Several `run` calls may be under way at once; they share workers and budget.
    """

    def __init__(
        self, model: Model, *, options: SchedulerOptions | None = None, cache: Cache | None = None
    ) -> None:
        self._model = model
        self._cache = cache
        self._gate = _Gate(options or SchedulerOptions())
        self._variants: dict[bytes, _Variant] = {}
        self._batches = model.batches
        self._failed_in_a_row = 0
        self._failed_last: ProviderError | None = None

    def beside(self, model: Model) -> Scheduler:
        """Another model (a judge, say) behind the same gate: one budget, workers and bill."""
        other = Scheduler(model, cache=self._cache)
        other._gate = self._gate
        return other

    @property
    def spent(self) -> Spending:
        """What was spent so far; live."""
        return self._gate.spent

    @property
    def budget(self) -> int:
        """Most replies that may be paid for."""
        return self._gate.options.budget

    @property
    def exhausted(self) -> bool:
        """Whether the budget cut an answer short."""
        return self._gate.exhausted

    @property
    def choices_ignored(self) -> bool:
        """Whether the server gave one choice where several were asked for."""
        return self._model.batches and not self._batches

    @property
    def drifts(self) -> bool:
        """Whether the model may change under one's hands: see :attr:`Model.drifts`."""
        return self._model.drifts

    async def run(self, jobs: Sequence[Job], on_answer: OnAnswer | None = None) -> list[Answer]:
        """Answer each job with the next samples of its body, stored ones first.

        Raises:
            ModelError: the model cannot answer at all (ProviderError, ModelFunctionError,
                MissingKey, MissingPackage). What arrived before is stored.
            asyncio.CancelledError: when cancelled; what arrived is stored, and so is what arrives
                within the grace period.
        """
        call = _Call(on_answer)
        wants = [_Want(call, index, job, self._variant(job)) for index, job in enumerate(jobs)]
        await self._work(call, wants)
        if self._failed_last is not None and not (self.spent.made or self.spent.cached):
            raise self._failed_last  # nobody ever answered: that is no rate of errors
        self._gate.exhausted = self._gate.exhausted or any(want.missing > 0 for want in wants)
        return [want.answer for want in wants]

    async def aclose(self) -> None:
        """Release the model's connections."""
        await self._model.aclose()

    def _variant(self, job: Job) -> _Variant:
        key = variant_key(self._model.identity, job.body)
        variant = self._variants.get(key)
        if variant is None:
            variant = self._variants[key] = _Variant(key)
            variant.add(self._cache.load(key) if self._cache else [], paid=0)
        return variant

    async def _work(self, call: _Call, wants: list[_Want]) -> None:
        try:
            self._launch(call, wants)
            while call.tasks:
                done, _ = await asyncio.wait(call.tasks, return_when=asyncio.FIRST_COMPLETED)
                if call.failure is not None:
                    raise call.failure
                call.tasks -= done
                self._launch(call, wants)
        finally:
            call.closed = True
            await _settle(call.tasks, self._gate.options.grace)

    def _launch(self, call: _Call, wants: list[_Want]) -> None:
        """Start a request for everything missing; runs of one variant stand next to one another."""
        for want in wants:
            self._hand_out(want)
            while (n := min(want.missing, self._gate.room, self._choices)) > 0:
                want.asked += n
                self._gate.reserved += n
                call.tasks.add(asyncio.create_task(self._request(want, n)))

    @property
    def _choices(self) -> int:
        return self._gate.options.choices if self._batches else 1

    async def _request(self, want: _Want, n: int) -> None:
        try:
            async with self._gate.slots:
                if not want.call.closed and not want.complete:
                    await self._ask(want, n)
        except Exception as error:
            want.call.fail(error)
            raise
        finally:
            want.asked -= n
            self._gate.reserved -= n

    async def _ask(self, want: _Want, n: int) -> None:
        self.spent.requests += 1
        try:
            replies = await self._model.sample(want.job.body, n)
        except ProviderError as error:
            self.spent.errors += 1
            if n > 1 and error.status in _NO_CHOICES:
                self._batches = False
            else:
                self._bear(error)
                want.answer.errors += n
        else:
            self._keep(want, replies, n)

    def _bear(self, error: ProviderError) -> None:
        """Count a transient failure; raise what no patience helps against."""
        if not error.transient:
            raise error
        self._failed_in_a_row += 1
        self._failed_last = error
        if self._failed_in_a_row >= self._gate.options.patience:
            raise ProviderError(
                f"{error.message} ({self._failed_in_a_row} failures in a row)",
                status=error.status,
                hint=error.hint or "try again later: replies so far are kept",
            ) from error

    def _keep(self, want: _Want, replies: list[Reply], n: int) -> None:
        """Store what arrived, then hand it out; nothing awaits, so no cancellation cuts in."""
        for reply in replies:
            if self._cache is None:
                want.variant.add([reply], paid=1)
            else:
                stored = self._cache.append(want.variant.key, want.variant.length, reply)
                want.variant.add(stored, paid=1)
        self._failed_in_a_row = 0
        self._batches = self._batches and not len(replies) == 1 < n
        self.spent.add(replies)
        self._hand_out(want)

    def _hand_out(self, want: _Want) -> None:
        while want.variant.stock and not want.complete:
            reply, paid = want.variant.stock.popleft()
            self.spent.cached += not paid
            want.answer.replies.append(reply)
            if want.call.on_answer is not None:
                want.call.on_answer(want.index, reply)


class _Gate:
    """What schedulers side by side share."""

    def __init__(self, options: SchedulerOptions) -> None:
        self.options = options
        self.slots = asyncio.Semaphore(options.workers)
        self.spent = Spending()
        self.reserved = 0
        self.exhausted = False

    @property
    def room(self) -> int:
        """Replies that may still be asked for."""
        return self.options.budget - self.spent.made - self.reserved


class _Variant:
    """Samples of one body: `stock` was not handed out yet; `length` counts all that are known."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.stock: deque[tuple[Reply, bool]] = deque()
        self.length = 0

    def add(self, replies: Sequence[Reply], *, paid: int) -> None:
        """Add samples of which the last `paid` were paid for here."""
        free = len(replies) - paid
        self.stock.extend((reply, index >= free) for index, reply in enumerate(replies))
        self.length += len(replies)


@dataclass(slots=True)
class _Call:
    """One call of :meth:`Scheduler.run`.

    Attributes:
        on_answer: who is shown each reply.
        tasks: its requests, waiting or under way.
        failure: what ended it first, in time.
        closed: whether no request may be started for it any more.
    """

    on_answer: OnAnswer | None
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    failure: Exception | None = None
    closed: bool = False

    def fail(self, error: Exception) -> None:
        """End it with the first error."""
        self.failure = self.failure or error
        self.closed = True


@dataclass(slots=True)
class _Want:
    """One job under way."""

    call: _Call
    index: int
    job: Job
    variant: _Variant
    answer: Answer = field(default_factory=Answer)
    asked: int = 0

    @property
    def complete(self) -> bool:
        return len(self.answer.replies) >= self.job.runs

    @property
    def missing(self) -> int:
        """Runs that nobody was asked for yet."""
        return self.job.runs - len(self.answer.replies) - self.answer.errors - self.asked


async def _settle(tasks: set[asyncio.Task[None]], grace: float) -> None:
    """Let replies that are already here come in, then stop the rest."""
    if not tasks:
        return
    try:
        await asyncio.wait(tasks, timeout=grace)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _plus(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more
