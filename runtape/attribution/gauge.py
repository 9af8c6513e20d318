"""How a tally is read: a score that steers the search, and the test that alone can claim."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

from runtape.attribution.facts import Mode
from runtape.evidence import CONSISTENT, Looks, fisher_less
from runtape.trials import Tally

DROPS = ((0.02, 0.4), (0.15, 0.3), (0.4, 0.3))
"""(share of the baseline rate that is left, weight): what losing a cause usually looks like."""

_DOUBT = 0.95
"""A rate is not taken for higher than this: one stray reply must not settle anything."""
_NOTHING = Tally()
_CERTAIN = 9.0
"""Score of one run at temperature 0, either way: beyond every threshold."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """Reads tallies against one baseline.

    Attributes:
        mode: how the decision behaves.
        baseline: the unchanged context.
        looks: sizes at which a claim may be made (unused at temperature 0).
        alpha, slots: family-wise error, and over how many variants.
    """

    mode: Mode
    baseline: Tally
    looks: Looks = CONSISTENT
    alpha: float = 0.05
    slots: int = 40

    @property
    def first(self) -> int:
        """Runs in the first round of a variant; a spotless baseline makes one reply telling."""
        if self.mode is Mode.INTERMITTENT:
            return 4
        return 1 if self.spotless else 2

    @property
    def step(self) -> int:
        """Runs in each further round."""
        return 2 if self.mode is Mode.INTERMITTENT else 1

    @property
    def most(self) -> int:
        """Runs after which screening of a variant ends, hot or not."""
        return 1 if self.mode is Mode.DETERMINISTIC else 14

    @property
    def spotless(self) -> bool:
        """Whether every run of the baseline made the decision."""
        return self.baseline.same == self.baseline.runs

    @property
    def rate(self) -> float:
        """The baseline rate as scores take it: smoothed by half a run, and never quite certain."""
        if self.mode is Mode.DETERMINISTIC:
            return 0.999
        return min((self.baseline.same + 0.5) / (self.baseline.runs + 1), _DOUBT)

    def score(self, tally: Tally, like: Tally = _NOTHING) -> float:
        """λ: log likelihood ratio of "this is a cause" to "this does nothing".

        For order and stopping only. A mixture over what a cause leaves of the baseline rate; with
        `like`, what it left in those runs (of a set or whole that holds this) weighs the mixture:
        I. J. Good, "Weight of evidence: a brief survey", 1985.
        """
        if self.mode is Mode.DETERMINISTIC:
            return _CERTAIN * (tally.runs - 2 * tally.same)
        prior = [weight * exp(self.score_of(left, like)) for left, weight in DROPS]
        odds = (
            p * exp(self.score_of(left, tally)) for p, (left, _) in zip(prior, DROPS, strict=True)
        )
        return log(sum(odds) / sum(prior))

    def score_of(self, left: float, tally: Tally) -> float:
        """Log likelihood ratio of "the rate fell to this share" to "it did not fall"."""
        b = self.rate
        changed = tally.runs - tally.same
        return tally.same * log(left) + changed * log((1 - left * b) / (1 - b))

    def level(self, runs: int) -> float:
        """The p that a claim must reach with so many runs; 0 where no claim can be made."""
        return self.looks.level(runs, self.alpha, self.slots)

    @property
    def highest_level(self) -> float | None:
        """The least strict level of all looks; None at temperature 0, where there is no p."""
        if self.mode is Mode.DETERMINISTIC:
            return None
        return max(self.level(size) for size in self.looks.sizes)

    def odds(self, tally: Tally, like: Tally = _NOTHING) -> float:
        """The likelihood ratio behind :meth:`score`, capped so that sums stay finite."""
        return exp(min(self.score(tally, like), 60.0))

    def hot(self, tally: Tally) -> bool:
        """Whether the tally points to an effect."""
        return self.score(tally) >= 1.5  # noqa: PLR2004 - odds of 4.5 to 1

    def clear(self, tally: Tally) -> bool:
        """Whether the tally points to no effect, as far as screening cares.

        One kept decision is enough for that when the baseline is spotless (what is missed so is
        looked for again among sets), two when it has misses; of an intermittent decision runs are
        dear.
        """
        sparing = self.spotless or self.mode is Mode.INTERMITTENT
        return self.score(tally) <= (-1.5 if sparing else -2.8)

    def p(self, tally: Tally) -> float | None:
        """One-sided Fisher p that the decision was made less often; None at temperature 0."""
        if self.mode is Mode.DETERMINISTIC:
            return None
        return fisher_less(tally.same, tally.runs, self.baseline.same, self.baseline.runs)

    def claims(self, tally: Tally) -> bool:
        """Whether this tally, seen at this size, settles a claim."""
        if self.mode is Mode.DETERMINISTIC:
            return tally.runs >= 2 and tally.same == 0  # noqa: PLR2004 - "2 of 2"
        return self._passes(tally)

    def next_look(self, tally: Tally) -> int | None:
        """The next size at which a claim is still possible, or None.

        Looks that even an unbroken run of changed decisions could not pass are left out: they cost
        a round and cannot claim.
        """
        if self.mode is Mode.DETERMINISTIC:
            return 2 if tally.same == 0 and tally.runs < 2 else None  # noqa: PLR2004
        for size in self.looks.sizes:
            if size > tally.runs and self._passes(Tally(tally.same, size)):
                return size
        return None

    def _passes(self, tally: Tally) -> bool:
        p = fisher_less(tally.same, tally.runs, self.baseline.same, self.baseline.runs)
        return p <= self.level(tally.runs)

    def halves(self, tally: Tally) -> bool:
        """Whether the decision became at least twice as rare: causes do that, nudges do not."""
        return 2 * tally.same * self.baseline.runs <= tally.runs * self.baseline.same
