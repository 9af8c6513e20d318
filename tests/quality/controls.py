"""Negative controls: two usual shortcuts, where nothing is a cause. They must show their error.

Both pick the most suspicious of several pieces. One then compares its runs with the baseline at p ≤
.05, as if it had not been picked. The other tests it sequentially at a level made for one test, but
counts the screening runs that made it suspicious. Beside them stands the honest way: fresh runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from runtape.evidence import CONSISTENT, fisher_less

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """Share of null worlds in which each way claims something."""

    picked: float
    reused: float
    fresh: float


def measure(
    rate: float, seeds: int, *, pieces: int = 7, runs: int = 8, screening: int = 3
) -> Shortcuts:
    """Try all three ways where `pieces` pieces do nothing to a decision of this rate."""
    picked = reused = fresh = 0
    for seed in range(seeds):
        rng = Random(seed)
        baseline = _draw(rng, rate, 18)
        picked += _lowest(rng, rate, pieces, runs, baseline) <= ALPHA
        worst = min(_draw(rng, rate, screening) for _ in range(pieces))
        reused += _claims(rng, rate, baseline, worst, screening)
        fresh += _claims(rng, rate, baseline, 0, 0)
    return Shortcuts(picked / seeds, reused / seeds, fresh / seeds)


def _draw(rng: Random, rate: float, runs: int) -> int:
    return sum(rng.random() < rate for _ in range(runs))


def _lowest(rng: Random, rate: float, pieces: int, runs: int, baseline: int) -> float:
    return min(fisher_less(_draw(rng, rate, runs), runs, baseline, 18) for _ in range(pieces))


def _claims(rng: Random, rate: float, baseline: int, kept: int, runs: int) -> bool:
    """One sequential test at the looks of the plan, with the whole α for it, from these runs on."""
    for size in CONSISTENT.sizes:
        if size < runs:
            continue
        kept, runs = kept + _draw(rng, rate, size - runs), size
        if fisher_less(kept, size, baseline, 18) <= CONSISTENT.level(size, ALPHA, 1):
            return True
    return False
