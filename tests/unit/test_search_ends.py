"""Searches that are cut off, short of answers, very small or very large."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.attribution.confirm import SLOTS_SPENT
from runtape.attribution.facts import Verdict
from runtape.attribution.protocol import Change, Wording
from runtape.attribution.search import Procedure, SearchOptions
from tests.support.toy import OTHER, SAME, STOPS, Drive, Toy, inbox


def steps_of(drive: Drive) -> int:
    """Yields of a whole search."""
    drive.run()
    return len(drive.batches) + len(drive.notes)


@pytest.mark.parametrize("options", [SearchOptions(), SearchOptions(deterministic=True)])
def test_interrupted_anywhere_it_says_what_is_known(options):
    """At every yield there is a partial result, and knowledge only grows."""
    total = steps_of(Drive(*inbox(), options))
    runs = claims = 0
    for steps in range(total + 1):
        result = Drive(*inbox(), options).run(steps=steps)
        assert result.verdict is Verdict.INTERRUPTED
        known = result.baseline.runs + sum(t.runs for t in result.tallies.values())
        assert known >= runs
        assert len(result.claims) >= claims
        runs, claims = known, len(result.claims)
    assert claims == 3


def test_partial_before_the_first_step():
    """A search that never began has an empty result."""
    result = Procedure(inbox()[0]).partial(Verdict.PROVIDER_FAILED)
    assert result.verdict is Verdict.PROVIDER_FAILED
    assert (result.baseline.runs, result.mode, result.claims, result.level) == (0, None, (), None)


def test_a_budget_that_ends_after_the_verdict_does_not_change_it():
    """What was claimed stays claimed when only the description is missing."""
    drive = Drive(*inbox())
    drive.run()
    cut = Drive(*inbox())
    cut.run(steps=len(drive.batches) + len(drive.notes) - 1)
    assert cut.procedure.partial(Verdict.BUDGET_SPENT).verdict is Verdict.ATTRIBUTED
    assert cut.procedure.partial(Verdict.PROVIDER_FAILED).verdict is Verdict.PROVIDER_FAILED


def test_nobody_answers():
    """After some silent rounds the search gives up instead of asking forever."""
    drive = Drive(*inbox())
    result = drive.run(answer=lambda batch: [[] for _ in batch])
    assert result.verdict is Verdict.BUDGET_SPENT
    assert len(drive.batches) <= 4


def test_answers_that_are_no_list_at_all():
    """A driver may send nothing for a whole batch."""
    assert Drive(*inbox()).run(answer=lambda _: []).verdict is Verdict.BUDGET_SPENT


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.floats(0.05, 0.9), st.booleans())
def test_lost_runs_never_break_it(seed, loss, deterministic):
    """Whatever is lost on the way, the search ends, and what it claims it has seen."""
    rng = Random(seed)
    drive = Drive(*inbox(), SearchOptions(deterministic=deterministic))

    def answer(batch):
        return [[s for s in seen if rng.random() > loss] for seen in drive.answer(batch)]

    result = drive.run(answer=answer)
    assert len(drive.batches) < 400
    for claim in result.claims:
        assert claim.claimed_at.runs <= claim.without.runs
        assert claim.p is None or claim.claimed_p <= claim.level


def test_a_change_that_leaves_no_valid_request():
    """A piece that cannot be removed is left alone after two empty answers, and only that."""
    toy, model = inbox()
    drive = Drive(toy, model)
    blocked = Change(frozenset({toy["list_emails"]}))

    def answer(batch):
        return [
            [] if ask.change == blocked else seen
            for ask, seen in zip(batch, drive.answer(batch), strict=True)
        ]

    result = drive.run(answer=answer)
    assert result.verdict is Verdict.ATTRIBUTED
    assert drive.runs_of("list_emails") <= 4


def test_an_empty_context():
    """Nothing to remove: nothing is found, after the baseline."""
    drive = Drive(Toy({}), lambda _: SAME)
    result = drive.run()
    assert result.verdict is Verdict.NOTHING_FOUND
    assert result.baseline.runs == 18


@pytest.mark.parametrize(
    ("name", "without", "verdict"),
    [
        ("user", STOPS, Verdict.ONLY_REQUIRED),
        ("user", OTHER, Verdict.ATTRIBUTED),
        ("page", STOPS, Verdict.ATTRIBUTED),
        ("page", SAME, Verdict.NOTHING_FOUND),
    ],
)
def test_one_piece(name, without, verdict):
    """A context of one piece comes to the verdict that its removal shows."""
    drive = Drive(Toy({name: {}}), lambda present: SAME if present(name) else without)
    assert drive.run().verdict is verdict


@pytest.mark.parametrize("cause", [0, 2500, 4999])
def test_five_thousand_pieces(cause):
    """A cause among thousands is found in about as many calls as among hundreds."""
    toy = Toy({f"page {i}": {f"a{i}": {}, f"b{i}": {}} for i in range(5000)})
    wanted = toy[f"b{cause}"]
    holders = set(toy.around(wanted))
    drive = Drive(toy, lambda _: SAME)

    def answer(batch):
        return [
            [
                SAME
                if ask.change.pieces.isdisjoint(holders) or ask.change.wording is Wording.QUOTE
                else OTHER
            ]
            * ask.runs
            for ask in batch
        ]

    result = drive.run(answer=answer)
    (claim,) = result.claims
    assert claim.change.pieces == {wanted}
    assert drive.calls < 120


def test_everything_matters():
    """When every removal turns the decision, only what was tested is claimed."""
    toy = Toy({"system": {}, "user": {}, **{f"page {i}": {} for i in range(60)}})
    drive = Drive(toy, lambda present: SAME if all(map(present, toy.names)) else STOPS)
    asked = 0

    def answer(batch):
        nonlocal asked
        asked += sum(ask.runs for ask in batch)
        return drive.answer(batch) if asked <= 400 else [[] for _ in batch]

    result = drive.run(answer=answer)
    assert result.verdict in (Verdict.ATTRIBUTED, Verdict.BUDGET_SPENT)
    assert all(claim.claimed_at.same == 0 for claim in result.claims)


def test_at_most_so_many_pieces_are_tested():
    """`max_pieces` keeps those that stand apart and the newest of the others."""
    toy = Toy({"system": {}, "user": {}, **{f"page {i}": {} for i in range(10)}})
    drive = Drive(toy, lambda _: SAME, SearchOptions(max_pieces=5))
    drive.run()
    asked = {toy.names[p] for batch in drive.batches for ask in batch for p in ask.change.pieces}
    assert asked == {"system", "user", "page 9", "page 8", "page 7"}


def test_so_many_slots_and_no_more():
    """With all slots taken nothing else is claimed, however clear it looks, and that is said."""
    toy = Toy({f"page {i}": {} for i in range(12)})
    drive = Drive(
        toy,
        lambda present: SAME if all(map(present, toy.names)) else OTHER,
        SearchOptions(slots=3),
    )
    result = drive.run()
    assert len(result.claims) == 3
    assert [warning.code for warning in result.warnings] == [SLOTS_SPENT]
