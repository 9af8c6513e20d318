"""Pass E: from a hot piece down to the sentence."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from runtape.attribution.claims import claim, claim_set
from runtape.attribution.confirm import confirm
from runtape.attribution.ledger import Ledger, Steps, alone
from runtape.attribution.protocol import UnfoldNote
from runtape.attribution.roles import Rank, by_promise, rank
from runtape.attribution.screen import is_hot, race
from runtape.attribution.sets import Found, leaves, smallest_set

_NONE = 1.0
"""Weight of "none of the parts alone", against 1 for each part before its first run."""
_NONE_OF_CONFIRMED = 0.05
"""The same weight once the parent has passed its test."""


def narrow(ledger: Ledger, piece: int, above: tuple[int, ...] = ()) -> Steps[bool]:
    """Claim the smallest parts of a hot piece that hold, the piece itself if none does.

    Depth first, the most promising child first; ends at the first cause. No confirmation between levels: a
    wrong turn is noticed at the leaf, and costs less than confirming every level. `above` are the pieces
    passed on the way. Returns whether anything was claimed.
    """
    path = (*above, piece)
    children = ledger.tree.children(piece)
    if children:
        yield UnfoldNote(piece)
        if (yield from _narrow_children(ledger, children, path, _NONE)):
            return True
    settled = yield from confirm(ledger, alone(piece))
    if settled is None:
        return False
    if children and rank(ledger, settled.change) is not Rank.MISSED:
        if (yield from _narrow_children(ledger, children, path, _NONE_OF_CONFIRMED)):
            return True
        if (yield from claim_smallest(ledger, leaves(ledger, piece), above=path)):
            return True
    yield from claim(ledger, settled, path)
    return True


def _narrow_children(
    ledger: Ledger, children: tuple[int, ...], path: tuple[int, ...], none: float
) -> Steps[bool]:
    yield from race(ledger, [alone(c) for c in children], none, alone(path[-1]))
    claimed = False
    hot = [c for c in children if is_hot(ledger, alone(c))]
    for child in by_promise(ledger, hot):
        claimed |= yield from narrow(ledger, child, path)
        if ledger.explained:
            return True
    return claimed


def claim_smallest(
    ledger: Ledger, units: Sequence[int], ends: float = inf, above: tuple[int, ...] = ()
) -> Steps[bool]:
    """Find and claim the smallest set among units that together turn the decision.

    Two orders are tried: a wrong turn in one leads to a set that its test refuses. A set that is only large is
    claimed as diffuse, when neither order gave a better one and the units are not the parts of one piece.
    """
    diffuse: Found | None = None
    for order in (list(units), list(reversed(units))):
        found = yield from smallest_set(ledger, order, ends)
        if found is not None and not found.diffuse:
            if (yield from _claim_found(ledger, found, ends, above)):
                return True
        diffuse = diffuse or found
    if diffuse is None or not diffuse.diffuse or above:
        return False
    return (yield from claim_set(ledger, diffuse))


def _claim_found(ledger: Ledger, found: Found, ends: float, above: tuple[int, ...]) -> Steps[bool]:
    if len(found.members) == 1:
        return (yield from narrow(ledger, found.members[0], above))
    small = [leaf for member in found.members for leaf in leaves(ledger, member)]
    if len(small) > len(found.members):
        return (yield from claim_smallest(ledger, small, ends, above))
    return (yield from claim_set(ledger, found))
