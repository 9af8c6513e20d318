"""A share and how sure it is, as a bar: sure, likely, possible.

::

    ███████▓▓▓          at least 7 tenths, seen 10
    ███▓▓▓▓───          at least 3, seen 7, up to 10
    ▏──────             none seen, up to 6

The three parts differ in shape, so that the bar reads the same without colours.
"""

from __future__ import annotations

from typing import NamedTuple

SURE, LIKELY, POSSIBLE, ZERO = "█", "▓", "─", "▏"
BAR_LEGEND = f"{SURE} sure  {LIKELY} likely  {POSSIBLE} possible"
"""What the parts of a bar mean."""


class Bar(NamedTuple):
    """The three parts of a bar, and the blanks up to its width."""

    sure: str
    likely: str
    possible: str
    rest: str


def interval_bar(share: float, low: float, high: float, width: int) -> Bar:
    """The parts of a bar of `width` cells for a share in 0..1 within ``low..high``."""
    sure, likely, end = (round(max(0.0, min(1.0, v)) * width) for v in (low, share, high))
    likely = max(sure, likely)
    possible = POSSIBLE * (end - likely)
    if not likely:  # a bar of nothing still has a beginning
        possible = ZERO + possible[1:]
    rest = " " * (width - likely - len(possible))
    return Bar(SURE * sure, LIKELY * (likely - sure), possible, rest)
