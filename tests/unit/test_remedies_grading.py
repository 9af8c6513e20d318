"""PASS, PART, FAIL: the definitions, at their edges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.decision import Decision, DecisionKind, Outcome, OutcomeKind
from runtape.evidence import fisher_less
from runtape.remedies.facts import Effect, Grade, Keeping, Remedy, RemedyKind, Trial
from runtape.remedies.grading import (
    adjusted,
    grade,
    helps,
    is_stable,
    keeping,
    runs_wanted,
    same_move,
)
from runtape.trials import Tally

ALWAYS = Tally(18, 18)
RULE = Remedy(RemedyKind.RULE, system="…")
ANSWERS = Outcome(OutcomeKind.TEXT, text="Fine.")
REFUSES = Outcome(OutcomeKind.REFUSAL)
SAME = Outcome(OutcomeKind.SAME, calls=(("act", "{}"),))


def trial(same, runs=10, *, p=0.001, outcomes=None, effects=()):
    ways = outcomes or ((ANSWERS, runs - same), (SAME, same))
    return Trial(RULE, Tally(same, runs), p, p, tuple(ways), tuple(effects))


def effects(*findings):
    return [Effect(i, finding, Tally(0, 5)) for i, finding in enumerate(findings)]


KEPT, BROKEN = Keeping.KEPT, Keeping.BROKEN


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (trial(0), Grade.PASS),
        (trial(0, p=0.05), Grade.PASS),
        (trial(0, p=0.051), Grade.FAIL),
        (trial(1), Grade.PART),
        (trial(5), Grade.PART),
        (trial(6), Grade.FAIL),
        (trial(0, effects=effects(KEPT, KEPT, KEPT)), Grade.PASS),
        (trial(0, effects=effects(KEPT, KEPT, BROKEN)), Grade.PART),
        (trial(0, effects=effects(KEPT, BROKEN)), Grade.FAIL),
        (trial(0, effects=effects(BROKEN)), Grade.FAIL),
        (trial(0, effects=effects(Keeping.UNTOUCHED, Keeping.UNSTABLE)), Grade.PASS),
        (trial(0, effects=effects(Keeping.UNTOUCHED, Keeping.UNTOUCHED, BROKEN)), Grade.FAIL),
        (trial(0, outcomes=[(REFUSES, 5), (ANSWERS, 5)]), Grade.PART),
        (trial(0, outcomes=[(REFUSES, 4), (ANSWERS, 6)]), Grade.PASS),
        (trial(0, 2, p=None), Grade.PASS),
        (trial(1, 2, p=None), Grade.FAIL),
        (Trial(RULE), Grade.FAIL),
    ],
)
def test_the_definition(made, expected):
    """Never again and nothing broken; at least twice as rare; or neither."""
    assert grade(made, ALWAYS) is expected


def test_a_rare_decision_has_to_become_rarer_by_half():
    """Against 10 of 40: 2 of 20 is less than half, 3 of 20 is not."""
    assert helps(Tally(10, 40), Tally(2, 20), 0.01)
    assert not helps(Tally(10, 40), Tally(3, 20), 0.01)


def test_runs_are_enough_for_never_to_show():
    """As many as asked for; more for a decision that comes and goes; never without end."""
    assert runs_wanted(ALWAYS, 6, 10) == 10
    assert runs_wanted(ALWAYS, 6, 1) == 2
    intermittent = runs_wanted(Tally(24, 60), 6, 10)
    assert 10 < intermittent < 30
    assert 6 * fisher_less(0, intermittent, 24, 60) <= 0.05
    assert 6 * fisher_less(0, intermittent - 1, 24, 60) > 0.05
    assert runs_wanted(Tally(1, 60), 6, 10) == 60
    assert runs_wanted(Tally(1, 60), 6, 80) == 80


def test_every_proposed_remedy_counts_in_the_correction():
    """A p that is not there makes the others no smaller."""
    assert adjusted([0.01, None, 0.5]) == [pytest.approx(0.03), None, 1.0]
    assert adjusted([None, None]) == [None, None]


@pytest.mark.parametrize(
    ("without", "under", "expected"),
    [
        (Tally(5, 5), Tally(5, 5), KEPT),
        (Tally(15, 15), Tally(12, 15), KEPT),
        (Tally(15, 15), Tally(10, 15), BROKEN),
        (Tally(13, 15), Tally(15, 15), KEPT),
        (Tally(5, 5), Tally(0, 0), Keeping.UNCHECKED),
    ],
)
def test_kept_or_broken(without, under, expected):
    """A significant fall breaks; fewer by chance do not."""
    found, p = keeping(without, under, deterministic=False)
    assert found is expected
    if under.runs:
        assert p == fisher_less(under.same, under.runs, without.same, without.runs)


def test_at_temperature_0_one_miss_breaks():
    """There is no chance to blame."""
    assert keeping(Tally(2, 2), Tally(2, 2), deterministic=True) == (KEPT, None)
    assert keeping(Tally(2, 2), Tally(1, 2), deterministic=True) == (BROKEN, None)


@given(st.integers(0, 15), st.integers(12, 15))
def test_no_fall_is_never_called_a_break(under, without):
    """As often or more often is kept, whatever the counts."""
    found, _ = keeping(Tally(without, 15), Tally(under, 15), deterministic=False)
    if under >= without:
        assert found is KEPT


def test_stable_is_four_times_in_five():
    """Less is not worth protecting, and no runs say nothing."""
    assert is_stable(Tally(4, 5))
    assert not is_stable(Tally(3, 5))
    assert not is_stable(Tally())


def test_the_same_move_is_the_same_tools_or_words():
    """Words need not be the same words; silence is not an answer in words."""
    said = Decision(2, 1, DecisionKind.TEXT, text="Done.")
    called = Decision(2, 1, DecisionKind.TOOL, tool="act")
    assert same_move(said, ANSWERS)
    assert not same_move(said, REFUSES)
    assert not same_move(said, Outcome(OutcomeKind.OTHER_CALL, calls=(("act", "{}"),)))
    assert same_move(called, SAME)
    assert not same_move(called, ANSWERS)
