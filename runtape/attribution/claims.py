"""From passed tests to claims: the role, and whether the claim answers the question."""

from __future__ import annotations

from runtape.attribution.confirm import Settled, confirm
from runtape.attribution.facts import PieceState, Role
from runtape.attribution.ledger import CAUSES, Ledger, Steps, alone
from runtape.attribution.protocol import Claim
from runtape.attribution.roles import Rank, rank
from runtape.attribution.screen import is_hot
from runtape.attribution.sets import Found

_STATES = {Role.REQUIRED: PieceState.REQUIRED, Role.CONTRIBUTES: PieceState.CONTRIBUTES}


def claim(ledger: Ledger, settled: Settled) -> Steps[None]:
    """Claim one piece, with the levels that led down to it."""
    (piece,) = settled.change.pieces
    path = ledger.path(piece)
    role = _role(ledger, settled)
    if role is Role.CAUSE and not is_hot(ledger, alone(path[0])):
        role = Role.MASKED
    yield from _add(ledger, settled, role, path)


def claim_set(ledger: Ledger, found: Found) -> Steps[bool]:
    """Test a set on fresh runs and claim it: what was seen while looking for it was selected."""
    settled = yield from confirm(ledger, found.change)
    if settled is None:
        return False
    role = _role(ledger, settled)
    if role is Role.CAUSE:
        role = Role.DIFFUSE if found.diffuse else Role.EACH_ENOUGH
    yield from _add(ledger, settled, role, ())
    return True


def _role(ledger: Ledger, settled: Settled) -> Role:
    """What a significant drop shows the removed pieces to be."""
    if not ledger.gauge.halves(settled.tally):
        return Role.CONTRIBUTES
    required = rank(ledger, settled.change) in (Rank.MISSED, Rank.GIVEN_STOPS)
    return Role.REQUIRED if required else Role.CAUSE


def _add(ledger: Ledger, settled: Settled, role: Role, path: tuple[int, ...]) -> Steps[None]:
    steps = [(p, tally) for p in path if (tally := ledger.tally(alone(p))).runs]
    around = (p for p, _ in steps if is_hot(ledger, alone(p)))
    state = _STATES.get(role, PieceState.CAUSE)
    if role is not Role.DIFFUSE:
        yield from ledger.mark({*around, *settled.change.pieces}, state)
    yield from ledger.add_claim(
        Claim(
            change=settled.change,
            role=role,
            headline=role in CAUSES and not ledger.explained,
            without=settled.tally,
            p=settled.p,
            level=ledger.gauge.level(settled.tally.runs) or None,
            claimed_at=settled.tally,
            claimed_p=settled.p,
            narrowed=tuple(steps),
        )
    )
