"""From passed tests to claims: the role, and which claim answers the question."""

from __future__ import annotations

from runtape.attribution.confirm import Settled, confirm
from runtape.attribution.facts import PieceState, Role
from runtape.attribution.ledger import CAUSES, Ledger, Steps, alone
from runtape.attribution.protocol import Claim
from runtape.attribution.roles import Rank, rank
from runtape.attribution.screen import is_hot
from runtape.attribution.sets import Found

_STATES = {Role.REQUIRED: PieceState.REQUIRED, Role.CONTRIBUTES: PieceState.CONTRIBUTES}


def claim(ledger: Ledger, settled: Settled, path: tuple[int, ...]) -> Steps[None]:
    """Claim one piece, found through `path` from a whole piece down to it."""
    yield from _add(ledger, settled, _role(ledger, settled, path), path)


def claim_set(ledger: Ledger, found: Found) -> Steps[bool]:
    """Test a set on fresh runs and claim it: what was seen while looking for it was selected."""
    settled = yield from confirm(ledger, found.change)
    if settled is None:
        return False
    role = _role(ledger, settled, ())
    if role is Role.CAUSE:
        role = Role.DIFFUSE if found.diffuse else Role.EACH_ENOUGH
    yield from _add(ledger, settled, role, ())
    return True


def _role(ledger: Ledger, settled: Settled, path: tuple[int, ...]) -> Role:
    """What a significant drop shows the removed pieces to be."""
    if not ledger.gauge.halves(ledger.evidence(settled.change)):
        return Role.CONTRIBUTES
    if rank(ledger, settled.change) in (Rank.MISSED, Rank.GIVEN_STOPS):
        return Role.REQUIRED
    shown_whole = len(path) < 2 or is_hot(ledger, alone(path[0]))  # noqa: PLR2004 - whole and part
    return Role.CAUSE if shown_whole else Role.MASKED


def _add(ledger: Ledger, settled: Settled, role: Role, path: tuple[int, ...]) -> Steps[None]:
    yield from ledger.mark(settled.change.pieces, _STATES.get(role, PieceState.CAUSE))
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
            narrowed=tuple((p, ledger.tally(alone(p))) for p in path),
        )
    )
