"""Pass C: which top-level pieces matter at all?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runtape.attribution.facts import PieceState
from runtape.attribution.ledger import Ledger, Steps, alone
from runtape.attribution.protocol import Ask, Change

_FEW = 12
"""Up to this many pieces are removed one by one."""


def screen(ledger: Ledger, pieces: Sequence[int]) -> Steps[list[int]]:
    """The pieces whose removal seems to matter, in reading order."""
    yield from assess(ledger, [alone(p) for p in pieces])
    for piece in pieces:
        hot = not ledger.gauge.clear(ledger.tally(alone(piece)))
        yield from ledger.mark((piece,), PieceState.SUSPECTED if hot else PieceState.NO_EFFECT)
    return [p for p in pieces if ledger.gauge.hot(ledger.tally(alone(p)))]


def assess(ledger: Ledger, changes: Iterable[Change]) -> Steps[None]:
    """Run each change until its score is hot or clear, or its runs end; all of them in the same rounds."""
    changes = tuple(changes)
    while asks := [ask for c in changes if (ask := next_ask(ledger, c))]:
        yield from ledger.run(asks)


def next_ask(ledger: Ledger, change: Change) -> Ask | None:
    """The next runs of a change under screening, None when it is settled."""
    gauge, tally = ledger.gauge, ledger.tally(change)
    if ledger.lost(change):
        return None
    if tally.runs < gauge.first:
        return Ask(change, gauge.first - tally.runs)
    if gauge.hot(tally) or gauge.clear(tally) or tally.runs >= gauge.most:
        return None
    return Ask(change, min(gauge.step, gauge.most - tally.runs))
