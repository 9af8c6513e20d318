"""Correction of several p values for their number.

Source: S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of
Statistics 6 (1979). Uniformly more powerful than Bonferroni's correction, and like it valid under
any dependence: the tests may share a baseline.
"""

from __future__ import annotations

from collections.abc import Sequence


def holm(ps: Sequence[float], tests: int | None = None) -> list[float]:
    """The adjusted p values, in the order of `ps`: at most α where the corrected test rejects at α.

    `tests`: their number, when more were planned than there are p values.

    Raises:
        ValueError: fewer tests than p values.
    """
    count = len(ps) if tests is None else tests
    if count < len(ps):
        raise ValueError(f"{len(ps)} p values of {count} tests")
    adjusted = [1.0] * len(ps)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        highest = max(highest, (count - rank) * ps[index])
        adjusted[index] = min(1.0, highest)
    return adjusted
