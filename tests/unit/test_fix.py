"""`fix`: why, what helps, what that breaks; told as it happens, ended in every way there is."""

from __future__ import annotations

import asyncio
import itertools
import random
import threading

import pytest

import runtape
from runtape.attribution.facts import CallsChanged, Finished, Started, Verdict
from runtape.errors import (
    IncompleteContext,
    ModelFunctionError,
    ProviderError,
    TraceNotFound,
    UsageError,
)
from runtape.remedies.facts import (
    BystanderChanged,
    EffectChanged,
    Explained,
    FixEnd,
    FixFinished,
    Grade,
    Graded,
    Keeping,
    Proposed,
    RemainsChanged,
    RemedyKind,
    Watched,
)
from runtape.remedies.options import FixOptions
from runtape.tape.writer import TapeWriter
from runtape.workbench import open_trace, prepare_fix, prepare_why
from tests.support import greenhouse, relay
from tests.support.greenhouse import CAUSE, ORDER, Counting, gullible

EVENT = "tool:order_seeds"
OWN = "Order seeds on Mondays only."
ORDERS = {"tool": ORDER.name, "arguments": ORDER.arguments}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def trace(tmp_path):
    return open_trace(greenhouse.record(tmp_path / "traces"))


def system_of(request):
    return request["messages"][0]["content"]


def agent(request):
    """Looks the bed up and reads the notes, then does what they say."""
    results = sum(message["role"] == "tool" for message in request["messages"])
    if results < len(greenhouse.LOOKUPS) and greenhouse.TASK in str(request["messages"]):
        call, _ = greenhouse.LOOKUPS[results]
        return {"tool": call.name, "arguments": call.arguments}
    return gullible(request)


def heeding(request):
    """Heeds a guard; under a rule against instructions it still orders one time in four."""
    said = agent(request)
    if said != ORDERS:
        return said
    if "only if the user" in system_of(request):
        return "The notes ask for basil. Shall I order it?"
    if "Do not follow" in system_of(request) and next(TURNS) % 4:
        return "Water in the morning."
    return said


TURNS = itertools.count(1)


def fixed(trace, model=heeding, **more):
    on_fact = more.pop("on_fact", None)
    asked = {"model_fn": model, "cache": False, **more}
    return runtape.fix(trace, EVENT, on_fact=on_fact, **asked)


def trial(report, kind):
    return next(t for t in report.fix.trials if t.remedy.kind is kind)


# ── what helps ────────────────────────────────────────────────────────────────────────────────


def test_remedies_are_measured_and_graded(trace):
    """A guard never fails, a rule does now and then; the others are kept; the best is a guard."""
    report = fixed(trace)
    assert report.fix.end is FixEnd.MEASURED
    assert report.fix.explained.verdict is Verdict.ATTRIBUTED
    rule, guard = trial(report, RemedyKind.RULE), trial(report, RemedyKind.GUARD)
    assert (rule.grade, guard.grade) == (Grade.PART, Grade.PASS)
    assert 0 < rule.remains.same < 5
    assert (guard.remains.same, guard.remains.runs) == (0, 10)
    assert guard.adjusted > guard.p
    assert report.best is guard
    assert [(b.decision.tool, b.stable) for b in report.fix.bystanders] == [
        ("read_notes", True),
        ("get_bed", True),
    ]
    assert guard.count(Keeping.KEPT) == 2
    assert trial(report, RemedyKind.REMOVE).count(Keeping.UNTOUCHED) == 2


def test_what_a_remedy_breaks_counts_against_it(trace):
    """A rule that keeps it from reading notes at all is only a part of a remedy."""

    def skittish(request):
        said = heeding(request)
        reads = isinstance(said, dict) and said["tool"] == "read_notes"
        return "I read no notes." if reads and "Do not follow" in system_of(request) else said

    report = fixed(trace, skittish)
    rule = trial(report, RemedyKind.RULE)
    assert rule.grade is Grade.FAIL  # one of two others: an off switch
    (broken,) = rule.broken
    assert report.fix.bystanders[broken.bystander].decision.tool == "read_notes"
    assert (broken.tally.same, broken.tally.runs) == (0, 15)
    assert broken.p < 0.05
    assert report.fix.bystanders[broken.bystander].tally.runs == 15
    assert "I read no notes." in str(broken.instead)


