"""The driver: a search played against a model, told as facts, ended in every way there is."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import pairwise

import pytest

from runtape.attribution.driver import investigate
from runtape.attribution.facts import (
    BaselineChanged,
    CallsChanged,
    CauseConfirmed,
    Finished,
    Mode,
    Phase,
    PhaseChanged,
    PieceAsked,
    PieceState,
    Role,
    Started,
    TallyChanged,
    Unfolded,
    Verdict,
)
from runtape.attribution.options import WhyOptions
from runtape.attribution.stopping import StopSignal
from runtape.attribution.streaming import last
from runtape.context import build_context
from runtape.decision import OutcomeKind
from runtape.dialects.base import Reply, Stop
from runtape.errors import InvalidEdit, MissingKey, ProviderError
from runtape.evidence import fisher_less
from runtape.tape.reader import Tape
from runtape.trials import Tally
from tests.support import greenhouse
from tests.support.greenhouse import CAUSE, ORDER, Counting, gullible
from tests.support.scripted import ASKED, DECISION, Scripted, gate_of, reply_of

REQUESTS = 2
"""Replies after which some tests let things go wrong: in the middle of the baseline."""


@pytest.fixture
def context(tmp_path):
    return build_context(Tape.open(greenhouse.record(tmp_path)), ASKED)


def facts_of(context, model=None, *, stop=None, on_fact=None, rule=None, budget=400, **options):
    """All facts of one investigation."""
    seen = []

    def see(fact):
        seen.append(fact)
        if on_fact is not None:
            on_fact(fact)

    async def main():
        gate = gate_of(model or Scripted(reply_of()), budget=budget, rule=rule)
        asked = WhyOptions(budget=budget, **{"runs": 1, **options})
        await last(investigate(context, DECISION, gate, asked, stop=stop), see)

    asyncio.run(main())
    return seen


def of(facts, kind):
    return [fact for fact in facts if isinstance(fact, kind)]


def report_of(facts):
    assert isinstance(facts[-1], Finished)
    assert len(of(facts, Finished)) == 1
    return facts[-1].report


# ── the stream ────────────────────────────────────────────────────────────────────────────────


def test_the_stream_begins_with_the_pieces_and_ends_with_the_report(context):
    """Started is first and Finished last; the cause is the one sentence."""
    facts = facts_of(context)
    assert facts[0] == Started(DECISION, context.roots, 400)
    report = report_of(facts)
    assert report.verdict is Verdict.ATTRIBUTED
    (head,) = [cause for cause in report.causes if cause.headline]
    assert [piece.text for piece in head.pieces] == [CAUSE]
    assert head.role is Role.CAUSE
    assert of(facts, CauseConfirmed)[0].cause.pieces == head.pieces


def test_every_reply_is_told_at_once(context):
    """Each reply moves the baseline or one tally by one run, and the calls with it."""
    facts = facts_of(context)
    runs = [fact.tally.runs for fact in of(facts, BaselineChanged) if not fact.settled]
    assert set(range(1, 7)) <= set(runs)
    seen = Counter()
    for fact in of(facts, TallyChanged):
        seen[fact.piece] += 1
        assert fact.tally.runs == seen[fact.piece]
    made = [fact.calls.made for fact in of(facts, CallsChanged)]
    assert made == sorted(made)
    assert len(made) >= report_of(facts).calls.made == made[-1]


def test_p_is_fisher_against_the_baseline_at_that_moment(context):
    """The streamed p is the exact one-sided test against the baseline, frozen once it is."""
    facts = facts_of(context)
    baseline = Tally()
    for fact in facts:
        if isinstance(fact, BaselineChanged):
            baseline = fact.tally
        if isinstance(fact, TallyChanged):
            expected = fisher_less(fact.tally.same, fact.tally.runs, baseline.same, baseline.runs)
            assert fact.p == expected


def test_pieces_are_asked_before_they_are_tallied_and_unfolded_before_they_are_asked(context):
    """A face never hears of runs or parts it was not told about before."""
    known = set()
    asked = set()
    for fact in facts_of(context):
        if isinstance(fact, Started):
            known |= {piece.id for piece in fact.pieces}
        elif isinstance(fact, Unfolded):
            assert fact.parent in known
            assert fact.children == context.children(context.by_id(fact.parent))
            known |= {piece.id for piece in fact.children}
        elif isinstance(fact, PieceAsked):
            assert set(fact.pieces) <= known
            asked |= set(fact.pieces)
        elif isinstance(fact, TallyChanged):
            assert fact.piece in asked


def test_the_report_holds_what_was_streamed(context):
    """Tallies of the report are the last ones of the stream; nothing that was run is missing."""
    facts = facts_of(context)
    last_tally = {fact.piece: fact.tally for fact in of(facts, TallyChanged)}
    report = report_of(facts)
    shown = {result.piece.id: result.tally for result in report.pieces}
    assert {piece: tally for piece, tally in shown.items() if tally.runs} == last_tally
    assert not report.untested
    assert [result.piece.id for result in report.pieces] == sorted(shown)
    assert sum(count for _, count in report.outcomes) == report.baseline.runs


def test_what_happens_instead_is_told_by_cause(context):
    """Without the cause it answers in words; without a required input it repeats the lookup."""
    report = report_of(facts_of(context))
    instead = {cause.role: cause.instead for cause in report.causes if cause.pieces[0].tool}
    ((words, _),) = instead[Role.CAUSE]
    assert words.kind is OutcomeKind.TEXT
    ((again, _),) = instead[Role.REQUIRED]
    assert again.calls == (("get_bed", '{"name":"north"}'),)
    assert all(not c.headline for c in report.causes if c.role is Role.REQUIRED)


def test_the_way_down_is_told_from_the_whole_piece_to_the_sentence(context):
    """`narrowed` holds every level, the whole piece first."""
    report = report_of(facts_of(context))
    (head,) = [cause for cause in report.causes if cause.headline]
    levels = [step.piece for step in head.narrowed]
    assert levels[0] in context.roots
    assert levels[-1] == head.pieces[0]
    assert all(b.parent == a.id for a, b in pairwise(levels))


def test_rounds_are_counted_as_far_as_they_wait(context):
    """A round is a batch that asked the model; one answered from memory takes no time."""
    report = report_of(facts_of(context))
    assert 5 <= report.calls.rounds <= 12
    assert report.calls.requests == report.calls.made


def test_temperature_zero_is_deterministic(tmp_path):
    """The recorded temperature decides: few runs, and no p where nothing is random."""
    recorded = build_context(Tape.open(greenhouse.record(tmp_path, temperature=0)), ASKED)
    facts = facts_of(recorded)
    report = report_of(facts)
    assert report.mode is Mode.DETERMINISTIC
    assert report.calls.made <= 35
    settled = [i for i, f in enumerate(facts) if isinstance(f, BaselineChanged) and f.settled]
    assert all(f.p is None for f in facts[settled[0] :] if isinstance(f, TallyChanged))
    assert all(result.p is None for result in report.pieces)


def test_a_noisy_endpoint_starts_over(tmp_path):
    """Temperature 0 that is none: what was seen before does not count in the report either."""
    recorded = build_context(Tape.open(greenhouse.record(tmp_path, temperature=0)), ASKED)
    count = iter(range(10_000))
    push = reply_of()

    def answer(body):
        return Reply("Nothing to do.") if next(count) % 8 == 0 else push(body)

    report = report_of(facts_of(recorded, Scripted(answer)))
    assert "noisy_endpoint" in codes(report)
    assert report.mode is not Mode.DETERMINISTIC
    assert sum(n for outcome, n in report.outcomes if outcome.same) == report.baseline.same
    assert sum(n for _, n in report.outcomes) == report.baseline.runs


def test_pieces_that_were_left_out_are_named(context):
    """With a limit the newest pieces are tested, and the others are listed as untested."""
    report = report_of(facts_of(context, max_pieces=3))
    tested = {result.piece.id for result in report.pieces}
    assert [p for p in context.roots if p.id not in tested] == list(report.untested)
    assert report.untested


def test_pieces_passed_on_the_way_have_a_standing(context):
    """Parts that were only looked at are shown as suspected or without effect, not as untested."""
    report = report_of(facts_of(context))
    states = {result.piece.text: result.state for result in report.pieces}
    assert states[CAUSE] is PieceState.CAUSE
    assert states["The lettuce is ready."] is PieceState.NO_EFFECT


def test_the_same_calls_are_made_again_for_the_same_answers(context):
    """The search is a function of what it sees: two runs ask for the same."""
    counts = []
    for _ in range(2):
        model = Counting(gullible)
        answer = Scripted(reply_of(model))
        facts_of(context, answer)
        counts.append(model.calls)
    assert counts[0] == counts[1]


# ── endings ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("budget", [1, 7, 20, 40])
def test_a_spent_budget_ends_with_what_is_known(context, budget):
    """No reply is paid for beyond the budget, and the report says so."""
    report = report_of(facts_of(context, budget=budget))
    assert report.calls.made == budget
    assert report.verdict in {Verdict.BUDGET_SPENT, Verdict.ATTRIBUTED}
    assert report.calls.budget == budget


@pytest.mark.parametrize("fail_at", [REQUESTS, 15, 30, 40])
def test_a_failing_provider_ends_with_what_is_known(context, fail_at):
    """The replies that arrived are in the report, and the provider's words."""
    model = Scripted(reply_of(), fail_at=fail_at)
    report = report_of(facts_of(context, model))
    assert report.verdict is Verdict.PROVIDER_FAILED
    assert report.failure is not None
    assert "the server is down" in report.failure
    assert report.calls.made == fail_at
    singles = sum(result.tally.runs for result in report.pieces)
    assert report.baseline.runs + singles <= fail_at
    assert sum(count for _, count in report.outcomes) == report.baseline.runs


