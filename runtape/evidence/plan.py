"""The sampling plan: how the baseline is measured, and when a changed context may be tested.

The family-wise error proof (:mod:`runtape.evidence.enumeration`) enumerates exactly these rules,
and the search follows exactly these rules: whoever changes a number here makes the proof run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Ending(Enum):
    """Why nothing can be explained after the baseline."""

    DID_NOT_RECUR = "did_not_recur"
    TOO_RARE = "too_rare"


@dataclass(frozen=True, slots=True)
class Looks:
    """When a changed context is compared with the baseline, and how strictly.

    Attributes:
        shares: (number of runs, share of α/M spent when they are compared), ascending. Discrete
            tests stay far below their level at most looks, so that the error over all looks stays
            below α/M although the shares add up to more: shown by enumeration, not assumed.
    """

    shares: tuple[tuple[int, float], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of runs at which Fisher's test is made."""
        return tuple(size for size, _ in self.shares)

    def level(self, size: int, alpha: float, slots: int) -> float:
        """The p to reach with `size` runs, for an error `alpha` over all `slots`; 0: no look."""
        return dict(self.shares).get(size, 0.0) * alpha / slots


def _looks(*parts: tuple[float, tuple[int, ...]]) -> Looks:
    return Looks(tuple((size, share) for share, sizes in parts for size in sizes))


# A strict middle buys late looks: of a cause that leaves a third of the rate, .97 instead of .91
# are claimed at a smaller error than with one level for looks up to 26.
CONSISTENT = _looks((0.65, (3, 4, 5, 6)), (0.4, (8, 10, 12, 15, 20, 26, 34, 44)))
CONSISTENT_WIDE = _looks((0.65, (3, 5)), (0.5, (8, 12, 18, 26, 36, 44)))
INTERMITTENT = _looks((0.3, (8, 12, 16, 20, 26, 32)), (0.5, (40, 50, 64, 80)))


@dataclass(frozen=True, slots=True)
class BaselineStep:
    """What the baseline needs next.

    Attributes:
        runs: total runs wanted; reached: the baseline is frozen (or `ending` says why not).
        looks: how changed contexts will be tested, once it is known.
        certain: it will come to that; what is still missing can be run beside other things.
        ending: set when the decision is too rare to explain.
    """

    runs: int
    looks: Looks | None = None
    certain: bool = False
    ending: Ending | None = None


def plan_baseline(kept: Sequence[bool], *, wide: bool = False) -> BaselineStep:
    """The next step after these runs of the unchanged context, in order; True: made again.

    6 runs; none → 12, none → did not recur. At least 5 of 6, or 10 of 16: consistent, 18 runs, 24
    if any missed. Else intermittent: 40 runs; under 5 → too rare; under 12 → 60. `wide`: fewer,
    larger looks.
    """
    if len(kept) < 6:  # noqa: PLR2004 - the plan's own numbers stand here and in the docstring, once each
        return BaselineStep(6)
    first = sum(kept[:6])
    if first >= 5:  # noqa: PLR2004
        return _plan_consistent(kept, CONSISTENT_WIDE if wide else CONSISTENT)
    if first == 0 and not any(kept[6:12]):
        return BaselineStep(12, ending=Ending.DID_NOT_RECUR if len(kept) >= 12 else None)  # noqa: PLR2004
    if len(kept) < 16:  # noqa: PLR2004
        return BaselineStep(16)
    if sum(kept[:16]) >= 10:  # noqa: PLR2004
        return _plan_consistent(kept, CONSISTENT_WIDE if wide else CONSISTENT)
    return _plan_intermittent(kept)


def _plan_consistent(kept: Sequence[bool], looks: Looks) -> BaselineStep:
    spotless = len(kept) < 18 or all(kept[:18])  # noqa: PLR2004
    return BaselineStep(18 if spotless else 24, looks, certain=True)


def _plan_intermittent(kept: Sequence[bool]) -> BaselineStep:
    if len(kept) < 40:  # noqa: PLR2004
        return BaselineStep(40, INTERMITTENT)
    forty = sum(kept[:40])
    if forty < 5:  # noqa: PLR2004
        return BaselineStep(40, ending=Ending.TOO_RARE)
    return BaselineStep(60 if forty < 12 else 40, INTERMITTENT, certain=True)  # noqa: PLR2004
