"""Pass G: causes that no single piece shows.

*Redundant*: each of several texts is enough, so that the decision survives the loss of any one of them. Removing
everything else at once turns it, and :mod:`~runtape.attribution.sets` finds the smallest set that does.
*Masked*: a text is at odds with a neighbour, so that removing their whole piece changes nothing. Removing the same
part of every piece at once parts the two: as rows (the j-th part of every piece) or as columns (the i-th part of
every such part), for two leaves of one piece differ in one or the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from runtape.attribution.claims import claim_set
from runtape.attribution.ledger import Ledger, Steps
from runtape.attribution.narrow import narrow
from runtape.attribution.protocol import Change
from runtape.attribution.screen import assess, is_hot
from runtape.attribution.sets import Found, leaves, smallest_set

_CAP = 250
"""Most calls of this pass."""


def combine(ledger: Ledger, pieces: Sequence[int]) -> Steps[None]:
    """Look for a set, then for a masked cause, among pieces that have no effect of their own."""
    ends = ledger.calls + _CAP
    pieces = yield from _keep_looked_up(ledger, pieces)
    if is_hot(ledger, Change(frozenset(pieces))):
        found = yield from smallest_set(
            ledger, [x for p in pieces for x in leaves(ledger, p)], ends
        )
        yield from _claim_found(ledger, found, ends)
    if not ledger.explained:
        yield from _search_masked(ledger, pieces, ends)


def _keep_looked_up(ledger: Ledger, pieces: Sequence[int]) -> Steps[list[int]]:
    """Remove all the pieces at once; those whose lookup the model then repeats stay in, and again."""
    pieces = list(pieces)
    while pieces:
        change = Change(frozenset(pieces))
        yield from assess(ledger, (change,))
        again = ledger.lookups(change)
        if not is_hot(ledger, change) or again.isdisjoint(pieces):
            break
        pieces = [p for p in pieces if p not in again]
    return pieces


def _search_masked(ledger: Ledger, pieces: Sequence[int], ends: float) -> Steps[None]:
    groups = [Change(frozenset(g)) for g in rows_and_columns(ledger, pieces)]
    yield from assess(ledger, groups)
    hot = [g for g in groups if is_hot(ledger, g)]
    for group in sorted(hot, key=lambda g: -ledger.gauge.score(ledger.tally(g))):
        found = yield from smallest_set(ledger, sorted(group.pieces), ends)
        if found is not None and not found.diffuse:
            yield from _claim_found(ledger, found, ends)
        if ledger.explained:
            return


def _claim_found(ledger: Ledger, found: Found | None, ends: float) -> Steps[None]:
    if found is None:
        return
    if len(found.members) == 1:
        yield from narrow(ledger, found.members[0])
        return
    small = [x for m in found.members for x in leaves(ledger, m)]
    if not found.diffuse and len(small) > len(found.members):
        found = (yield from smallest_set(ledger, small, ends)) or found
    yield from claim_set(ledger, found)


def rows_and_columns(ledger: Ledger, pieces: Sequence[int]) -> list[list[int]]:
    """The j-th part of every piece, for each j; the i-th part of every such part, for each i."""
    rows: dict[int, list[int]] = defaultdict(list)
    columns: dict[int, list[int]] = defaultdict(list)
    for piece in pieces:
        for j, part in enumerate(ledger.tree.children(piece)):
            rows[j].append(part)
            for i, small in enumerate(ledger.tree.children(part)):
                columns[i].append(small)
    return [*rows.values(), *columns.values()]
