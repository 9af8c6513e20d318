"""Which unit of an ordered list turns the decision, when all of them together do?

Probabilistic bisection (M. Horstein, "Sequential transmission using noiseless feedback", 1963; M. Burnashev and
K. Zigangirov, "An interval estimation problem for controlled observations", 1974): keep a posterior over the
turning unit, remove the prefix that halves it, update, until one unit stands out. No step is ever decided, so
none can be decided wrongly; a consistent model needs about log₂(units) + 2 runs, a noisy one more.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import exp, log, log2

from runtape.attribution.gauge import DROPS
from runtape.attribution.ledger import Ledger, Steps
from runtape.attribution.protocol import Ask, Change

_SURE = 0.95
"""Posterior at which a unit is taken for the turning one."""


def find_turning(
    ledger: Ledger, units: Sequence[int], fixed: frozenset[int] = frozenset()
) -> Steps[int | None]:
    """Position of the last unit of the shortest prefix whose removal, besides `fixed`, turns the decision.

    None when the runs end before one stands out. The caller knows that removing all units turns it.
    """
    prefixes = [Change(fixed | frozenset(units[:t])) for t in range(len(units) + 1)]
    used = {len(units)}
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
        spend -= ledger.gauge.step
        yield from ledger.run((Ask(prefixes[cut], ledger.gauge.step),))


def _patience(ledger: Ledger, units: int) -> int:
    """Most runs: several times what a decision of this rate needs on average."""
    return int((6 + 5 * log2(units + 1)) / max(ledger.gauge.rate, 0.2))


def _posterior(ledger: Ledger, prefixes: Sequence[Change], used: set[int]) -> list[float]:
    """For each unit, the probability that it is the turning one; uniform before the first run.

    What is left of the rate once it has turned is not known, but it is the same for every prefix: the
    posterior is a mixture over it.
    """
    mixture = [0.0] * (len(prefixes) - 1)
    for left, weight in DROPS:
        gain = [log(weight), *(0.0 for _ in prefixes)]
        for t in used:
            # the turning unit is inside the prefix, so its removal has turned: units before t gain
            score = ledger.gauge.score_of(left, ledger.tally(prefixes[t]))
            gain[0] += score
            gain[t] -= score
        scores = list(accumulate(gain))
        mixture = [m + exp(min(s, 600.0)) for m, s in zip(mixture, scores, strict=False)]
    total = sum(mixture)
    return [m / total for m in mixture]


def _middle(posterior: Sequence[float]) -> int:
    """The length of the prefix that holds half of the posterior; at least one unit, and not all."""
    sums = list(accumulate(posterior))
    return 1 + min(range(len(sums) - 1), key=lambda i: abs(sums[i] - 0.5))