def test_a_provider_that_never_answers_is_a_report_too(context):
    """Nothing arrived: the failure is told, every piece is untested."""
    report = report_of(facts_of(context, Scripted(reply_of(), fail_at=0)))
    assert report.verdict is Verdict.PROVIDER_FAILED
    assert report.untested == context.roots


def test_a_server_that_is_down_for_the_moment_is_told_with_its_words(context):
    """A transient failure before any reply: no search over nothing, but the reason."""
    error = ProviderError("connection refused", transient=True)
    model = Scripted(reply_of(), batches=True, fail_at=0, error=error)
    report = report_of(facts_of(context, model))
    assert report.verdict is Verdict.PROVIDER_FAILED
    assert "connection refused" in report.failure


def test_a_missing_key_is_an_error_and_no_report(context):
    """Nobody was asked: there is nothing to report about."""
    model = Scripted(reply_of(), fail_at=0, error=MissingKey("no key"))
    with pytest.raises(MissingKey):
        facts_of(context, model)


def test_a_bug_in_a_rule_is_raised(context):
    """Errors that are nobody's ending come out as they are."""

    class Broken:
        async def judge(self, _):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        facts_of(context, rule=Broken())


def test_a_stop_ends_with_what_is_known(context):
    """The stream ends normally, its report says it was interrupted."""
    stop = StopSignal()

    def on_fact(fact):
        if isinstance(fact, PhaseChanged) and fact.phase is Phase.SCREEN:
            stop.request()

    report = report_of(facts_of(context, stop=stop, on_fact=on_fact))
    assert report.verdict is Verdict.INTERRUPTED
    assert report.baseline.runs >= 6


