"""Grades of remedies: useless ones seldom help, good ones do, kept decisions seldom break."""

from __future__ import annotations

from random import Random

import pytest
from scipy.stats import binom

from runtape.evidence import fisher_less, plan_baseline
from runtape.remedies.facts import Keeping
from runtape.remedies.grading import ALPHA, TRIPLED, adjusted, helps, keeping, runs_wanted
from runtape.trials import Tally

SEEDS = 2000
REMEDIES = 6
CHECKS = 5

pytestmark = pytest.mark.quality


def baseline(rate, rng):
    """The frozen baseline of a `why`; None when nothing could be explained."""
    kept = []
    while True:
        step = plan_baseline(kept)
        if step.ending is not None:
            return None
        if step.looks is not None and len(kept) >= step.runs:
            return Tally(sum(kept), len(kept))
        kept.append(rng.random() < rate)


def helping(rate, rates, seed):
    """Which remedies are said to help; None when there was nothing to fix."""
    rng = Random(seed)
    before = baseline(rate, rng)
    if before is None:
        return None
    runs = runs_wanted(before, len(rates), 10)
    tallies = [Tally(sum(rng.random() < r for _ in range(runs)), runs) for r in rates]
    ps = adjusted([fisher_less(t.same, t.runs, before.same, before.runs) for t in tallies])
    return [helps(before, t, p) for t, p in zip(tallies, ps, strict=True)]


@pytest.mark.parametrize("rate", [0.2, 0.35, 0.5, 0.7, 0.9, 1.0])
def test_remedies_that_do_nothing_are_seldom_said_to_help(rate):
    """Of six that change nothing, none is called a help in 95 % of the fixes."""
    found = [helping(rate, [rate] * REMEDIES, seed) for seed in range(SEEDS)]
    measured = [f for f in found if f is not None]
    wrong = sum(map(any, measured))
    assert wrong <= binom.ppf(1 - 1e-4, len(measured), ALPHA)


@pytest.mark.parametrize(("rate", "least"), [(1.0, 1.0), (0.9, 1.0), (0.5, 0.95), (0.35, 0.95)])
def test_a_remedy_that_works_is_found_beside_useless_ones(rate, least):
    """One of six brings the decision to nothing: it is said to help."""
    rates = [0.0, *[rate] * (REMEDIES - 1)]
    found = [f for seed in range(500) if (f := helping(rate, rates, seed)) is not None]
    assert sum(f[0] for f in found) >= least * len(found)


def kept(rate, under, rng):
    """What is said of another decision: a look, and a closer one when a run misses."""
    without = [rng.random() < rate for _ in range(CHECKS * TRIPLED)]
    with_it = [rng.random() < under for _ in range(CHECKS * TRIPLED)]
    runs = CHECKS if all(with_it[:CHECKS]) else CHECKS * TRIPLED
    sides = [Tally(sum(side[:runs]), runs) for side in (without, with_it)]
    return keeping(*sides, deterministic=False)[0]


@pytest.mark.parametrize(("rate", "most"), [(1.0, 0.0), (0.95, 0.02), (0.9, 0.04)])
def test_a_decision_that_is_kept_is_seldom_called_broken(rate, most):
    """The less reliable it was before, the more chance there is."""
    rng = Random(1)
    broken = sum(kept(rate, rate, rng) is Keeping.BROKEN for _ in range(SEEDS))
    assert broken <= binom.ppf(1 - 1e-4, SEEDS, most)


@pytest.mark.parametrize(("under", "least"), [(0.0, 1.0), (0.3, 0.97), (0.5, 0.85)])
def test_a_decision_that_is_lost_is_noticed(under, least):
    """A fall from always to half the time is seen in most fixes, a greater one in nearly all."""
    rng = Random(2)
    broken = sum(kept(1.0, under, rng) is Keeping.BROKEN for _ in range(SEEDS))
    assert broken >= binom.ppf(1e-4, SEEDS, least)
