"""Passes H and J: what is said about the claims after the verdict. No claim rests on anything here.

One round: the claimed texts quoted as data (what loses its power was acting as an instruction, what
keeps it is data that is needed); the same removal with another fill, where whole pieces went (does
the marker itself matter?); the headline put back alone (is it enough?); top-up of what is reported;
and a few runs of the unchanged context, to notice a model that changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from runtape.attribution.claims import merit, reread
from runtape.attribution.facts import Mode, Phase, PieceState, Role
from runtape.attribution.ledger import CAUSES, UNCHANGED, Ledger, Steps, alone
from runtape.attribution.protocol import Ask, Change, Claim, Wording
from runtape.attribution.roles import Rank, learn_need, rank
from runtape.attribution.together import together
from runtape.evidence import fisher_less
from runtape.trials import Tally

_RUNS = 5
"""Runs of a recheck; it has its answer when the first ones agree."""
_FIRST_RUNS = 3
_SENTINELS = 3
_TOP = 3
"""Claims that are rechecked."""
_DRIFT = 0.05
"""p, one-sided either way, at which the last runs disagree with the first."""


def describe(ledger: Ledger) -> Steps[None]:
    """Recheck, top up, and read the roles again."""
    yield from ledger.enter(Phase.DESCRIBE)
    causes = (c for c in ledger.claims if c.role in CAUSES)
    top = sorted(causes, key=lambda c: merit(ledger, c))[:_TOP]
    before = ledger.tally(UNCHANGED)
    yield from ledger.run(_asks(ledger, top))
    yield from ledger.run(_second_looks(ledger, top))
    yield from together(learn_need(ledger, c.change) for c in top)
    ledger.claims[:] = [_described(ledger, c) if c in top else c for c in ledger.claims]
    yield from reread(ledger)
    yield from _watch_drift(ledger, before)


def _asks(ledger: Ledger, top: list[Claim]) -> Iterator[Ask]:
    deterministic = ledger.mode is Mode.DETERMINISTIC
    yield Ask(UNCHANGED, _SENTINELS if ledger.options.drifts else 0)
    for change in _rechecks(ledger, top):
        yield Ask(change, 2 if deterministic else _FIRST_RUNS)
    for claim in () if deterministic else top:
        yield Ask(claim.change, ledger.options.runs - ledger.evidence(claim.change).runs)


def _second_looks(ledger: Ledger, top: list[Claim]) -> Iterator[Ask]:
    """More runs of the rechecks that did not come out one way."""
    for change in _rechecks(ledger, top):
        tally = ledger.tally(change)
        if 0 < tally.same < tally.runs:
            yield Ask(change, _RUNS - tally.runs)


def _rechecks(ledger: Ledger, top: list[Claim]) -> Iterator[Change]:
    for claim in top:
        yield Change(claim.change.pieces, Wording.QUOTE)
        if not claim.change.pieces.isdisjoint(ledger.tree.roots):
            yield Change(claim.change.pieces, Wording.OTHER_FILL)
    for claim in top[:1]:
        if (skeleton := _all_but(ledger, claim)) != UNCHANGED:
            yield skeleton


def _described(ledger: Ledger, claim: Claim) -> Claim:
    rechecks = tuple(
        (wording, tally)
        for wording in (Wording.OTHER_FILL, Wording.QUOTE)
        if (tally := ledger.tally(Change(claim.change.pieces, wording))).runs
    )
    skeleton = _all_but(ledger, claim)
    enough = ledger.tally(skeleton) if skeleton != UNCHANGED else Tally()
    return replace(claim, rechecks=rechecks, enough_alone=enough if enough.runs else None)


def _all_but(ledger: Ledger, claim: Claim) -> Change:
    """Everything that was read removed, except the claimed texts and what the model needs."""
    required = (c.change.pieces for c in ledger.claims if c.role is Role.REQUIRED)
    suspected = (p for p, state in ledger.states.items() if state is PieceState.SUSPECTED)
    missed = (p for p in suspected if rank(ledger, alone(p)) is Rank.MISSED)
    keep = claim.change.pieces.union(missed, *required)
    around = {step for piece in keep for step in ledger.path(piece)}
    read = [root for root in ledger.tree.roots if ledger.tree.read(root)]
    return Change(frozenset(p for root in read for p in _outside(ledger, root, keep, around)))


def _outside(
    ledger: Ledger, piece: int, keep: AbstractSet[int], around: AbstractSet[int]
) -> Iterator[int]:
    """The largest parts of a piece that hold nothing of `keep`; `around` holds something of it."""
    if piece not in around:
        yield piece
    elif piece not in keep:
        for part in ledger.parts(piece):
            yield from _outside(ledger, part, keep, around)


def _watch_drift(ledger: Ledger, before: Tally) -> Steps[None]:
    after = ledger.tally(UNCHANGED)
    last, runs = after.same - before.same, after.runs - before.runs
    first = ledger.baseline
    rarer = fisher_less(last, runs, first.same, first.runs)
    oftener = fisher_less(runs - last, runs, first.runs - first.same, first.runs)
    if min(rarer, oftener) <= _DRIFT:
        yield from ledger.warn_once("drift", same=last, runs=runs)
