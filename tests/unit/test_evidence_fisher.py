"""Fisher's exact test in integers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from runtape.evidence import fisher_less


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, int, int, int]:
    n, nb = draw(st.integers(0, 80)), draw(st.integers(0, 80))
    return draw(st.integers(0, n)), n, draw(st.integers(0, nb)), nb


@given(tables())
def test_agrees_with_scipy(table):
    """The tail is scipy's, to the last digits."""
    k, n, kb, nb = table
    oracle = fisher_exact([[k, n - k], [kb, nb - kb]], alternative="less").pvalue
    assert fisher_less(k, n, kb, nb) == pytest.approx(oracle, rel=1e-9, abs=1e-15)


@given(tables())
def test_more_kept_decisions_are_never_more_significant(table):
    """The p rises with every kept decision among the changed runs."""
    k, n, kb, nb = table
    if k < n:
        assert fisher_less(k, n, kb, nb) <= fisher_less(k + 1, n, kb, nb)


def test_the_smallest_claim_of_a_spotless_baseline():
    """0 of 3 against 18 of 18 is one way in 1,330."""
    assert fisher_less(0, 3, 18, 18) == pytest.approx(1 / 1330)


def test_nothing_seen_shows_nothing():
    """Without runs on either side p is 1."""
    assert fisher_less(0, 0, 18, 18) == 1.0
    assert fisher_less(3, 5, 0, 0) == 1.0


@pytest.mark.parametrize("table", [(4, 3, 18, 18), (-1, 3, 18, 18), (0, 3, 19, 18)])
def test_counts_outside_their_runs_are_refused(table):
    """A count larger than its runs is a mistake of the caller, not a p."""
    with pytest.raises(ValueError, match="outside"):
        fisher_less(*table)
