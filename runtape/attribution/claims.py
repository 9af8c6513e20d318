"""From passed tests to claims: their roles, and which of them answers the question."""

from __future__ import annotations

from dataclasses import replace

from runtape.attribution.confirm import Settled, confirm
from runtape.attribution.facts import PieceState, Role
from runtape.attribution.ledger import CAUSES, Ledger, Steps, alone
from runtape.attribution.protocol import Change, Claim, Reaction, Wording
from runtape.attribution.roles import learn_need, role_of
from runtape.attribution.screen import is_hot
from runtape.attribution.sets import Found

_STATES = {Role.REQUIRED: PieceState.REQUIRED, Role.CONTRIBUTES: PieceState.CONTRIBUTES}
_LASTING = frozenset((Role.CONTRIBUTES, Role.DIFFUSE))
"""Roles that further replies do not change."""


def claim(ledger: Ledger, settled: Settled, *, diffuse: bool = False) -> Steps[None]:
    """Claim what passed its test, with the levels that led down to it."""
    yield from learn_need(ledger, settled.change)
    role = role_of(ledger, settled.change, settled.tally)
    if diffuse and role in CAUSES:
        role = Role.DIFFUSE
    steps = [(p, ledger.tally(alone(p))) for p in _path(ledger, settled.change)]
    made = Claim(
        change=settled.change,
        role=role,
        headline=role in CAUSES and not ledger.explained,
        without=settled.tally,
        p=settled.p,
        level=ledger.gauge.level(settled.tally.runs) or None,
        claimed_at=settled.tally,
        claimed_p=settled.p,
        narrowed=tuple((piece, tally) for piece, tally in steps if tally.runs),
    )
    yield from _mark(ledger, made)
    yield from ledger.add_claim(made)


def claim_set(ledger: Ledger, found: Found) -> Steps[bool]:
    """Test a set on fresh runs and claim it: what was seen while looking for it was selected."""
    settled = yield from confirm(ledger, found.change)
    if settled is not None:
        yield from claim(ledger, settled, diffuse=found.diffuse)
    return settled is not None


def reread(ledger: Ledger) -> Steps[None]:
    """Give every claim the role that all of its runs show, and the headline to the best."""
    narrower = {(step, c.role) for c in ledger.claims for step, _ in c.narrowed[:-1]}
    claims = [
        c
        if c.role in _LASTING
        else replace(c, role=role_of(ledger, c.change, ledger.evidence(c.change)), headline=False)
        for c in ledger.claims
        if not any((piece, c.role) in narrower for piece in c.change.pieces)
    ]
    single = [c for c in claims if c.role in (Role.CAUSE, Role.MASKED)]
    if len(single) > 1:  # each of them is needed: they cause it together
        claims = [replace(c, role=Role.JOINT) if c in single else c for c in claims]
    causes = [c for c in claims if c.role in CAUSES]
    best = min(causes, key=lambda c: merit(ledger, c), default=None)
    ledger.claims[:] = [replace(c, headline=c is best) for c in claims]
    for made in ledger.claims:
        yield from _mark(ledger, made)


def merit(ledger: Ledger, made: Claim) -> tuple[bool, bool, bool, bool, float]:
    """Order of claims as answers, best first.

    Narrowed as far as it goes, another call instead, read rather than given, disarmed by quoting,
    effect.
    """
    pieces = made.change.pieces
    instead = ledger.instead(made.change)
    quoted = ledger.tally(Change(pieces, Wording.QUOTE))
    return (
        any(map(ledger.parts, pieces)),
        instead[Reaction.OTHER_CALL] < instead[Reaction.STOPS],
        not any(map(ledger.tree.read, pieces)),
        not quoted.runs or not ledger.gauge.halves(quoted),
        ledger.evidence(made.change).rate or 0.0,
    )


def _path(ledger: Ledger, change: Change) -> tuple[int, ...]:
    return ledger.path(next(iter(change.pieces))) if len(change.pieces) == 1 else ()


def _mark(ledger: Ledger, made: Claim) -> Steps[None]:
    """Show the role on the claimed pieces, and on what holds them where its removal matters too."""
    if made.role is Role.DIFFUSE:
        return
    around = (piece for piece, _ in made.narrowed if is_hot(ledger, alone(piece)))
    state = _STATES.get(made.role, PieceState.CAUSE)
    yield from ledger.mark({*around, *made.change.pieces}, state)
