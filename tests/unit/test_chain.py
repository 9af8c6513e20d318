"""The causal chain: back over the recorded decisions, and every reason why it ends."""

from __future__ import annotations

import threading

import pytest

from runtape.attribution.chain import Check, Finding, Look, Nature, StepBack, walk_back
from runtape.attribution.chain_facts import ChainEnd, LinkKind
from runtape.attribution.facts import (
    CallsChanged,
    ChainEnded,
    Finished,
    HopFact,
    HopStarted,
    LinkChecked,
    Started,
    Verdict,
)
from runtape.attribution.options import WhyOptions
from runtape.errors import UsageError
from runtape.workbench import open_trace, prepare_why
from runtape.workbench.verbs import why
from tests.support import relay
from tests.support.relay import DEMAND, MOVED, OPEN, PLAN, SEARCH

EVENT = "tool:tip_off"
LOOKUP = Finding(Verdict.ATTRIBUTED, Nature.LOOKUP)
USER = Finding(Verdict.ONLY_REQUIRED, asked=Nature.USER)
GONE = Finding(Verdict.DID_NOT_RECUR)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def chained(path, model=relay.obeys, **more):
    """The report of a `why` with its chain."""
    asked = {"model_fn": model, "cache": False, "runs": 1, "chain": True, **more}
    return why(path, EVENT, **asked)


def headline_text(hop):
    return "\n".join(piece.text for piece in hop.investigation.headline.pieces)


# ── the walk ──────────────────────────────────────────────────────────────────────────────────


def walked(first, answers, depth=4):
    """(steps, trail) of a walk that gets these answers."""
    walk = walk_back(first, depth)
    steps, waiting = [], iter(answers)
    try:
        step = next(walk)
        while True:
            steps.append(step)
            step = walk.send(next(waiting))
    except StopIteration as end:
        return steps, end.value


def test_a_cause_that_was_fetched_leads_back_to_its_fetching():
    """Step back, search it without the model's own words, check the link, and again."""
    steps, trail = walked(LOOKUP, [None, LOOKUP, None, None, USER])
    assert steps == [
        StepBack(0), Look(1, masked=True), Check(1), StepBack(1), Look(2, masked=True),
    ]  # fmt: skip
    assert (trail.ended_at, trail.end) == (2, ChainEnd.USER_MESSAGE)


@pytest.mark.parametrize(
    ("first", "end"),
    [
        (Finding(Verdict.ATTRIBUTED, Nature.USER), ChainEnd.USER_MESSAGE),
        (Finding(Verdict.ATTRIBUTED, Nature.SYSTEM), ChainEnd.SYSTEM_PROMPT),
        (Finding(Verdict.ATTRIBUTED, Nature.DEFINITION), ChainEnd.TOOL_DEFINITION),
        (Finding(Verdict.ATTRIBUTED, Nature.MEDIA), ChainEnd.MEDIA),
        (Finding(Verdict.NOTHING_FOUND), ChainEnd.NO_CAUSE),
        (Finding(Verdict.ONLY_REQUIRED), ChainEnd.NO_CAUSE),
        (USER, ChainEnd.USER_MESSAGE),
        (GONE, ChainEnd.UNSTABLE),
        (Finding(Verdict.TOO_RARE), ChainEnd.UNSTABLE),
        (Finding(Verdict.INCOMPLETE_CONTEXT), ChainEnd.CANNOT_RERUN),
        (Finding(Verdict.BUDGET_SPENT, Nature.LOOKUP), ChainEnd.BUDGET_SPENT),
        (Finding(Verdict.PROVIDER_FAILED), ChainEnd.PROVIDER_FAILED),
        (Finding(Verdict.INTERRUPTED, Nature.LOOKUP), ChainEnd.INTERRUPTED),
    ],
)
def test_a_finding_without_anything_behind_it_ends_the_walk(first, end):
    """Nothing is asked after what was given, what was not found, and what stopped."""
    steps, trail = walked(first, [])
    assert (steps, trail.ended_at, trail.end) == ([], 0, end)


def test_a_decision_that_needs_the_models_words_is_asked_with_them():
    """Masked it does not recur: then it is searched as it was."""
    steps, trail = walked(LOOKUP, [None, GONE, USER])
    assert steps[1:] == [Look(1, masked=True), Look(1, masked=False)]
    assert trail.end is ChainEnd.USER_MESSAGE


