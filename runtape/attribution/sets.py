"""The smallest set of texts whose removal turns the decision: redundant causes, each of them enough.

A delta-debugging problem (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002) with
a noisy test. Prefix by prefix, as in QuickXplain (Junker 2004): the last unit of the shortest prefix that
turns the decision is needed; keep it out and look before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from runtape.attribution.bisect import find_turning
from runtape.attribution.ledger import Ledger, Steps
from runtape.attribution.protocol import Change
from runtape.attribution.screen import assess, is_hot

_LARGEST = 6
"""Members of the largest set that is still called one."""
_ALL_NEEDED = 3
"""So many units in a row that were the last of what is left: nothing is special about them."""


@dataclass(frozen=True, slots=True)
class Found:
    """A set whose removal turns the decision; `diffuse`: only by its sheer size."""

    members: tuple[int, ...]
    diffuse: bool = False

    @property
    def change(self) -> Change:
        """The context without the set."""
        return Change(frozenset(self.members))


def leaves(ledger: Ledger, piece: int) -> list[int]:
    """The smallest parts of a piece, in reading order; the piece itself if it has none."""
    parts = ledger.tree.children(piece)
    return [leaf for part in parts for leaf in leaves(ledger, part)] if parts else [piece]


def smallest_set(ledger: Ledger, units: Sequence[int], ends: float = inf) -> Steps[Found | None]:
    """The smallest set among units that together turn the decision.

    None when no set stands out, or when the ledger's calls pass `ends`. Another order of the units can lead to
    another set, and out of a wrong turn.
    """
    found = yield from _collect(ledger, list(units), ends)
    if found is None or found.diffuse:
        return found
    return (yield from _drop_needless(ledger, found))


def _collect(ledger: Ledger, units: list[int], ends: float) -> Steps[Found | None]:
    everything = tuple(units)
    members: tuple[int, ...] = ()
    in_a_row = 0
    while units and ledger.calls < ends:
        turning = yield from find_turning(ledger, units, frozenset(members))
        if turning is None:
            return None
        in_a_row = in_a_row + 1 if turning == len(units) - 1 else 0
        members += (units[turning],)
        if in_a_row >= _ALL_NEEDED or len(members) > _LARGEST:
            return Found(everything, diffuse=True)
        found = Found(members)
        yield from assess(ledger, (found.change,))
        if is_hot(ledger, found.change):
            return found
        units = units[:turning]
    return None


def _drop_needless(ledger: Ledger, found: Found) -> Steps[Found]:
    """Put every member back once: one that can stay in the context is no part of the set."""
    while len(found.members) > 1:
        smaller = [Found(tuple(m for m in found.members if m != back)) for back in found.members]
        yield from assess(ledger, [s.change for s in smaller])
        enough = [s for s in smaller if is_hot(ledger, s.change)]
        if not enough:
            break
        found = max(enough, key=lambda s: ledger.gauge.score(ledger.tally(s.change)))
    return found
