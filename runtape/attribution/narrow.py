"""Pass E: from a hot piece down to the sentence."""

from __future__ import annotations

from runtape.attribution.confirm import Settled, confirm
from runtape.attribution.facts import Role
from runtape.attribution.ledger import Ledger, Steps, alone
from runtape.attribution.protocol import Ask, UnfoldNote
from runtape.attribution.roles import by_promise, role_of

_SURE = 0.8
"""Posterior at which one child is followed without more runs."""
_STRONG = 4.0
"""Score at which a child is followed even when a brother is as strong."""


def narrow(ledger: Ledger, piece: int) -> Steps[list[Settled]]:
    """Settle the smallest parts of a hot piece that hold, the piece itself if none does.

    Depth first, the most promising child first; stops at the first cause. No confirmation between levels: a
    wrong turn is noticed at the leaf, and costs less than confirming every level.
    """
    found: list[Settled] = []
    if children := ledger.tree.children(piece):
        yield UnfoldNote(piece)
        yield from race(ledger, children)
        hot = [c for c in children if ledger.gauge.hot(ledger.tally(alone(c)))]
        for child in by_promise(ledger, hot, alone):
            found += yield from narrow(ledger, child)
            if any(role_of(ledger, s.change) is Role.CAUSE for s in found):
                return found
    if not found:
        settled = yield from confirm(ledger, alone(piece))
        if settled:
            found.append(settled)
    return found


def race(ledger: Ledger, children: tuple[int, ...]) -> Steps[None]:
    """One run a round of the children that may be the one, until one stands out or all are clear.

    The parent is hot, so a child is likely to be; each child's posterior is its likelihood ratio over the sum
    of all of them plus one for "none of them alone".
    """
    gauge = ledger.gauge
    step = 2 if ledger.options.wide else gauge.step
    yield from ledger.run(Ask(alone(c), step) for c in children)
    while True:
        gauge = ledger.gauge
        tallies = {c: ledger.tally(alone(c)) for c in children}
        odds = {c: gauge.odds(t) for c, t in tallies.items()}
        total = 1 + sum(odds.values())
        best = max(children, key=lambda c: odds[c])
        if gauge.hot(tallies[best]) and (
            odds[best] / total >= _SURE or gauge.score(tallies[best]) >= _STRONG
        ):
            return
        asks = [
            Ask(alone(c), step)
            for c in children
            if odds[c] / total >= 0.02  # noqa: PLR2004
            and not gauge.clear(tallies[c])
            and tallies[c].runs < gauge.most
            and not ledger.lost(alone(c))
        ]
        if not asks:
            return
        yield from ledger.run(asks)
