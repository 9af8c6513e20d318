"""Which unit of an ordered list turns the decision, when all of them together do?

Probabilistic bisection (Horstein 1963; Burnashev and Zigangirov 1974): keep a posterior over the turning unit, remove
the prefix that halves it, update, until one unit stands out. One run a step costs about log₂(units) runs when
the model is consistent, and degrades gracefully when it is not; no step is ever decided, so none can be decided
wrongly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import exp, log, log2

from runtape.attribution.ledger import Ledger, Steps
from runtape.attribution.protocol import Ask, Change

_SURE = 0.9
"""Posterior at which a unit is taken for the turning one."""
_LEFT = 0.17
"""Share of the baseline rate that is left, on average, once the decision has turned."""


def find_turning(
    ledger: Ledger, units: Sequence[int], fixed: frozenset[int] = frozenset()
) -> Steps[int | None]:
    """Position of the last unit of the shortest prefix whose removal, besides `fixed`, turns the decision.

    None when the runs end before one stands out. The caller knows that removing all units turns it.
    """
    prefixes = [Change(fixed | frozenset(units[:t])) for t in range(len(units))]
    used: set[int] = set()
    spend = _patience(ledger, len(units))
    while True:
        posterior = _posterior(ledger, prefixes, used)
        best = max(range(len(units)), key=posterior.__getitem__)
        if posterior[best] >= _SURE:
            return best
        cut = _middle(posterior)
        if spend <= 0 or ledger.lost(prefixes[cut]):
            return None
        used.add(cut)
        runs = ledger.gauge.step
        spend -= runs
        yield from ledger.run((Ask(prefixes[cut], runs),))


def _patience(ledger: Ledger, units: int) -> int:
    """Most runs: several times what a decision of this rate needs on average."""
    b = ledger.gauge.rate
    informative = b * (1 - _LEFT) ** 2
    return int(6 + 5 * log2(max(units, 2)) / max(informative, 0.1))


def _posterior(ledger: Ledger, prefixes: Sequence[Change], used: set[int]) -> list[float]:
    """For each unit, the probability that it is the turning one; uniform before the first run."""
    b = ledger.gauge.rate
    kept, changed = log(_LEFT), log((1 - _LEFT * b) / (1 - b))
    gain = [0.0] * (len(prefixes) + 1)
    for t in used:
        # units before position t are inside the prefix: if one of them turns, this prefix has turned
        tally = ledger.tally(prefixes[t])
        gain[0] += tally.same * kept + (tally.runs - tally.same) * changed
        gain[t] -= tally.same * kept + (tally.runs - tally.same) * changed
    scores = list(accumulate(gain[:-1]))
    top = max(scores)
    weights = [exp(s - top) for s in scores]
    total = sum(weights)
    return [w / total for w in weights]


def _middle(posterior: Sequence[float]) -> int:
    """The length of the prefix that holds half of the posterior, at least one unit and not all."""
    sums = list(accumulate(posterior))
    cut = min(range(len(sums) - 1), key=lambda i: abs(sums[i] - 0.5))
    return cut + 1
