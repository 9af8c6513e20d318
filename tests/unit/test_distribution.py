"""Distributions: what they say, and how they are sampled and stopped."""

from __future__ import annotations

import asyncio
import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.attribution.distribution import Check, Distribution, sample_bodies
from runtape.attribution.sampling import Gate, Sample
from runtape.attribution.stopping import StopSignal
from runtape.attribution.streaming import last
from runtape.decision import Decision, DecisionKind, OutcomeKind, make_rule
from runtape.dialects.base import Reply, Stop, ToolCall
from runtape.errors import ProviderError, UsageError
from runtape.evidence import fisher_less, largest_rate, wilson
from runtape.models.scheduler import Scheduler, SchedulerOptions

FORWARD = ToolCall("forward", {"to": "archive@example.org", "id": 2})
DECISION = Decision(2, 1, DecisionKind.TOOL, (FORWARD,), "forward")
RULE = make_rule(DECISION)


def calls(*names):
    return Reply(None, tuple(ToolCall(name, FORWARD.arguments) for name in names), Stop.TOOL_CALLS)


def samples_of(*replies):
    return tuple(Sample(reply, asyncio.run(RULE.judge(reply))) for reply in replies)


def distribution(*replies, **more):
    return Distribution(DECISION, samples_of(*replies), len(replies), **more)


MIXED = distribution(
    calls("forward"),
    calls("forward"),
    calls("file", "forward"),
    calls("file"),
    Reply("Nothing to do."),
    Reply("It is", stop=Stop.LENGTH),
)


def test_counts_rates_and_intervals():
    """Rates of a tool count every run that calls it, alone or with others."""
    assert len(MIXED) == 6
    assert MIXED.counts() == {
        "forward": 2,
        "file+forward": 1,
        "file": 1,
        "(text)": 1,
        "(cut)": 1,
    }
    assert MIXED.rate("forward") == MIXED.rate() == 0.5
    assert MIXED.interval("file") == wilson(2, 6)
    assert MIXED.tally.same == 3
    assert sum(count for _, count in MIXED.outcomes) == 6
    assert {outcome.kind for outcome, _ in MIXED.outcomes} == set(OutcomeKind) - {
        OutcomeKind.REFUSAL,
        OutcomeKind.EMPTY,
    }


def test_checks_are_true_only_when_they_held_in_every_run():
    """`never` and `always` are conditions; what they print is the evidence."""
    assert MIXED.never_calls("delete")
    assert not MIXED.never_calls("file")
    assert not MIXED.always_calls("forward")
    assert distribution(calls("forward"), calls("forward")).always_calls("forward")
    assert str(MIXED.never_calls("file")) == "calls file: 2/6 (10%–70%)"


def test_nothing_is_proved_by_no_runs():
    """Without runs no check holds and there is no rate."""
    empty = Distribution(DECISION)
    assert not empty.never_calls("forward")
    assert not empty.always_calls("forward")
    assert not empty.never_matches(".")
    assert math.isnan(empty.rate())
    assert empty.interval() == (0.0, 1.0)
    assert str(empty) == "0/0"


def test_patterns_are_searched_in_calls_and_in_all_of_the_words():
    """A match may stand in the arguments, or far beyond the words an outcome keeps."""
    long = distribution(Reply("so " * 400 + "secret"))
    assert not long.never_matches("secret")
    assert not MIXED.never_matches(r'forward \{"to": "archive@')
    assert not MIXED.never_matches(r"forward \{.to.:.archive@")
    assert MIXED.never_matches("password")
    with pytest.raises(UsageError):
        MIXED.never_matches("(")


@settings(deadline=None)  # the first call imports scipy.special
@given(found=st.integers(0, 30), more=st.integers(0, 30), wanted=st.booleans())
def test_a_check_states_what_it_leaves_possible(found, more, wanted):
    """The stated bound is the exact one on the rate of going wrong."""
    runs = found + more
    check = Check("x", found, runs, wanted)
    assert bool(check) == (runs > 0 and found == (runs if wanted else 0))
    if runs:
        wrong = runs - found if wanted else found
        assert check.largest_rate == largest_rate(wrong, runs)
        assert check.interval == wilson(found, runs)


