"""Pass F: the only place where anything is claimed."""

from __future__ import annotations

from dataclasses import dataclass

from runtape.attribution.ledger import Ledger, Steps
from runtape.attribution.protocol import Ask, Change
from runtape.trials import Tally


@dataclass(frozen=True, slots=True)
class Settled:
    """A passed test."""

    change: Change
    tally: Tally
    p: float | None


def confirm(ledger: Ledger, change: Change, most: int | None = None) -> Steps[Settled | None]:
    """Test a change at the looks until it passes, looks harmless (score ≤ 0), or the looks end.

    One-sided Fisher exact test of its evidence against the frozen baseline, at look sizes only. `most` ends
    the test at that many runs.
    """
    yield from ledger.freeze()
    if not ledger.take_slot(change):
        return None
    while True:
        tally, gauge = ledger.evidence(change), ledger.gauge
        if gauge.claims(tally):
            return Settled(change, tally, gauge.p(tally))
        look = gauge.next_look(tally)
        harmless = tally.runs >= gauge.first and gauge.score(tally) <= 0
        if look is None or harmless or ledger.lost(change) or (most is not None and look > most):
            return None
        yield from ledger.run((Ask(change, look - tally.runs),))
