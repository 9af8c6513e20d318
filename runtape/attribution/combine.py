"""Pass G: causes that no single piece shows.

*Redundant*: each of several texts is enough, so that the decision survives the loss of any one of
them. Removing everything else at once turns it, and :mod:`~runtape.attribution.sets` finds the
smallest set that does. *Masked*: a text is at odds with a neighbour, so that removing their whole
piece changes nothing. Removing the same part of every piece at once parts the two: as rows (the
j-th part of every piece) or as columns (the i-th part of every such part), for two leaves of one
piece differ in one or the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from runtape.attribution.facts import Phase
from runtape.attribution.ledger import Ledger, Steps
from runtape.attribution.narrow import claim_smallest
from runtape.attribution.protocol import Change
from runtape.attribution.screen import is_hot, race
from runtape.attribution.sets import LONG, units

_NONE, _NONE_IF_INERT = 1.5, 2.0
"""Weight of "no such cause at all", against 1 for each row and column; a decision for which nothing
at all seems to matter is less likely to have one.
"""
_LINES = 8
"""Most rows, and most columns; longer pieces put every eighth part into one."""
_CAP = 250
"""Most calls of this pass."""


def combine(ledger: Ledger, pieces: Sequence[int]) -> Steps[None]:
    """Look for a set, then for a masked cause, among pieces that have no effect of their own."""
    yield from ledger.enter(Phase.COMBINE)
    ends = ledger.calls + min(_CAP, ledger.options.budget)
    pieces = yield from _keep_looked_up(ledger, pieces)
    if not pieces:
        return
    if is_hot(ledger, Change(frozenset(pieces))):
        yield from claim_smallest(ledger, units(ledger, pieces), ends=ends, or_diffuse=True)
    if not ledger.explained:
        yield from _search_masked(ledger, pieces, ends)


def _keep_looked_up(ledger: Ledger, pieces: Sequence[int]) -> Steps[list[int]]:
    """Remove all pieces at once; those whose lookup the model then repeats stay in, and again."""
    pieces = list(pieces)
    while pieces:
        change = Change(frozenset(pieces))
        yield from race(ledger, (change,), _none(ledger))
        again = ledger.lookups(change)
        if not is_hot(ledger, change) or again.isdisjoint(pieces):
            break
        pieces = [p for p in pieces if p not in again]
    return pieces


def _search_masked(ledger: Ledger, pieces: Sequence[int], ends: float) -> Steps[None]:
    lines = {Change(frozenset(line)): line for line in rows_and_columns(ledger, pieces)}
    yield from race(ledger, list(lines), _none(ledger))
    hot = [line for line in lines if is_hot(ledger, line)]
    for line in sorted(hot, key=lambda c: -ledger.gauge.score(ledger.tally(c))):
        yield from claim_smallest(ledger, lines[line], ends=ends)
        if ledger.explained:
            return


def _none(ledger: Ledger) -> float:
    return _NONE if ledger.claims else _NONE_IF_INERT


def rows_and_columns(ledger: Ledger, pieces: Sequence[int]) -> list[list[int]]:
    """The j-th part of every piece, for each j; the i-th part of every such part, for each i.

    Rows only where the text is too long to unfold it all.
    """
    short = sum(map(ledger.tree.size, pieces)) <= LONG
    rows: dict[int, list[int]] = defaultdict(list)
    columns: dict[int, list[int]] = defaultdict(list)
    for piece in pieces:
        for j, part in enumerate(ledger.parts(piece)):
            rows[j % _LINES].append(part)
            for i, small in enumerate(ledger.parts(part) if short else ()):
                columns[i % _LINES].append(small)
    return [*rows.values(), *columns.values()]
