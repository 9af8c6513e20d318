"""Bars: a share, how sure it is, how far it may reach."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runtape.evidence import wilson
from runtape_tui.view_models.bars import interval_bar

shares = st.floats(-1, 1, allow_nan=False)


@given(shares, shares, shares, st.integers(1, 40))
def test_a_bar_has_its_width_and_its_parts_in_order(share, low, high, width):
    """Always exactly as wide as asked for, whatever the numbers are."""
    bar = interval_bar(share, min(low, share), max(high, share), width)
    assert len("".join(bar)) == width
    assert set(bar.sure) <= {"█"}
    assert set(bar.likely) <= {"▓"}
    assert set(bar.possible) <= {"─", "▏"}
    assert bar.rest.strip() == ""


def test_what_the_parts_say():
    """10 of 10 is sure up to 72 %, 0 of 10 reaches 28 %; none seen still has a beginning."""
    assert "".join(interval_bar(1.0, *wilson(10, 10), 10)) == "███████▓▓▓"
    assert "".join(interval_bar(0.0, *wilson(0, 10), 10)) == "▏──       "
    assert "".join(interval_bar(0.5, *wilson(5, 10), 10)) == "██▓▓▓───  "
    assert "".join(interval_bar(-0.2, -0.5, 0.0, 4)) == "▏   "
