"""Bodies in, judged replies out: what `why`, `rerun` and `odds` have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from runtape.attribution.facts import Calls
from runtape.context import Context
from runtape.decision import Decision, DecisionRule, Outcome
from runtape.dialects.base import Reply
from runtape.errors import ModelError
from runtape.models.scheduler import Job, Scheduler


@dataclass(frozen=True, slots=True)
class Sample:
    """One reply of the model and what it decided."""

    reply: Reply
    outcome: Outcome


Cost: TypeAlias = Callable[[int, int, int], float | None]
"""From calls, input tokens and output tokens to US dollars; None when the price is not known."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Who answers, what their replies are, and what they cost."""

    scheduler: Scheduler
    rule: DecisionRule
    cost: Cost | None = None

    def bill(self, rounds: int) -> Calls:
        """What went through so far."""
        spent = self.scheduler.spent
        ins, outs = spent.input_tokens, spent.output_tokens
        cost = None if ins is None or not self.cost else self.cost(spent.requests, ins, outs or 0)
        return Calls(
            made=spent.made,
            cached=spent.cached,
            budget=self.scheduler.budget,
            requests=spent.requests,
            rounds=rounds,
            errors=spent.errors,
            input_tokens=ins,
            output_tokens=outs,
            cost_usd=cost,
        )


@dataclass(frozen=True, slots=True)
class Place:
    """One model call that can be made again: what it saw, what it decided, who answers."""

    context: Context
    decision: Decision
    gate: Gate

    @property
    def deterministic(self) -> bool:
        """Whether it was made at temperature 0: more than two runs tell nothing new."""
        return self.context.dialect.temperature(self.context.body) == 0


OnSample: TypeAlias = Callable[[int, Sample], None]
"""Called with the job's index and each sample the moment it is judged."""


async def draw(gate: Gate, jobs: Sequence[Job], on_sample: OnSample) -> list[list[Sample]]:
    """Run `jobs` and judge each reply when it arrives; the result is in sample order, by job.

    A job has fewer samples than asked for when calls failed or the budget ended. When the model
    fails for good, everything that arrived before is judged and reported before the ModelError is
    raised.
    """
    judging: list[asyncio.Task[Sample]] = []
    task_of: dict[int, asyncio.Task[Sample]] = {}

    async def judge(index: int, reply: Reply) -> Sample:
        sample = Sample(reply, await gate.rule.judge(reply))
        on_sample(index, sample)
        return sample

    def arrived(index: int, reply: Reply) -> None:
        task = asyncio.ensure_future(judge(index, reply))
        judging.append(task)
        task_of[id(reply)] = task

    try:
        answers = await gate.scheduler.run(jobs, arrived)
        await asyncio.gather(*judging)
    except ModelError:
        await asyncio.gather(*judging, return_exceptions=True)
        raise
    finally:
        for task in judging:
            task.cancel()
    return [[task_of[id(reply)].result() for reply in answer.replies] for answer in answers]
