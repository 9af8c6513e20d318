"""The exact error of one changed context that does nothing, over every baseline path and look.

No simulation and no approximation: paths are counted in integers and weighed once per rate. The
variant's rate equals the baseline's (a higher one only errs less often), its runs are independent
of the baseline and of whatever made the search pick it, and its test may stop at any look. Over M
variants, chosen in any data-driven way, the union bound gives the family-wise error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import comb
from typing import TypeAlias

from runtape.evidence.fisher import fisher_less
from runtape.evidence.plan import BaselineStep, Looks, plan_baseline

Plan: TypeAlias = Callable[[tuple[bool, ...]], BaselineStep]
Paths: TypeAlias = Mapping[tuple[int, int], int]
"""(kept, runs) → number of run sequences that end there."""


@dataclass(frozen=True, slots=True)
class FrozenBaseline:
    """A baseline as the tests see it."""

    kept: int
    runs: int
    looks: Looks


def frozen_baselines(plan: Plan = plan_baseline) -> Counter[FrozenBaseline]:
    """Every baseline that testing can start from, with the number of sequences that lead to it."""
    found: Counter[FrozenBaseline] = Counter()
    for kept, step, ways in _walk(plan, (), 1):
        if step.looks is not None and step.ending is None:
            found[FrozenBaseline(sum(kept), len(kept), step.looks)] += ways
    return found


def _walk(
    plan: Plan, kept: tuple[bool, ...], ways: int
) -> Iterator[tuple[tuple[bool, ...], BaselineStep, int]]:
    """All ways through the plan, which does not look at the order within a stretch of runs."""
    step = plan(kept)
    more = step.runs - len(kept)
    if more <= 0:
        yield kept, step, ways
        return
    for k in range(more + 1):
        stretch = (True,) * k + (False,) * (more - k)
        yield from _walk(plan, kept + stretch, ways * comb(more, k))


def claiming_paths(baseline: FrozenBaseline, alpha: float, slots: int) -> Paths:
    """Where a tested variant is first claimed: (kept, runs) → number of run sequences."""
    claims: dict[tuple[int, int], int] = {}
    alive = {0: 1}
    before = 0
    for size in baseline.looks.sizes:
        alive = _after(alive, size - before)
        before = size
        level = baseline.looks.level(size, alpha, slots)
        for k in sorted(alive):
            if fisher_less(k, size, baseline.kept, baseline.runs) > level:
                break
            claims[k, size] = alive.pop(k)
    return claims


def _after(alive: Mapping[int, int], runs: int) -> dict[int, int]:
    """Sequence counts by kept decisions, `runs` runs later."""
    later: dict[int, int] = {}
    for k, ways in alive.items():
        for more in range(runs + 1):
            later[k + more] = later.get(k + more, 0) + ways * comb(runs, more)
    return later


def variant_error(
    rates: Iterable[float], alpha: float, slots: int, plan: Plan = plan_baseline
) -> list[float]:
    """For each rate: probability that a change which does nothing is ever claimed."""
    baselines = [
        (baseline, ways, claiming_paths(baseline, alpha, slots))
        for baseline, ways in frozen_baselines(plan).items()
    ]
    return [
        sum(
            ways * _weight(baseline.kept, baseline.runs, rate) * _probability(claims, rate)
            for baseline, ways, claims in baselines
        )
        for rate in rates
    ]


def _probability(paths: Paths, rate: float) -> float:
    return sum(ways * _weight(k, n, rate) for (k, n), ways in paths.items())


def _weight(k: int, n: int, rate: float) -> float:
    """Probability of one sequence with `k` of `n`."""
    return rate**k * (1 - rate) ** (n - k)