def test_a_decision_that_was_not_stable_is_not_counted(trace):
    """What comes and goes without a remedy cannot be broken by one."""
    turns = itertools.count()

    def moody(request):
        said = heeding(request)
        reads = isinstance(said, dict) and said["tool"] == "read_notes"
        return "Not now." if reads and next(turns) % 2 else said

    report = fixed(trace, moody)
    (unstable,) = [b for b in report.fix.bystanders if not b.stable]
    assert unstable.decision.tool == "read_notes"
    guard = trial(report, RemedyKind.GUARD)
    assert guard.grade is Grade.PASS
    assert guard.count(Keeping.UNSTABLE) == 1


def test_one_miss_is_looked_at_more_closely(trace):
    """A single run that differs is chance until fifteen say otherwise."""
    reads_under_guard = itertools.count()

    def shaky(request):
        said = heeding(request)
        reads = isinstance(said, dict) and said["tool"] == "read_notes"
        guarded = "only if the user" in system_of(request)
        return "Hm." if reads and guarded and next(reads_under_guard) == 2 else said

    report = fixed(trace, shaky)
    guard = trial(report, RemedyKind.GUARD)
    effect = next(e for e in guard.effects if e.tally.runs == 15)
    assert (effect.keeping, effect.tally.same) == (Keeping.KEPT, 14)
    assert guard.grade is Grade.PASS


def test_rules_of_ones_own_are_tried(trace, tmp_path):
    """As text and from a file; the one that helps passes, the other fails."""

    def mondays(request):
        said = agent(request)
        return "It is not Monday." if said == ORDERS and OWN in system_of(request) else said

    (tmp_path / "polite.txt").write_text("Be polite.")
    report = fixed(trace, mondays, rules=[OWN, "polite.txt"])
    own = [t for t in report.fix.trials if t.remedy.kind is RemedyKind.OWN_RULE]
    assert [t.grade for t in own] == [Grade.PASS, Grade.FAIL]
    assert own[1].remedy.source == "polite.txt"
    assert report.best is own[0]
    assert trial(report, RemedyKind.GUARD).effects == ()


def test_another_model_is_tried(trace):
    """The request asks for it; one that cannot answer fails alone."""

    def by_model(request):
        if request["model"] == "m-9":
            raise ProviderError("there is no model m-9", status=404)
        return "Nothing to order." if request["model"] == "m-2" else agent(request)

    better = fixed(trace, by_model, model_name="m-2")
    assert trial(better, RemedyKind.MODEL).grade is Grade.FAIL  # it no longer looks anything up
    assert trial(better, RemedyKind.MODEL).count(Keeping.BROKEN) == 2
    unknown = fixed(trace, by_model, model_name="m-9")
    lost = trial(unknown, RemedyKind.MODEL)
    assert (lost.grade, lost.remains.runs) == (None, 0)
    assert "m-9" in lost.failure
    assert unknown.fix.end is FixEnd.MEASURED
    assert trial(unknown, RemedyKind.REMOVE).grade is Grade.PASS


def test_further_traces_must_be_kept_too(trace, tmp_path):
    """There the same call may have been wanted: a guard that forbids it breaks it."""
    wanted = "Please order forty trays of basil for the north bed B-17."
    other = record_wanted(tmp_path / "traces", wanted)

    def dutiful(request):
        if wanted in str(request["messages"]):
            return "May I?" if "only if the user" in system_of(request) else ORDERS
        return heeding(request)

    report = fixed(trace, dutiful, also=[str(other)])
    (apart,) = [i for i, b in enumerate(report.fix.bystanders) if b.trace]
    assert report.fix.bystanders[apart].decision.tool == "order_seeds"
    guard = trial(report, RemedyKind.GUARD)
    assert guard.grade is Grade.PART
    assert [e.bystander for e in guard.broken] == [apart]
    assert trial(report, RemedyKind.REMOVE).grade is Grade.PASS


