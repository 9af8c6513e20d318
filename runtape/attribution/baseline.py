"""Pass A: how often does the unchanged context make the decision again?

The plan is :func:`runtape.evidence.plan_baseline`. Only the runs that decide between going on and
stopping are waited for; the rest ride in the first rounds of the screening. The recorded reply
never counts: it was selected for being the decision.
"""

from __future__ import annotations

from runtape.attribution.facts import Mode, Verdict
from runtape.attribution.ledger import UNCHANGED, Ledger, Noisy, Steps
from runtape.attribution.protocol import Ask
from runtape.evidence import Ending

_ENDINGS = {Ending.DID_NOT_RECUR: Verdict.DID_NOT_RECUR, Ending.TOO_RARE: Verdict.TOO_RARE}


def measure_baseline(ledger: Ledger) -> Steps[Verdict | None]:
    """Run the unchanged context until its mode is known; a verdict when that ends the search."""
    if ledger.options.deterministic:
        while not ledger.frozen:
            yield from ledger.run((Ask(UNCHANGED, 2 - ledger.baseline.runs),))
        if ledger.gauge.mode is Mode.DETERMINISTIC and not ledger.baseline.same:
            raise Noisy  # the recording made the decision, the same call now does not
        return None
    while not ledger.step.certain:
        ending = ledger.step.ending
        if ending is not None:
            return _ENDINGS[ending]
        yield from ledger.run(())
    return None
