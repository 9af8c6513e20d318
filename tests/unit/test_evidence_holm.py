"""Holm's correction: exact on known cases, and as strict as it has to be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.evidence.holm import holm

PS = st.lists(st.floats(0, 1), max_size=8)


def test_a_known_case():
    """The example of the paper's procedure: .01, .04, .03, .005 of four tests."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_planned_tests_count_though_they_have_no_p():
    """A remedy that could not be run was still proposed."""
    assert holm([0.01], 5) == [0.05]
    with pytest.raises(ValueError, match="2 p values of 1"):
        holm([0.1, 0.2], 1)


@given(PS, st.integers(0, 3))
def test_it_lies_between_no_correction_and_bonferroni(ps, more):
    """Never below p, never above the number of tests times p; order is kept."""
    tests = len(ps) + more
    adjusted = holm(ps, tests)
    for p, q in zip(ps, adjusted, strict=True):
        assert p <= q <= min(1.0, tests * p) or q == p == 0
    ranked = [q for _, q in sorted(zip(ps, adjusted, strict=True))]
    assert ranked == sorted(ranked)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0.001, 0.2))
def test_it_rejects_what_the_step_down_procedure_rejects(ps, alpha):
    """Adjusted p ≤ α exactly for the hypotheses rejected step by step at α."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    rejected = set()
    for rank, index in enumerate(order):
        if (len(ps) - rank) * ps[index] > alpha:
            break
        rejected.add(index)
    assert {i for i, q in enumerate(holm(ps)) if q <= alpha} == rejected