def test_own_words_are_looked_beneath_once():
    """What brought the words may show without them; otherwise they are the end."""
    own = Finding(Verdict.ATTRIBUTED, Nature.OWN_WORDS)
    steps, trail = walked(own, [LOOKUP, None, USER])
    assert steps == [Look(0, masked=True), StepBack(0), Look(1, masked=True)]
    for beneath in (GONE, Finding(Verdict.NOTHING_FOUND), None):
        steps, trail = walked(own, [beneath])
        assert (len(steps), trail.end) == (1, ChainEnd.OWN_WORDS)


def test_depth_and_lost_calls_end_the_walk():
    """As far as asked for, and as far as the tape goes."""
    assert walked(LOOKUP, [None, LOOKUP, None], depth=1)[1].end is ChainEnd.DEPTH
    trail = walked(LOOKUP, [ChainEnd.NOT_RECORDED])[1]
    assert (trail.ended_at, trail.end) == (1, ChainEnd.NOT_RECORDED)
    trail = walked(LOOKUP, [None, LOOKUP, ChainEnd.INTERRUPTED])[1]
    assert (trail.ended_at, trail.end) == (1, ChainEnd.INTERRUPTED)


# ── against a model ───────────────────────────────────────────────────────────────────────────


def test_the_chain_goes_back_to_what_the_user_asked(tmp_path):
    """Page sentence ← opened because of a search result ← searched because the user asked."""
    report = chained(relay.record(tmp_path))
    chain = report.investigation.chain
    assert [piece.text for piece in report.headline.pieces] == [DEMAND]
    assert [hop.number for hop in chain.hops] == [1, 2]
    assert headline_text(chain.hops[0]) == MOVED
    assert chain.hops[0].investigation.decision.calls == (OPEN,)
    assert chain.hops[0].investigation.decision.event == 7
    assert chain.hops[1].investigation.decision.calls == (SEARCH,)
    assert chain.hops[1].investigation.headline is None
    assert (chain.end, chain.ended_at) == (ChainEnd.USER_MESSAGE, 2)
    assert chain.asked.text == relay.TASK


def test_a_link_acts_through_the_call_it_led_to(tmp_path):
    """With the page read, the search result is not needed any more."""
    chain = chained(relay.record(tmp_path), runs=4).investigation.chain
    link = chain.hops[0].link
    assert link.kind is LinkKind.THROUGH
    assert (link.without.same, link.without.runs) == (4, 4)


def test_a_link_can_also_act_by_itself(tmp_path):
    """Page and search result act together: the newest is followed, and the other acts directly."""

    def wary(request):
        seen = str(request["messages"])
        both = MOVED in seen and DEMAND in seen
        return "No." if OPEN.id in seen and not both else relay.obeys(request)

    chain = chained(relay.record(tmp_path), wary, runs=6).investigation.chain
    assert chain.hops[0].investigation.decision.calls == (OPEN,)
    assert headline_text(chain.hops[0]) == MOVED
    assert chain.hops[0].link.kind is LinkKind.DIRECT
    assert chain.hops[0].link.without.same == 0
    assert chain.elsewhere == ("4[1].text sentence 2",)


def test_the_models_own_words_are_masked_upstream(tmp_path):
    """What it said itself would carry the cause past the search result; without it, it shows."""
    steps = relay.saying(("Let me see.", PLAN, None))
    report = chained(relay.record(tmp_path, steps), relay.believes_itself)
    first = report.investigation.chain.hops[0]
    assert headline_text(first) == MOVED
    assert [piece.text for piece in first.masked] == ["Let me see."]
    assert not first.needs_words


def test_a_decision_that_only_its_own_words_carry_ends_there(tmp_path):
    """Without its plan it opens another page: the words stay in, and they are the end."""
    steps = ((PLAN, SEARCH, relay.RESULTS), *relay.STEPS[1:])
    chain = chained(relay.record(tmp_path, steps), relay.follows_its_plan).investigation.chain
    assert chain.end is ChainEnd.OWN_WORDS
    assert chain.hops[-1].needs_words
    assert headline_text(chain.hops[-1]) == PLAN


def test_a_tape_without_tool_events_is_enough(tmp_path):
    """Replies and requests hold all that is needed."""
    chain = chained(relay.record(tmp_path, tools=False), tool=None).investigation.chain
    assert [hop.investigation.decision.event for hop in chain.hops] == [4, 2]
    assert chain.end is ChainEnd.USER_MESSAGE


def test_a_call_nobody_is_known_to_have_asked_for_ends_it(tmp_path):
    """The reply was not recorded: says which call and where."""
    chain = chained(relay.record(tmp_path, without_reply=1)).investigation.chain
    assert (chain.end, chain.ended_at, chain.hops) == (ChainEnd.NOT_RECORDED, 1, ())
    assert "open_page" in chain.reason


