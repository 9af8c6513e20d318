"""A model in process that answers, fails and batches as told, and the gate in front of it."""

from __future__ import annotations

import asyncio

from runtape.attribution.sampling import Gate
from runtape.decision import Decision, DecisionKind, make_rule
from runtape.dialects.base import Reply, ToolCall
from runtape.errors import ProviderError
from runtape.models.scheduler import Scheduler, SchedulerOptions
from tests.support.greenhouse import ORDER, calling, gullible

ASKED = 9
"""The request event that led to the order."""
DECISION = Decision(
    event=10, request=ASKED, kind=DecisionKind.TOOL, calls=(ORDER,), tool="order_seeds"
)


class Scripted:
    """A model that answers in process; `batches` and failures as told."""

    identity = "scripted"

    def __init__(self, answer, *, batches=False, fail_at=None, error=None):
        self.batches = batches
        self.drifts = False
        self.answer = answer
        self.fail_at = fail_at
        self.error = error or ProviderError("the server is down", status=500)
        self.calls = 0

    async def sample(self, body, n):  # noqa: ARG002 - it always gives one
        self.calls += 1
        number = self.calls
        await asyncio.sleep(0)
        if self.fail_at is not None and number > self.fail_at:
            raise self.error
        return [self.answer(body)]

    async def aclose(self):
        pass


def reply_of(function=gullible):
    """A scripted answer made of a stand-in."""

    def answer(body):
        said = function(body)
        if isinstance(said, str):
            return Reply(said)
        return calling(ToolCall(said["tool"], said["arguments"]))

    return answer


def gate_of(model, *, budget=400, rule=None, workers=8):
    options = SchedulerOptions(budget=budget, workers=workers, grace=0.05)
    return Gate(Scheduler(model, options=options), rule or make_rule(DECISION))
