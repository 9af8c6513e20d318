"""Intervals for rates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from runtape.evidence import clopper_pearson, largest_rate, wilson

counts = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, st.sampled_from((0.8, 0.95, 0.99)))
def test_wilson_agrees_with_scipy(count, confidence):
    """The score interval is scipy's."""
    oracle = binomtest(*count).proportion_ci(confidence, method="wilson")
    assert wilson(*count, confidence) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


@given(counts, st.sampled_from((0.8, 0.95, 0.99)))
def test_clopper_pearson_agrees_with_scipy(count, confidence):
    """The exact interval is scipy's."""
    oracle = binomtest(*count).proportion_ci(confidence, method="exact")
    assert clopper_pearson(*count, confidence) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


@given(counts)
def test_largest_rate_leaves_the_count_just_possible(count):
    """At the bound, a count this low or lower has probability 5 %."""
    k, n = count
    bound = largest_rate(k, n)
    if k < n:
        assert binomtest(k, n, bound, alternative="less").pvalue == pytest.approx(0.05, abs=1e-6)
    else:
        assert bound == 1.0


def test_no_runs_leave_everything_possible():
    """An empty sample says nothing about a rate."""
    assert wilson(0, 0) == (0.0, 1.0)
    assert clopper_pearson(0, 0) == (0.0, 1.0)


def test_the_bound_that_a_pass_of_ten_states():
    """0 of 10 rules out rates from 26 % on."""
    assert largest_rate(0, 10) == pytest.approx(0.2589, abs=1e-4)