def test_p_compares_with_the_baseline_beside_it():
    """One-sided Fisher: is the decision rarer than on the unchanged context?"""
    baseline = distribution(*[calls("forward")] * 6)
    changed = distribution(*[Reply("No.")] * 6, baseline=baseline)
    assert changed.p == fisher_less(0, 6, 6, 6)
    assert baseline.p is None


# ── sampling ──────────────────────────────────────────────────────────────────────────────────


class Alternating:
    """Forwards while the body says so; may fail or hang from some call on."""

    identity = "alternating"
    batches = False

    def __init__(self, fail_at=None, hang_at=None):
        self.fail_at = fail_at
        self.hang_at = hang_at
        self.numbers = itertools.count()

    async def sample(self, body, n):  # noqa: ARG002 - it always gives one
        number = next(self.numbers)
        if self.fail_at is not None and number >= self.fail_at:
            raise ProviderError("the server is down", status=500)
        if self.hang_at is not None and number >= self.hang_at:
            await asyncio.Event().wait()
        return [calls("forward") if body["say"] == "yes" else Reply("No.")]

    async def aclose(self):
        pass


YES, NO = {"say": "yes"}, {"say": "no"}


def sampled(model, bodies, *, budget=400, stop=None, see=None, runs=5):
    snapshots = []

    def on_item(item):
        snapshots.append(item)
        if see is not None:
            see(item)

    async def main():
        limits = SchedulerOptions(budget=budget, workers=1, grace=0.01)
        gate = Gate(Scheduler(model, options=limits), RULE)
        return await last(sample_bodies(gate, DECISION, bodies, runs, stop=stop), on_item)

    return asyncio.run(main()), snapshots


def test_both_columns_grow_with_every_reply():
    """Each snapshot holds one run more; the last one is the result."""
    result, snapshots = sampled(Alternating(), [YES, NO])
    assert result.baseline.tally.same == 5
    assert result.tally.same == 0
    grown = [len(item) + len(item.baseline) for item in snapshots]
    assert grown == [*range(1, 11), 10]
    assert result.asked == result.baseline.asked == 5
    assert result.calls.made == 10
    assert result.failure is None


def test_one_body_has_no_baseline():
    """`odds` is the unchanged context alone."""
    result, _ = sampled(Alternating(), [YES])
    assert result.baseline is None
    assert result.always_calls("forward")


def test_a_spent_budget_leaves_a_shorter_distribution():
    """What the budget allowed is there, and what was asked for is said."""
    result, _ = sampled(Alternating(), [YES], budget=3)
    assert (len(result), result.asked, result.calls.budget) == (3, 5, 3)


def test_a_provider_that_fails_on_the_way_leaves_what_arrived():
    """The failure is told beside the replies."""
    result, _ = sampled(Alternating(fail_at=3), [YES])
    assert len(result) == 3
    assert "the server is down" in result.failure


def test_a_provider_that_fails_at_once_is_an_error():
    """Without a reply there is no distribution."""
    with pytest.raises(ProviderError):
        sampled(Alternating(fail_at=0), [YES])


def test_a_server_that_is_down_is_an_error_even_if_it_may_come_back():
    """One request for all runs fails for the moment: there is no reply, and so a reason."""

    class Down(Alternating):
        batches = True

        async def sample(self, *_):
            raise ProviderError("connection refused", transient=True)

    with pytest.raises(ProviderError, match="refused"):
        sampled(Down(), [YES])


def test_a_stop_leaves_what_arrived():
    """A stopped job ends with the replies it has."""
    stop = StopSignal()

    def see(item):
        if len(item) == 2:
            stop.request()

    result, _ = sampled(Alternating(hang_at=2), [YES], stop=stop, see=see)
    assert len(result) == 2
    assert result.asked == 5


def test_a_check_knows_what_it_is_about():
    """A failing assertion can show the whole distribution."""
    result, _ = sampled(Alternating(), [YES], runs=4)
    check = result.never_recurs()
    assert check.distribution is result
    assert (check.found, check.runs) == (result.tally.same, 4)
    assert bool(check) == (result.tally.same == 0)
    assert repr(result).startswith("<Distribution 4/4")
    assert check == result.never_recurs()
