"""A model as judge, and prices."""

import asyncio
import sys

import pytest

from runtape.decision import OutcomeKind, Target, decide, make_rule
from runtape.dialects import DIALECTS, dialect_for
from runtape.dialects.base import Reply
from runtape.errors import ModelError
from runtape.models.function import FunctionModel
from runtape.models.judge import ModelJudge
from runtape.models.prices import price
from runtape.models.scheduler import Scheduler, SchedulerOptions

DECISION = decide(2, 1, Reply(text="I will not do it."), target=Target(judged=True))


def judged(function, *texts, dialect=None):
    """Judge replies at once; the outcome kinds and the scheduler."""
    dialect = dialect or dialect_for("openai.chat")
    model = FunctionModel(function, name="f", identity="f", dialect=dialect)
    scheduler = Scheduler(model, options=SchedulerOptions())
    judge = ModelJudge(scheduler, dialect, model="judge-1", decision=DECISION)
    rule = make_rule(DECISION, judge=judge)

    async def go():
        return await asyncio.gather(*(rule.judge(Reply(text=text)) for text in texts))

    return [outcome.kind for outcome in asyncio.run(go())], scheduler


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.name)
def test_the_judge_sees_both_replies(dialect):
    """The question holds the recorded and the new reply, and goes to the named model."""
    seen = []

    def answer(request):
        seen.append(request)
        return "Yes."

    kinds, _ = judged(answer, "I refuse.", dialect=dialect)
    assert kinds == [OutcomeKind.SAME]
    assert seen[0]["model"] == "judge-1"
    assert "I will not do it." in str(seen[0])
    assert "I refuse." in str(seen[0])


def test_equal_replies_are_judged_once():
    """The judge is paid once for each distinct reply, through the gate."""
    kinds, scheduler = judged(lambda _r: "no", "Sure!", "Sure!", "Done")
    assert kinds == [OutcomeKind.TEXT] * 3
    assert scheduler.spent.made == 2


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("**Yes**", OutcomeKind.SAME),
        ("No, they differ in the yes.", OutcomeKind.SAME),
        ("They agree on no point… so: no", OutcomeKind.TEXT),
    ],
)
def test_the_last_word_counts(said, kind):
    """Models that think aloud end with their verdict."""
    assert judged(lambda _r: said, "x")[0] == [kind]


def test_a_judge_without_verdict_is_an_error():
    """Neither yes nor no is nothing to count."""
    with pytest.raises(ModelError, match="judge-1 gave no verdict: 'perhaps'"):
        judged(lambda _r: "perhaps", "x")


def test_prices_are_known_or_not(monkeypatch):
    """Public models have a price; local servers, unknown models and missing packages do not."""
    tokens = {"input_tokens": 1_000_000, "output_tokens": 0}
    pytest.importorskip("genai_prices")
    assert price("gpt-4o", "https://api.openai.com/v1/chat/completions", **tokens) > 0
    assert price("gpt-4o", "http://localhost:8000/v1", **tokens) is None
    assert price("no-such-model", "https://api.openai.com/v1", **tokens) is None
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert price("gpt-4o", "https://api.openai.com/v1/chat/completions", **tokens) is None
