"""How likely a test is to notice a drop, and how many runs it takes."""

from __future__ import annotations

from math import comb

from runtape.evidence.fisher import fisher_less


def power(runs: int, baseline_runs: int, rate: float, changed: float, level: float) -> float:
    """Probability that Fisher's one-sided test shows a drop from `rate` to `changed` at `level`.

    Exact: over every count of both samples, with the critical count of each baseline.
    """
    total, critical = 0.0, -1
    for kb in range(baseline_runs + 1):
        while critical < runs and fisher_less(critical + 1, runs, kb, baseline_runs) <= level:
            critical += 1
        weight = comb(baseline_runs, kb) * rate**kb * (1 - rate) ** (baseline_runs - kb)
        total += weight * _at_most(critical, runs, changed)
    return total


def runs_needed(
    baseline_runs: int,
    rate: float,
    changed: float,
    *,
    level: float = 0.05,
    wanted: float = 0.8,
    most: int = 400,
) -> int | None:
    """Fewest runs with a :func:`power` of at least `wanted`; None when `most` are too few.

    Power is not quite monotone in the number of runs (the test is discrete): the first number that
    reaches `wanted` is returned.
    """
    return next(
        (n for n in range(1, most + 1) if power(n, baseline_runs, rate, changed, level) >= wanted),
        None,
    )


def _at_most(k: int, n: int, rate: float) -> float:
    if k < 0:
        return 0.0
    from scipy.special import bdtr  # noqa: PLC0415 - 0.3 s that most commands never need

    return float(bdtr(k, n, rate))
