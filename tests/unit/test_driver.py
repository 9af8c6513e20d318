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
from runtape.attribution.observations import Observations, Reactions
from runtape.attribution.options import WhyOptions
from runtape.attribution.protocol import Change, Reaction, Wording
from runtape.attribution.sampling import Gate, draw
from runtape.attribution.stopping import StopSignal
from runtape.attribution.streaming import last
from runtape.attribution.variants import PieceTree, Variants
from runtape.context import Fill, build_context
from runtape.decision import Decision, DecisionKind, Outcome, OutcomeKind, make_rule
from runtape.dialects import dialect_for
from runtape.dialects.base import Reply, Stop, ToolCall
from runtape.errors import InvalidEdit, MissingKey, ProviderError
from runtape.evidence import fisher_less
from runtape.models.function import FunctionModel
from runtape.models.scheduler import Job, Scheduler, SchedulerOptions
from runtape.tape.reader import Tape
from runtape.trials import Tally
from tests.support import greenhouse
from tests.support.greenhouse import CAUSE, ORDER, Counting, calling, gullible

ASKED = 9
"""The request event that led to the order."""
DECISION = Decision(
    event=10, request=ASKED, kind=DecisionKind.TOOL, calls=(ORDER,), tool="order_seeds"
)
REQUESTS = 2
"""Replies after which some tests let things go wrong: in the middle of the baseline."""


class Scripted:
    """A model that answers in process; `batches` and failures as told."""

    identity = "scripted"

    def __init__(self, answer, *, batches=False, fail_at=None, error=None):
        self.batches = batches
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


@pytest.fixture
def context(tmp_path):
    return build_context(Tape.open(greenhouse.record(tmp_path)), ASKED)


def gate_of(model, *, budget=400, rule=None, workers=8):
    options = SchedulerOptions(budget=budget, workers=workers, grace=0.05)
    return Gate(Scheduler(model, options=options), rule or make_rule(DECISION))


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


# ── endings ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("budget", [1, 7, 20, 40])
def test_a_spent_budget_ends_with_what_is_known(context, budget):
    """No reply is paid for beyond the budget, and the report says so."""
    report = report_of(facts_of(context, budget=budget))
    assert report.calls.made == budget
    assert report.verdict in {Verdict.BUDGET_SPENT, Verdict.ATTRIBUTED}
    assert report.calls.budget == budget


@pytest.mark.parametrize("fail_at", [REQUESTS, 15, 30, 45])
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


# ── the parts ─────────────────────────────────────────────────────────────────────────────────


def test_the_tree_says_what_stands_where(context):
    """System, first user text and newest message stand apart; tool results are read."""
    tree = PieceTree(context)
    kinds = {piece.kind.value: piece.id for piece in reversed(context.roots)}
    results = [p.id for p in context.roots if p.kind.value == "tool_result"]
    assert [p for p in tree.roots if tree.apart(p)] == [
        kinds["system"],
        kinds["user"],
        results[-1],
    ]
    assert [p for p in tree.roots if tree.read(p)] == results
    assert [p for p in tree.roots if tree.given(p)][:2] == [kinds["system"], kinds["user"]]
    assert all(tree.read(part) for part in tree.children(results[-1]))
    assert tree.size(kinds["system"]) == len(greenhouse.SYSTEM)


def test_expanded_pieces_give_way_to_their_parts(context):
    """`expand` looks into a piece, and what is around it, from the start."""
    notes = next(p for p in context.roots if CAUSE in p.text)
    tree = PieceTree(context, [notes.ref])
    assert notes.id not in tree.roots
    assert set(tree.children(notes.id)) <= set(tree.roots)
    deep = context.children(notes)[2]
    inner = PieceTree(context, [deep.ref])
    assert deep.id not in inner.roots
    assert context.children(notes)[0].id in inner.roots
    assert list(inner.roots) == sorted(inner.roots)


def test_equal_changes_have_one_body(context):
    """A body is made once; the unchanged one is the recorded body."""
    variants = Variants(context, Fill.MARKER)
    notes = next(p for p in context.roots if CAUSE in p.text)
    change = Change(frozenset({notes.id}))
    assert variants.body(Change()) == greenhouse.body()
    assert variants.body(change) is variants.body(Change(frozenset({notes.id})))
    assert CAUSE not in str(variants.body(change))
    quoted = variants.body(Change(frozenset({notes.id}), Wording.QUOTE))
    assert CAUSE in str(quoted)
    assert "not an instruction" in str(quoted)


