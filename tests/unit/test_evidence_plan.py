"""The sampling plan, and the proof of its error."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.evidence import (
    CONSISTENT,
    CONSISTENT_WIDE,
    INTERMITTENT,
    BaselineStep,
    Ending,
    Looks,
    fisher_less,
    frozen_baselines,
    plan_baseline,
    variant_error,
)

ALPHA, SLOTS = 0.05, 40
RATES = tuple((i + 1) / 60 for i in range(60))


def kept(k: int, n: int) -> list[bool]:
    """`k` kept decisions, then the others."""
    return [True] * k + [False] * (n - k)


@pytest.mark.parametrize("wide", [False, True])
def test_error_of_one_changed_context_that_does_nothing(wide):
    """Over every baseline path, look and rate, one variant errs at most .966 of its share of α."""
    worst = max(variant_error(RATES, ALPHA, SLOTS, partial(plan_baseline, wide=wide)))
    assert worst <= 0.966 * ALPHA / SLOTS
    assert worst * SLOTS <= 0.0483


def test_the_proof_notices_a_plan_that_spends_too_much():
    """With the full share at every look the enumeration shows too large an error: it can fail."""
    greedy = Looks(tuple((size, 1.0) for size in CONSISTENT.sizes))

    def plan(runs):
        step = plan_baseline(runs)
        return replace(step, looks=greedy) if step.looks is CONSISTENT else step

    assert max(variant_error(RATES, ALPHA, SLOTS, plan)) > ALPHA / SLOTS


def test_enumeration_is_what_trying_every_sequence_gives():
    """On a plan small enough for brute force, both agree to the last digits."""
    looks = Looks(((2, 20.0), (4, 20.0)))

    def plan(runs):
        return BaselineStep(4 if len(runs) < 4 or sum(runs) > 2 else 6, looks)

    def claimed(baseline, runs):
        return any(
            fisher_less(sum(runs[:n]), n, sum(baseline), len(baseline))
            <= share * ALPHA / SLOTS * 10
            for n, share in looks.shares
        )

    def weight(runs, rate):
        return rate ** sum(runs) * (1 - rate) ** (len(runs) - sum(runs))

    def sequences(n):
        return product((True, False), repeat=n)

    baselines = [b for b in sequences(4) if sum(b) > 2] + [
        b for b in sequences(6) if sum(b[:4]) <= 2
    ]
    for rate in (0.3, 0.8):
        brute = sum(
            weight(b, rate) * weight(r, rate)
            for b in baselines
            for r in sequences(4)
            if claimed(b, r)
        )
        assert brute > 0
        assert variant_error((rate,), ALPHA * 10, SLOTS, plan) == pytest.approx([brute])


def test_all_baselines_together_are_all_sequences_that_can_be_explained():
    """The weights of frozen baselines add up to one less the probability of stopping."""
    for rate in (0.9, 0.99):
        total = sum(
            ways * rate**b.kept * (1 - rate) ** (b.runs - b.kept)
            for b, ways in frozen_baselines().items()
        )
        assert total == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("runs", "wanted", "looks", "ending"),
    [
        ([], 6, None, None),
        (kept(0, 6), 12, None, None),
        (kept(0, 12), 12, None, Ending.DID_NOT_RECUR),
        (kept(5, 6), 18, CONSISTENT, None),
        (kept(18, 18), 18, CONSISTENT, None),
        (kept(17, 18), 24, CONSISTENT, None),
        (kept(4, 6), 16, None, None),
        (kept(4, 6) + kept(6, 10), 18, CONSISTENT, None),
        (kept(4, 6) + kept(5, 10), 40, INTERMITTENT, None),
        (kept(4, 40), 40, None, Ending.TOO_RARE),
        (kept(4, 6) + kept(4, 34), 60, INTERMITTENT, None),
        (kept(4, 6) + kept(4, 10) + kept(4, 24), 40, INTERMITTENT, None),
        ([False] * 6 + [True], 16, None, None),
    ],
)
def test_steps_of_the_baseline(runs, wanted, looks, ending):
    """Each count leads to the next number of runs, to a way of testing, or to an end."""
    step = plan_baseline(runs)
    assert (step.runs, step.looks, step.ending) == (wanted, looks, ending)


@given(st.lists(st.booleans(), min_size=60, max_size=60))
def test_every_baseline_comes_to_an_end_within_sixty_runs(runs):
    """Following the plan always freezes the baseline or gives up, whatever is seen."""
    have = 0
    while (step := plan_baseline(runs[:have])).runs > have:
        have = step.runs
    assert have <= 60
    assert (step.ending is None) == (step.looks is not None) == step.certain


def test_wide_looks_are_fewer():
    """The wide plan differs in the looks of a consistent decision only."""
    assert plan_baseline(kept(6, 6), wide=True).looks is CONSISTENT_WIDE
    assert len(CONSISTENT_WIDE.sizes) < len(CONSISTENT.sizes)
    assert plan_baseline(kept(4, 6) + kept(5, 10), wide=True).looks is INTERMITTENT


def test_a_size_that_is_no_look_can_claim_nothing():
    """Between looks the level is 0."""
    assert CONSISTENT.level(7, ALPHA, SLOTS) == 0.0
    assert CONSISTENT.level(3, ALPHA, SLOTS) == pytest.approx(0.65 * ALPHA / SLOTS)
