"""Pass E: from a hot piece down to the sentence."""

from __future__ import annotations

from runtape.attribution.claims import claim, claim_set
from runtape.attribution.confirm import confirm
from runtape.attribution.ledger import Ledger, Steps, alone
from runtape.attribution.protocol import Ask, UnfoldNote
from runtape.attribution.roles import Rank, by_promise, rank
from runtape.attribution.screen import is_hot
from runtape.attribution.sets import leaves, smallest_set

_SURE = 0.8
"""Posterior at which one child is followed without more runs."""
_STRONG = 4.0
"""Score at which a child is followed even when a brother is as strong."""
_REMOTE = 0.02
"""Posterior below which a child gets no more runs while others are likelier."""


def narrow(ledger: Ledger, piece: int, above: tuple[int, ...] = ()) -> Steps[bool]:
    """Claim the smallest parts of a hot piece that hold, the piece itself if none does.

    Depth first, the most promising child first; ends at the first cause. No confirmation between levels: a
    wrong turn is noticed at the leaf, and costs less than confirming every level. `above` are the pieces
    passed on the way. Returns whether anything was claimed.
    """
    path = (*above, piece)
    claimed = False
    if children := ledger.tree.children(piece):
        yield UnfoldNote(piece)
        yield from race(ledger, children)
        hot = [c for c in children if is_hot(ledger, alone(c))]
        for child in by_promise(ledger, hot):
            claimed |= yield from narrow(ledger, child, path)
            if ledger.explained:
                return True
    if claimed:
        return True
    settled = yield from confirm(ledger, alone(piece))
    if settled is None:
        return False
    if children and rank(ledger, settled.change) is not Rank.MISSED:
        found = yield from smallest_set(ledger, leaves(ledger, piece))
        if found and not found.diffuse and (yield from claim_set(ledger, found)):
            return True
    yield from claim(ledger, settled, path)
    return True


def race(ledger: Ledger, children: tuple[int, ...]) -> Steps[None]:
    """One run a round of the children that may be the one, until one stands out or none is left.

    The parent is hot, so a child is likely to be; each child's posterior is its likelihood ratio over the sum
    of all of them plus one for "none of them alone".
    """
    runs = 2 if ledger.options.wide else ledger.gauge.step
    running = list(children)
    while running:
        yield from ledger.run(Ask(alone(c), runs) for c in running)
        running = _undecided(ledger, children)


def _undecided(ledger: Ledger, children: tuple[int, ...]) -> list[int]:
    gauge = ledger.gauge
    tallies = {c: ledger.tally(alone(c)) for c in children}
    odds = {c: gauge.odds(t) for c, t in tallies.items()}
    total = 1 + sum(odds.values())
    best = max(children, key=odds.__getitem__)
    if gauge.hot(tallies[best]) and (
        odds[best] >= _SURE * total or gauge.score(tallies[best]) >= _STRONG
    ):
        return []
    return [
        c
        for c, tally in tallies.items()
        if odds[c] >= _REMOTE * total
        and not gauge.clear(tally)
        and tally.runs < gauge.most
        and not ledger.lost(alone(c))
    ]
