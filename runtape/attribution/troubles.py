"""What went wrong on the way to a result, as warning codes and numbers.

========================  ====================================================================
code                      numbers
========================  ====================================================================
``call_errors``           ``errors`` failed of ``requests`` requests
``no_answers``            ``cut``, ``refusal``, ``empty`` of ``runs`` replies were no answer
``calls_as_text``         ``count`` of ``runs`` replies wrote a tool call as text
``choices_ignored``       the server gave one choice where several were asked for
``unreachable``           ``refs`` that cannot be taken out without breaking the request
``fidelity``              request part → ``assumed`` or ``missing``
========================  ====================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from runtape.attribution.facts import Warned
from runtape.attribution.observations import Observations
from runtape.attribution.variants import Variants
from runtape.context.context import Context
from runtape.decision import Outcome, OutcomeKind
from runtape.models.scheduler import Scheduler

_FEW = 2
"""Once is no rate."""
_ERRORS_MATTER = 0.05
"""Share of requests: runs that are missing make every count smaller."""
_SILENCE_MATTERS = 0.1
"""Share of replies: each is a run that neither made the decision nor decided otherwise."""
_NO_ANSWER = (OutcomeKind.CUT, OutcomeKind.REFUSAL, OutcomeKind.EMPTY)


def troubles(
    context: Context, scheduler: Scheduler, variants: Variants, observed: Observations
) -> Iterator[Warned]:
    """Warnings about the request, the model and the calls."""
    inexact = {part: how for part, how in context.request.fidelity.items() if how != "exact"}
    if inexact:
        yield Warned("fidelity", dict(inexact))
    if variants.unreachable:
        yield Warned("unreachable", {"refs": [piece.ref for piece in variants.unreachable]})
    if scheduler.choices_ignored:
        yield Warned("choices_ignored")
    yield from _failed_calls(scheduler)
    yield from _odd_replies(observed.all_outcomes())


def _failed_calls(scheduler: Scheduler) -> Iterator[Warned]:
    spent = scheduler.spent
    if spent.errors >= max(_FEW, _ERRORS_MATTER * spent.requests):
        yield Warned("call_errors", {"errors": spent.errors, "requests": spent.requests})


def _odd_replies(outcomes: list[Outcome]) -> Iterator[Warned]:
    runs = len(outcomes)
    kinds = Counter(outcome.kind for outcome in outcomes if outcome.kind in _NO_ANSWER)
    if kinds.total() >= max(_FEW, _SILENCE_MATTERS * runs):
        counts = {kind.value: kinds[kind] for kind in _NO_ANSWER}
        yield Warned("no_answers", {**counts, "runs": runs})
    written = sum(outcome.as_text for outcome in outcomes)
    if written:
        yield Warned("calls_as_text", {"count": written, "runs": runs})
