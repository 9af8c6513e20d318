"""Pass F: the only place where anything is claimed."""

from __future__ import annotations

from dataclasses import dataclass

from runtape.attribution.ledger import Ledger, Steps
from runtape.attribution.protocol import Ask, Change
from runtape.trials import Tally

SLOTS_SPENT = "slots_spent"
"""Warning: more changed contexts looked suspicious than the level is corrected for."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A passed test: the change, and tally and p at the look that settled it."""

    change: Change
    tally: Tally
    p: float | None


def confirm(ledger: Ledger, change: Change, *, looks: int | None = None) -> Steps[Settled | None]:
    """Test a change until it passes, looks harmless (score ≤ 0), or the looks end.

    One-sided Fisher exact test of its evidence against the frozen baseline, at look sizes only.
    `looks`: at most so many more rounds.
    """
    if not ledger.take_slot(change):
        yield from ledger.warn_once(SLOTS_SPENT, slots=ledger.options.slots)
        return None
    while True:
        gauge, tally = ledger.gauge, ledger.evidence(change)
        if gauge.claims(tally):
            return Settled(change, tally, gauge.p(tally))
        look = gauge.next_look(tally)
        harmless = tally.runs >= gauge.first and gauge.score(tally) <= 0
        if look is None or harmless or looks == 0 or ledger.lost(change):
            return None
        looks = None if looks is None else looks - 1
        yield from ledger.run((Ask(change, look - tally.runs),))
