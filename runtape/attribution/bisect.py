"""Which unit of an ordered list turns the decision, when all of them together do?

Probabilistic bisection (M. Horstein, "Sequential transmission using noiseless feedback", 1963; M.
Burnashev and K. Zigangirov, "An interval estimation problem for controlled observations", 1974):
keep a posterior over the turning unit, remove the prefix that halves it, update, until one unit
stands out. No step is ever decided, so none can be decided wrongly; a consistent model needs about
log₂(units) + 2 runs, a noisy one more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import exp, log, log2

from runtape.attribution.gauge import DROPS
from runtape.attribution.ledger import Ledger, Steps
from runtape.attribution.protocol import Ask, Change

_SURE, _SURE_SPOTLESS = 0.95, 0.9
"""Posterior at which an answer is taken. Wrong ones come to light later, at little cost when
replies are steady.
"""
_COMPLETE = 1.0
"""Prior odds that what is already out turns the decision by itself."""


def find_turning(
    ledger: Ledger, units: Sequence[int], fixed: frozenset[int] = frozenset()
) -> Steps[int | None]:
    """Length of the shortest prefix whose removal, besides `fixed`, turns the decision.

    Its last unit is needed. 0: `fixed` turns it alone. None when the runs end before one answer
    stands out. The caller knows that removing all units turns it.
    """
    prior = [_COMPLETE if fixed else 0.0, *(1 / len(units) for _ in units)]
    used = {len(units): _prefix(units, len(units), fixed)}
    spend = _patience(ledger, len(units))
    sure = _SURE_SPOTLESS if ledger.gauge.spotless else _SURE
    while True:
        posterior = _posterior(ledger, prior, used)
        best = max(range(len(prior)), key=posterior.__getitem__)
        if posterior[best] >= sure:
            return best
        cuts = {
            t: used.get(t) or _prefix(units, t, fixed)
            for t in _cuts(posterior, 3 if ledger.options.wide else 1)
        }
        spend -= ledger.gauge.step
        if spend < 0 or any(map(ledger.lost, cuts.values())):
            return None
        used |= cuts
        yield from ledger.run(Ask(change, ledger.gauge.step) for change in cuts.values())


def _prefix(units: Sequence[int], length: int, fixed: frozenset[int]) -> Change:
    return Change(fixed.union(units[:length]))


def _patience(ledger: Ledger, units: int) -> int:
    """Most rounds' runs: several times what a decision of this rate needs on average."""
    return int((6 + 5 * log2(units + 1)) / max(ledger.gauge.rate, 0.2))


def _posterior(ledger: Ledger, prior: Sequence[float], used: Mapping[int, Change]) -> list[float]:
    """For each length, the probability that it is the shortest that turns the decision.

    What is left of the rate once it has turned is not known, but it is the same for every prefix:
    the posterior is a mixture over it.
    """
    mixture = [0.0] * len(prior)
    for left, weight in DROPS:
        gain = [log(weight), *(0.0 for _ in prior)]
        for length, change in used.items():
            # a shortest length up to this one means that this prefix has turned the decision
            score = ledger.gauge.score_of(left, ledger.tally(change))
            gain[0] += score
            gain[length + 1] -= score
        scores = accumulate(gain[:-1])
        mixture = [
            m + p * exp(min(s, 600.0)) for m, p, s in zip(mixture, prior, scores, strict=True)
        ]
    total = sum(mixture)
    return [m / total for m in mixture]


def _cuts(posterior: Sequence[float], parts: int) -> set[int]:
    """The lengths that split the posterior into equal parts; never all units, which turn it."""
    sums = list(accumulate(posterior))[:-1]
    first = 0 if posterior[0] > 0 else 1
    shares = [(part + 1) / (parts + 1) for part in range(parts)]
    return {min(range(first, len(sums)), key=lambda t: abs(sums[t] - share)) for share in shares}
