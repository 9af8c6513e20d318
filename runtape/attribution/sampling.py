"""Bodies in, judged replies out: what `why`, `rerun` and `odds` have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from runtape.decision import DecisionRule, Outcome
from runtape.dialects.base import Reply
from runtape.errors import ModelError
from runtape.models.scheduler import Job, Scheduler


@dataclass(frozen=True, slots=True)
class Sample:
    """One reply of the model and what it decided."""

    reply: Reply
    outcome: Outcome


OnSample: TypeAlias = Callable[[int, Sample], None]
"""Called with the job's index and each sample the moment it is judged."""


async def draw(
    scheduler: Scheduler, rule: DecisionRule, jobs: Sequence[Job], on_sample: OnSample
) -> list[list[Sample]]:
    """Run `jobs` and judge each reply when it arrives; the result is in sample order, by job.

    A job has fewer samples than asked for when calls failed or the budget ended. When the model
    fails for good, everything that arrived before is judged and reported before the ModelError is
    raised.
    """
    judging: list[asyncio.Task[Sample]] = []
    task_of: dict[int, asyncio.Task[Sample]] = {}

    async def judge(index: int, reply: Reply) -> Sample:
        sample = Sample(reply, await rule.judge(reply))
        on_sample(index, sample)
        return sample

    def arrived(index: int, reply: Reply) -> None:
        task = asyncio.ensure_future(judge(index, reply))
        judging.append(task)
        task_of[id(reply)] = task

    try:
        answers = await scheduler.run(jobs, arrived)
        await asyncio.gather(*judging)
    except ModelError:
        await asyncio.gather(*judging, return_exceptions=True)
        raise
    finally:
        for task in judging:
            task.cancel()
    return [[task_of[id(reply)].result() for reply in answer.replies] for answer in answers]
