"""A trial: one changed context, sampled some times, and the tally of what the model did.

Everything above (search, fixes, reports) speaks of trials; everything below (models, cache) only of
bodies and replies.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from runtape.decision import Outcome


@dataclass(frozen=True, slots=True)
class Tally:
    """How often the decision was made again in `runs` runs of one variant.

    Failed calls are not in `runs`: an error is no evidence that anything changed.
    """

    same: int = 0
    runs: int = 0

    @property
    def rate(self) -> float | None:
        """Share of runs with the same decision; None without runs."""
        return self.same / self.runs if self.runs else None


@dataclass(slots=True)
class Observed:
    """All outcomes of one variant so far, in sample order."""

    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def tally(self) -> Tally:
        """Same decisions among the outcomes."""
        return Tally(sum(o.same for o in self.outcomes), len(self.outcomes))