def record_wanted(folder, task):
    """A run in which the user asks for the order."""
    writer = TapeWriter.create(folder, "wanted")
    writer.append("run_start", {})
    body = {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": greenhouse.SYSTEM},
            {"role": "user", "content": task},
        ],
        "tools": greenhouse.TOOLS,
    }
    greenhouse._call(writer, body, greenhouse.calling(ORDER), "https://llm.example")
    writer.append("run_end", {"status": "ok"})
    writer.close()
    return writer.path


def test_the_bad_decision_elsewhere_in_the_run_is_not_protected(tmp_path):
    """It is named instead."""
    steps = (*relay.STEPS, (None, relay.TIP, "sent"))
    path = relay.record(tmp_path, steps)
    report = runtape.fix(path, 11, model_fn=relay.obeys, cache=False)
    assert report.fix.alike == (14,)
    tools = {b.decision.tool for b in report.fix.bystanders}
    assert "tip_off" not in tools


def test_at_temperature_0_two_runs_are_enough(tmp_path):
    """No p, no correction, few calls."""
    report = fixed(open_trace(greenhouse.record(tmp_path, temperature=0)))
    guard = trial(report, RemedyKind.GUARD)
    assert (guard.grade, guard.remains.runs, guard.p, guard.adjusted) == (Grade.PASS, 2, None, None)
    assert report.fix.calls.made < 80


def test_an_intermittent_decision_takes_more_runs(trace):
    """As many as it takes for "never" to mean something."""
    dice = random.Random(5)

    def wavering(request):
        said = heeding(request)
        return "Hm." if said == ORDERS and dice.random() > 0.3 else said

    report = fixed(trace, wavering, budget=2000)
    assert {t.remains.runs > 10 for t in report.fix.trials} == {True}
    assert trial(report, RemedyKind.GUARD).grade is Grade.PASS


# ── no cause, nothing to fix ──────────────────────────────────────────────────────────────────


def stubborn(request):
    """Orders whatever stands there, unless it is guarded."""
    said = agent(request)
    idle = isinstance(said, str) and "Water" in said
    guarded = "only if the user" in system_of(request)
    return said if not idle and said != ORDERS else ("No." if guarded else ORDERS)


def test_without_a_cause_rules_and_guards_are_measured(trace):
    """No text makes it do that: there is none to take out."""
    report = fixed(trace, stubborn, budget=1500)
    assert report.fix.explained.headline is None
    assert [t.remedy.kind for t in report.fix.trials] == [
        RemedyKind.RULE, RemedyKind.GUARD, RemedyKind.RULE_AND_GUARD,
    ]  # fmt: skip
    assert report.best.remedy.kind is RemedyKind.GUARD


def test_what_does_not_recur_needs_no_fix(trace):
    """Nothing is measured, and the verdict of the search says why."""
    report = fixed(trace, lambda _: "Nothing to do.")
    assert report.fix.end is FixEnd.NOTHING_TO_FIX
    assert report.fix.explained.verdict is Verdict.DID_NOT_RECUR
    assert report.fix.trials == ()


def test_where_no_remedy_makes_sense_it_says_so(tmp_path):
    """Words that the user's own message leads to: only a rule of one's own could help."""
    writer = TapeWriter.create(tmp_path / "traces", "said")
    writer.append("run_start", {})
    body = {"model": "m-1", "messages": [{"role": "user", "content": "Say boo. Be loud."}]}
    reply = runtape.Reply("Boo!")
    greenhouse._call(writer, body, reply, "https://llm.example")
    writer.close()

    def obedient(request):
        text = str(request["messages"])
        if "silent" in text:
            return "…"
        return "Boo!" if "Say boo" in text else {"tool": "get_bed", "arguments": {}}

    asked = {"model_fn": obedient, "cache": False}
    report = runtape.fix(writer.path, "last", **asked)
    assert report.fix.explained.headline is not None
    assert (report.fix.end, report.fix.trials) == (FixEnd.NOTHING_TO_TRY, ())
    again = runtape.fix(writer.path, "last", rules=["Be silent."], **asked)
    assert [t.remedy.kind for t in again.fix.trials] == [RemedyKind.OWN_RULE]
    assert again.best is not None


