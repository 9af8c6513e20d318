"""Between the search's numbers and the model's requests: trees, bodies, reactions, samples."""

from __future__ import annotations

import asyncio

import pytest

from runtape.attribution.observations import Observations, Reactions
from runtape.attribution.protocol import Change, Reaction, Wording
from runtape.attribution.sampling import draw
from runtape.attribution.variants import PieceTree, Variants
from runtape.context import Fill, build_context
from runtape.decision import Outcome, OutcomeKind
from runtape.dialects import dialect_for
from runtape.models.function import FunctionModel
from runtape.models.scheduler import Job
from runtape.tape.reader import Tape
from runtape.trials import Tally
from tests.support import greenhouse
from tests.support.greenhouse import CAUSE
from tests.support.scripted import ASKED, gate_of


@pytest.fixture
def context(tmp_path):
    return build_context(Tape.open(greenhouse.record(tmp_path)), ASKED)


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