def test_a_stop_before_the_start_asks_nobody(context):
    """A job stopped before it ran still reports."""
    stop = StopSignal()
    stop.request()
    model = Scripted(reply_of())
    report = report_of(facts_of(context, model, stop=stop))
    assert report.verdict is Verdict.INTERRUPTED
    assert model.calls <= 8


def test_a_cancelled_task_still_gets_the_report(context):
    """The report comes before the CancelledError."""

    async def main():
        seen = []

        async def consume():
            gate = gate_of(Scripted(reply_of()))
            await last(investigate(context, DECISION, gate, WhyOptions()), see)

        def see(fact):
            seen.append(fact)
            if len(seen) == 20:
                task.cancel()

        task = asyncio.ensure_future(consume())
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    report = report_of(asyncio.run(main()))
    assert report.verdict is Verdict.INTERRUPTED
    assert report.baseline.runs > 0


# ── warnings ──────────────────────────────────────────────────────────────────────────────────


def codes(report):
    return {warned.code: warned.numbers for warned in report.warnings}


def test_a_clean_run_warns_of_nothing(context):
    """No warning without a reason."""
    assert codes(report_of(facts_of(context))) == {}


def test_cut_and_empty_replies_are_told(context):
    """Replies that are no answer are their own outcome, and a rate of them is a warning."""
    count = iter(range(10_000))

    def answer(body):
        number = next(count)
        if number % 5 == 0:
            return Reply("It is to be", stop=Stop.LENGTH)
        return reply_of()(body)

    numbers = codes(report_of(facts_of(context, Scripted(answer))))["no_answers"]
    assert numbers["cut"] >= 2
    assert numbers["refusal"] == numbers["empty"] == 0


def test_calls_written_as_text_are_told(context):
    """A weak model's call as JSON text counts as the call, and is said so."""

    def answer(body):
        said = gullible(body)
        if isinstance(said, dict) and said["tool"] == ORDER.name:
            return Reply('{"name": "order_seeds", "arguments": {"item": "basil"}}')
        return reply_of()(body)

    report = report_of(facts_of(context, Scripted(answer)))
    assert report.verdict is Verdict.ATTRIBUTED
    assert codes(report)["calls_as_text"]["count"] >= 18


def test_ignored_choices_are_told(context):
    """A server that gives one choice where several were asked for."""
    report = report_of(facts_of(context, Scripted(reply_of(), batches=True)))
    assert "choices_ignored" in codes(report)
    assert report.verdict is Verdict.ATTRIBUTED


def test_failed_calls_are_told_and_never_counted(context):
    """A transient failure is no run; a rate of them is a warning."""
    count = iter(range(10_000))

    def answer(body):
        if next(count) % 6 == 0:
            raise ProviderError("overloaded", status=529, transient=True)
        return reply_of()(body)

    report = report_of(facts_of(context, Scripted(answer)))
    assert report.verdict is Verdict.ATTRIBUTED
    assert report.baseline.rate == 1.0
    numbers = codes(report)["call_errors"]
    assert numbers["errors"] == report.calls.errors >= 2


def test_unreachable_pieces_are_told_and_the_search_still_ends(context, monkeypatch):
    """A piece that cannot be taken out stays, is named, and keeps nothing from being found."""
    stuck = context.roots[2]
    edited = type(context).edited

    def stubborn(self, edits):
        if any(edit.piece == stuck for edit in edits):
            raise InvalidEdit("cannot be removed", ref=stuck.ref)
        return edited(self, edits)

    monkeypatch.setattr(type(context), "edited", stubborn)
    report = report_of(facts_of(context))
    assert report.verdict is Verdict.ATTRIBUTED
    assert codes(report)["unreachable"] == {"refs": [stuck.ref]}