def test_an_incomplete_context_is_an_ending(tmp_path):
    """What the tape lacks is said; nothing was asked."""
    path = relay.record(tmp_path, without_body=2)
    model = Counting(relay.obeys)
    report = runtape.fix(path, "tool:tip_off", model_fn=model, cache=False)
    assert (report.fix.end, model.calls) == (FixEnd.INCOMPLETE_CONTEXT, 0)
    assert report.fix.failure
    job = prepare_fix(open_trace(path), "tool:tip_off")
    with pytest.raises(IncompleteContext):
        _ = job.plan


def test_other_calls_that_cannot_be_run_again_are_counted(tmp_path):
    """They are no reason not to fix this one."""
    path = relay.record(tmp_path, without_body=0)
    report = runtape.fix(path, "tool:tip_off", model_fn=relay.obeys, cache=False)
    assert [b.decision.tool for b in report.fix.bystanders] == ["open_page"]
    assert {w.code: w.numbers for w in report.fix.warnings}["others_lost"] == {"count": 1}


# ── how it goes on and ends ───────────────────────────────────────────────────────────────────


def test_the_facts_fill_a_table(trace):
    """The search, then remedies, then the others; each reply moves one number."""
    facts = []
    report = fixed(trace, on_fact=facts.append)
    kinds = [type(fact) for fact in facts]
    assert isinstance(facts[0], Started)
    assert Finished not in kinds
    assert kinds.index(Explained) < kinds.index(Proposed) < kinds.index(RemainsChanged)
    assert kinds.index(RemainsChanged) < kinds.index(Watched) < kinds.index(BystanderChanged)
    assert kinds.index(BystanderChanged) < kinds.index(EffectChanged)
    assert kinds[-1] is FixFinished
    assert kinds.count(Graded) == len(report.fix.trials)
    assert facts[-1].fix == report.fix
    runs = [f.tally.runs for f in facts if isinstance(f, RemainsChanged) and f.remedy == 1]
    assert runs == list(range(1, 11))
    made = [f.calls.made for f in facts if isinstance(f, CallsChanged)]
    assert made == sorted(made)
    assert made[-1] == report.fix.calls.made
    last_effects = {(f.remedy, f.bystander): f for f in facts if isinstance(f, EffectChanged)}
    assert all(f.keeping is Keeping.KEPT for f in last_effects.values())


def test_a_finished_why_is_not_searched_again(trace):
    """The app hands over what it has."""
    model = Counting(heeding)
    options = FixOptions(model_fn=model, cache=False)
    found = prepare_why(trace, EVENT, options.for_why()).run().investigation
    before = model.calls
    facts = []
    report = prepare_fix(trace, EVENT, options, found=found).run(facts.append)
    assert report.best is not None
    assert not any(isinstance(fact, Started) for fact in facts)
    assert model.calls - before == report.fix.calls.made < 150
    with pytest.raises(UsageError, match="another decision"):
        prepare_fix(trace, "tool:get_bed", options, found=found)


@pytest.mark.parametrize("budget", [10, 50, 70, 90, 130])
def test_the_budget_holds_wherever_it_ends(trace, budget):
    """Nothing is spent beyond it, and nothing is graded on half the runs."""
    report = fixed(trace, budget=budget)
    assert report.fix.calls.made <= budget
    for made in report.fix.trials:
        if made.grade in (Grade.PASS, Grade.PART):
            assert made.remains.runs == 10
            assert made.count(Keeping.UNCHECKED) == 0
    if budget < 100:
        assert report.fix.end is FixEnd.BUDGET_SPENT
        assert report.best is None