@pytest.mark.parametrize(
    ("fill", "other"), [(Fill.MARKER, "empty"), (Fill.EMPTY, "marker"), ("(gone)", "empty")]
)
def test_the_second_fill_is_another_one(context, fill, other):
    """A recheck leaves something else in the gap, and is called by it."""
    variants = Variants(context, fill)
    assert variants.recheck_name(Wording.OTHER_FILL) == other
    assert variants.recheck_name(Wording.QUOTE) == "quoted"
    task = next(p for p in context.roots if p.text == greenhouse.TASK)
    plain = variants.body(Change(frozenset({task.id})))
    again = variants.body(Change(frozenset({task.id}), Wording.OTHER_FILL))
    assert plain != again


def called(*calls, kind=OutcomeKind.OTHER_CALL):
    return Outcome(kind, calls)


def test_a_repeated_lookup_names_the_result_it_lost(context):
    """Same tool, same arguments as a call whose result stands in the context."""
    tree = PieceTree(context)
    reactions = Reactions(tree)
    bed, notes = (p for p in context.roots if p.kind.value == "tool_result")
    lookup = ("get_bed", '{"name":"north"}')
    seen = reactions.seen(called(lookup), Change(frozenset({bed.id})))
    assert (seen.reaction, seen.lookup) == (Reaction.LOOKUP, bed.id)
    part = context.children(notes)[0]
    both = called(lookup, ("read_notes", '{"bed":"B-17"}'))
    assert reactions.seen(both, Change(frozenset({part.id}))).lookup == notes.id
    other = called(("get_bed", '{"name":"south"}'))
    assert reactions.seen(other, Change()).reaction is Reaction.OTHER_CALL


@pytest.mark.parametrize(
    ("kind", "reaction"),
    [
        (OutcomeKind.TEXT, Reaction.STOPS),
        (OutcomeKind.CUT, Reaction.NO_ANSWER),
        (OutcomeKind.REFUSAL, Reaction.NO_ANSWER),
        (OutcomeKind.EMPTY, Reaction.NO_ANSWER),
    ],
)
def test_other_outcomes_have_their_reactions(context, kind, reaction):
    """Words are a stop; cut, refused and empty replies are no answer."""
    assert Reactions(PieceTree(context)).seen(Outcome(kind), Change()).reaction is reaction


def test_the_same_decision_is_the_same_even_if_it_repeats_a_lookup(context):
    """Sameness is the rule's word; a lookup beside it changes nothing."""
    outcome = called(("get_bed", '{"name":"north"}'), kind=OutcomeKind.SAME)
    assert Reactions(PieceTree(context)).seen(outcome, Change()).same


def test_samples_keep_their_order_however_long_judging_takes():
    """A slow judge cannot shuffle the runs that are counted."""
    words = [f"answer {number}" for number in range(8)]
    waiting = iter(words)

    class Slow:
        async def judge(self, reply):
            await asyncio.sleep(0.02 - 0.002 * words.index(reply.text))
            return Outcome(OutcomeKind.TEXT, text=reply.text)

    model = FunctionModel(
        lambda _: next(waiting), name="f", identity="f", dialect=dialect_for("openai.chat")
    )
    arrived = []

    async def main():
        gate = gate_of(model, workers=1, rule=Slow())
        return await draw(gate, [Job({}, 8)], lambda _, sample: arrived.append(sample))

    (samples,) = asyncio.run(main())
    assert [sample.outcome.text for sample in samples] == words
    assert len(arrived) == 8


def test_observations_follow_sample_order():
    """What arrived last can be put in order without losing what came before."""
    observed = Observations()
    first, second, third = (Outcome(OutcomeKind.TEXT, text=t) for t in "abc")
    for outcome in (first, third, second):
        observed.add(Change(), outcome)
    observed.reorder(Change(), [second, third])
    assert observed.outcomes(Change()) == [first, second, third]
    assert observed.tally(Change()) == Tally(0, 3)
    assert observed.tally(Change(frozenset({1}))) == Tally()


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
