"""How many runs a drop takes."""

from __future__ import annotations

import pytest
from scipy.stats import binom

from runtape.evidence import fisher_less, power, runs_needed


@pytest.mark.parametrize(("rate", "changed"), [(0.9, 0.3), (0.6, 0.1), (1.0, 0.0)])
def test_power_is_the_sum_over_all_pairs_of_counts(rate, changed):
    """Weighing every pair of counts by its probability gives the same figure."""
    n, nb, level = 12, 18, 0.01
    brute = sum(
        binom.pmf(k, n, changed) * binom.pmf(kb, nb, rate)
        for k in range(n + 1)
        for kb in range(nb + 1)
        if fisher_less(k, n, kb, nb) <= level
    )
    assert power(n, nb, rate, changed, level) == pytest.approx(brute)


def test_no_drop_is_noticed_at_most_as_often_as_the_level():
    """Where nothing changed, the test keeps its level."""
    assert power(20, 20, 0.8, 0.8, 0.05) <= 0.05


def test_the_number_of_runs_that_is_enough():
    """It reaches the wanted power, and one fewer does not."""
    n = runs_needed(18, 0.95, 0.3, level=0.001)
    assert n is not None
    assert power(n, 18, 0.95, 0.3, 0.001) >= 0.8 > power(n - 1, 18, 0.95, 0.3, 0.001)


def test_a_drop_that_no_number_of_runs_shows():
    """A baseline too small to differ from anything is said to be so."""
    assert runs_needed(2, 0.9, 0.5, level=0.001, most=50) is None