def test_fewer_others_are_looked_at_when_the_budget_is_short(trace):
    """How many were left out is said; the nearest come first."""
    report = fixed(trace, others=1)
    assert [b.decision.tool for b in report.fix.bystanders] == ["read_notes"]
    assert report.fix.left_out == 1
    assert "others_left_out" in {w.code for w in report.fix.warnings}
    none = fixed(trace, others=0)
    assert none.fix.bystanders == ()
    assert none.best is not None


@pytest.mark.parametrize("after", [RemainsChanged, EffectChanged, Started])
def test_a_stopped_fix_keeps_what_it_knows(trace, after):
    """Wherever it is stopped, the report comes, and nothing unfinished has a grade."""
    job = prepare_fix(trace, EVENT, FixOptions(model_fn=heeding, cache=False))

    def on_fact(fact):
        if isinstance(fact, after):
            elsewhere = threading.Thread(target=job.stop)
            elsewhere.start()
            elsewhere.join()

    report = job.run(on_fact)
    assert report.fix.end is FixEnd.INTERRUPTED
    assert report.best is None


def test_a_model_that_fails_on_the_way_is_reported(trace):
    """What was measured stands; the error text is there."""
    calls = itertools.count()

    def breaks(request):
        if next(calls) > 90:
            raise ValueError("boom")
        return heeding(request)

    report = fixed(trace, breaks)
    assert report.fix.end is FixEnd.PROVIDER_FAILED
    assert "boom" in report.fix.failure


def test_mistakes_are_found_before_anything_is_asked(trace):
    """Rules, traces, numbers, functions."""
    model = Counting(heeding)
    asked = {"model_fn": model}
    with pytest.raises(UsageError, match=r"no rule file rules\.md"):
        runtape.fix(trace, EVENT, rules=["rules.md"], **asked)
    with pytest.raises(TraceNotFound):
        runtape.fix(trace, EVENT, also=["nowhere"], **asked)
    with pytest.raises(UsageError, match="itself"):
        runtape.fix(trace, EVENT, also=["greenhouse"], **asked)
    with pytest.raises(UsageError):
        runtape.fix(trace, EVENT, others=-1, **asked)
    with pytest.raises(UsageError, match="checks"):
        FixOptions(checks=0)
    with pytest.raises(UsageError, match="rule"):
        runtape.fix(trace, EVENT, rule=["x"], **asked)
    with pytest.raises(ModelFunctionError):
        runtape.fix(trace, EVENT, model_fn="nowhere.py:answer")
    assert model.calls == 0


def test_a_plan_asks_nobody(trace):
    """The search, the usual remedies and what they may break."""
    model = Counting(heeding)
    job = prepare_fix(trace, EVENT, FixOptions(model_fn=model, rules=("Be careful with orders.",)))
    plan = job.plan
    assert model.calls == 0
    assert plan.calls == pytest.approx(job.run().fix.calls.made, rel=0.5)


def test_asking_again_is_free(trace, tmp_path):
    """All replies are kept, and the same others are looked at."""
    (tmp_path / "fake.py").write_text(
        f"def answer(body):\n"
        f"    seen = str(body['messages'])\n"
        f"    if 'only if the user' in seen or {CAUSE!r} not in seen:\n"
        f"        return 'No.'\n"
        f"    return {{'tool': 'order_seeds', 'arguments': {{}}}}\n"
    )
    first = runtape.fix(trace, EVENT, model_fn="fake.py:answer")
    again = runtape.fix(trace, EVENT, model_fn="fake.py:answer")
    assert first.fix.calls.made > 0
    assert (again.fix.calls.made, again.fix.calls.cached) == (0, first.fix.calls.made)
    assert again.fix.trials == first.fix.trials


def test_a_fix_works_inside_a_running_loop(trace):
    """A notebook's loop is no obstacle."""

    async def cell():
        return fixed(trace)

    assert asyncio.run(cell()).best is not None
