"""Intervals for a rate, from a count: for showing and for stated bounds; no claim rests on them."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist


def wilson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Two-sided score interval for the rate behind `k` of `n`; (0, 1) without runs.

    Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference",
    JASA 22 (1927). Its coverage is about `confidence` on average, not at least.
    """
    if n == 0:
        return (0.0, 1.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate, shrink = k / n, 1 + z * z / n
    middle = rate + z * z / (2 * n)
    half = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    low = 0.0 if k == 0 else (middle - half) / shrink
    high = 1.0 if k == n else (middle + half) / shrink
    return (low, high)


def newcombe(k: int, n: int, kb: int, nb: int, confidence: float = 0.95) -> tuple[float, float]:
    """Two-sided interval for a fall: by how much `k` of `n` is a lower rate than `kb` of `nb`.

    It is (-1, 1) without runs on either side. Source: R. G. Newcombe, "Interval Estimation for
    the Difference between Independent Proportions", Statistics in Medicine 17 (1998), method 10:
    from the score intervals of both rates.
    """
    if not n or not nb:
        return (-1.0, 1.0)
    rate, base = k / n, kb / nb
    (low, high), (base_low, base_high) = wilson(k, n, confidence), wilson(kb, nb, confidence)
    fall = base - rate
    return (
        fall - sqrt((base - base_low) ** 2 + (high - rate) ** 2),
        fall + sqrt((base_high - base) ** 2 + (rate - low) ** 2),
    )


def clopper_pearson(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Exact two-sided interval for the rate behind `k` of `n`: covers with at least `confidence`.

    Source: C. J. Clopper and E. S. Pearson, "The Use of Confidence or Fiducial Limits", Biometrika
    26 (1934), through the beta quantiles.
    """
    tail = (1 - confidence) / 2
    return (_low(k, n, tail), _high(k, n, tail))


def largest_rate(k: int, n: int, confidence: float = 0.95) -> float:
    """Exact one-sided bound: the largest rate that `k` of `n` leaves possible (0 of 10: 0.26)."""
    return _high(k, n, 1 - confidence)


def _low(k: int, n: int, tail: float) -> float:
    if k == 0:
        return 0.0
    from scipy.special import betaincinv  # noqa: PLC0415 - 0.3 s that most commands never need

    return float(betaincinv(k, n - k + 1, tail))


def _high(k: int, n: int, tail: float) -> float:
    if k == n:
        return 1.0
    from scipy.special import betaincinv  # noqa: PLC0415 - as above

    return float(betaincinv(k + 1, n - k, 1 - tail))