def test_an_earlier_call_that_cannot_be_run_again_is_named(tmp_path):
    """The request two steps back was not recorded: the first step stands, the second is named."""
    chain = chained(relay.record(tmp_path, without_body=0)).investigation.chain
    assert (chain.end, chain.ended_at) == (ChainEnd.CANNOT_RERUN, 2)
    assert [hop.number for hop in chain.hops] == [1]
    assert "1" in chain.reason


def test_an_unstable_decision_ends_it(tmp_path):
    """Nothing is explained that does not recur."""
    turns = iter(range(10_000))

    def fickle(request):
        said = relay.obeys(request)
        opens = isinstance(said, dict) and said["tool"] == "open_page"
        return "Hm." if opens and next(turns) % 10 else said

    chain = chained(relay.record(tmp_path), fickle).investigation.chain
    assert (chain.end, chain.ended_at) == (ChainEnd.UNSTABLE, 1)


def test_depth_limits_the_steps(tmp_path):
    """One step back and no further."""
    chain = chained(relay.record(tmp_path), depth=1).investigation.chain
    assert (chain.end, len(chain.hops)) == (ChainEnd.DEPTH, 1)
    with pytest.raises(UsageError):
        WhyOptions(depth=0)


def test_at_temperature_0_each_hop_takes_few_runs(tmp_path):
    """Two of two at every step, and no p."""
    report = chained(relay.record(tmp_path, temperature=0))
    chain = report.investigation.chain
    assert chain.end is ChainEnd.USER_MESSAGE
    assert chain.hops[0].link.without.runs == 2
    assert chain.hops[0].link.p is None
    assert report.investigation.calls.made < 130


@pytest.mark.parametrize("budget", [12, 45, 60, 90])
def test_the_budget_is_shared_by_all_hops(tmp_path, budget):
    """Wherever it ends, what was claimed before stands and nothing is spent beyond it."""
    report = chained(relay.record(tmp_path), budget=budget)
    assert report.investigation.calls.made <= budget
    chain = report.investigation.chain
    assert chain.end in {ChainEnd.BUDGET_SPENT, ChainEnd.USER_MESSAGE}


def test_a_chain_is_not_followed_unless_asked_for(tmp_path):
    """An ordinary `why` has none."""
    report = why(relay.record(tmp_path), EVENT, model_fn=relay.obeys, cache=False, runs=1)
    assert report.investigation.chain is None


def test_the_facts_tell_every_hop(tmp_path):
    """The final search first, then each hop in its envelope; calls only ever grow."""
    facts = []
    chained(relay.record(tmp_path), on_fact=facts.append)
    assert isinstance(facts[0], Started)
    assert isinstance(facts[-1], Finished)
    assert isinstance(facts[-2], ChainEnded)
    assert sum(isinstance(fact, Finished) for fact in facts) == 1
    assert [fact.hop for fact in facts if isinstance(fact, HopStarted)] == [1, 2]
    assert [fact.hop for fact in facts if isinstance(fact, LinkChecked)] == [1]
    inner = [fact.fact for fact in facts if isinstance(fact, HopFact)]
    assert not any(isinstance(fact, CallsChanged | HopFact) for fact in inner)
    made = [fact.calls.made for fact in facts if isinstance(fact, CallsChanged)]
    rounds = [fact.calls.rounds for fact in facts if isinstance(fact, CallsChanged)]
    assert made == sorted(made)
    assert rounds == sorted(rounds)


def test_a_stopped_chain_keeps_what_it_knows(tmp_path):
    """Stopped at the first step back: the cause of the final decision stands."""
    options = {"model_fn": relay.obeys, "cache": False, "runs": 1, "chain": True}
    job = prepare_why(open_trace(relay.record(tmp_path)), EVENT, WhyOptions(**options))

    def on_fact(fact):
        if isinstance(fact, HopStarted):
            elsewhere = threading.Thread(target=job.stop)
            elsewhere.start()
            elsewhere.join()

    report = job.run(on_fact)
    assert report.headline is not None
    assert report.investigation.verdict is Verdict.ATTRIBUTED
    assert report.investigation.chain.end is ChainEnd.INTERRUPTED


def test_a_model_that_breaks_on_the_way_is_reported(tmp_path):
    """The reason stands in the chain; the answer for the final decision is kept."""

    def breaks(request):
        if len(request["messages"]) <= 4:
            raise ValueError("boom")
        return relay.obeys(request)

    report = chained(relay.record(tmp_path), breaks)
    chain = report.investigation.chain
    assert report.headline is not None
    assert (chain.end, chain.ended_at) == (ChainEnd.PROVIDER_FAILED, 1)
    assert "boom" in chain.reason
