"""The interval of a difference of two rates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.evidence import newcombe


def test_the_published_example():
    """56 of 70 against 48 of 80: Newcombe's table II, case (a), method 10."""
    low, high = newcombe(48, 80, 56, 70)

    assert low == pytest.approx(0.0524, abs=5e-5)
    assert high == pytest.approx(0.3339, abs=5e-5)


def test_nothing_is_known_without_runs():
    """Without runs on one side every fall is possible."""
    assert newcombe(0, 0, 18, 18) == (-1.0, 1.0)
    assert newcombe(0, 3, 0, 0) == (-1.0, 1.0)


counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, counts)
def test_it_holds_the_fall_and_mirrors(one, other):
    """The observed fall lies inside, the bounds within ±1; swapping sides changes signs."""
    low, high = newcombe(*one, *other)
    fall = other[0] / other[1] - one[0] / one[1]

    assert -1 - 1e-12 <= low <= fall <= high <= 1 + 1e-12
    assert newcombe(*other, *one) == pytest.approx((-high, -low))
