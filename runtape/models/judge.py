"""A model that says whether a reply makes the explained decision."""

from __future__ import annotations

import asyncio

from runtape.decision import Decision
from runtape.dialects.base import Dialect, Reply, ToolCall
from runtape.errors import ModelError
from runtape.jsonio import dumps_text
from runtape.models.scheduler import Job, Scheduler

_QUESTION = """\
Two replies of an AI agent to the same situation are given. Do they make the same decision?
They do when the agent does, or announces, the same thing in substance.
Wording, tone, order and detail do not count.

<first>
{recorded}
</first>

<second>
{reply}
</second>

Answer with one word, yes or no."""


class ModelJudge:
    """Asks a model, through the gate of the job, once for each distinct reply."""

    def __init__(
        self, scheduler: Scheduler, dialect: Dialect, *, model: str, decision: Decision
    ) -> None:
        """Judge `decision`.

        Args:
            scheduler: answers for the judging model (see :meth:`Scheduler.beside`).
            dialect: shape in which it is asked.
            model: its name.
            decision: what replies are compared with.
        """
        self._scheduler = scheduler
        self._dialect = dialect
        self._model = model
        self._recorded = _said(decision.text, decision.calls)
        self._verdicts: dict[str, asyncio.Task[bool]] = {}

    async def __call__(self, reply: Reply) -> bool:
        """Whether `reply` makes the decision; raises ModelError when the judge gives no answer."""
        said = _said(reply.text, reply.tool_calls)
        if said not in self._verdicts:
            self._verdicts[said] = asyncio.ensure_future(self._ask(said))
        return await asyncio.shield(self._verdicts[said])

    async def _ask(self, said: str) -> bool:
        question = _QUESTION.format(recorded=self._recorded, reply=said)
        job = Job(self._dialect.question(question, self._model), 1)
        (answer,) = await self._scheduler.run([job])
        words = answer.replies[0].text if answer.replies else None
        verdict = _verdict(words or "")
        if verdict is None:
            raise ModelError(
                f"The judge {self._model} gave no verdict"
                + (f": {words[:80]!r}." if words else "."),
                hint="name another judge, or the decision itself with --match",
            )
        return verdict


def _said(text: str | None, calls: tuple[ToolCall, ...]) -> str:
    lines = [f"calls {call.name} {dumps_text(call.arguments)}" for call in calls]
    return "\n".join([*([text] if text else []), *lines])


def _verdict(words: str) -> bool | None:
    """The last yes or no: models that think aloud end with their answer."""
    for word in reversed(words.casefold().split()):
        match word.strip(".,:;!*\"'`()"):
            case "yes":
                return True
            case "no":
                return False
    return None
