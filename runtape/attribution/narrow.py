"""Pass E: from a hot piece down to the sentence, or to the sentences that are each enough."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from runtape.attribution.claims import claim, claim_set
from runtape.attribution.confirm import confirm
from runtape.attribution.facts import Phase, PieceState
from runtape.attribution.ledger import Ledger, Steps, alone
from runtape.attribution.protocol import Ask
from runtape.attribution.roles import Rank, by_promise, rank
from runtape.attribution.screen import is_hot, race, take_apart
from runtape.attribution.sets import Found, smallest_set, units

_MANY = 10
"""More parts than this are taken apart by bisection instead of being removed one by one."""
_BULK = 0.7
"""Share of the text that makes a part the first to look into."""
_NONE = 1.0
"""Weight of "none of the parts alone", against 1 for each part before its first run."""
_NONE_OF_CONFIRMED = 0.05
"""The same weight once the whole has passed its test."""


def narrow(ledger: Ledger, piece: int) -> Steps[bool]:
    """Claim the smallest parts of a hot piece that hold, the piece itself if none does.

    Depth first, the most promising part first; ends at the first cause. No confirmation between
    levels: a wrong turn is noticed at the leaf, and costs less than confirming every level. Returns
    whether anything was claimed.
    """
    yield from ledger.enter(Phase.NARROW)
    known = len(ledger.claims)
    parts = yield from ledger.unfold(piece)
    tried = yield from _narrow_bulk(ledger, parts)
    if not _enough(ledger, known):
        others = [part for part in parts if part not in tried]
        yield from _narrow_parts(ledger, piece, others, _NONE)
    if len(ledger.claims) > known:
        return True
    yield from ledger.enter(Phase.CONFIRM)
    settled = yield from confirm(ledger, alone(piece))
    if settled is None:
        if ledger.gauge.score(ledger.tally(alone(piece))) <= 0:
            yield from ledger.mark((piece,), PieceState.NO_EFFECT)
        return False
    if parts and rank(ledger, settled.change) is not Rank.MISSED:
        yield from _narrow_parts(ledger, piece, parts, _NONE_OF_CONFIRMED)
        if len(ledger.claims) > known:
            return True
        if (yield from claim_smallest(ledger, units(ledger, parts))):
            return True
    yield from claim(ledger, settled)
    return True


def _enough(ledger: Ledger, known: int) -> bool:
    """Whether a cause was settled since `known` claims, and one is all that is wanted."""
    return ledger.pinned(since=known) and not ledger.options.full


def _narrow_parts(ledger: Ledger, piece: int, parts: Sequence[int], none: float) -> Steps[None]:
    if len(parts) > _MANY:
        hot = yield from take_apart(ledger, parts)
    else:
        yield from race(ledger, [alone(p) for p in parts], none, ledger.tally(alone(piece)))
        hot = [p for p in parts if is_hot(ledger, alone(p))]
    yield from ledger.mark(hot, PieceState.SUSPECTED)
    yield from ledger.mark((p for p in parts if p not in ledger.states), PieceState.NO_EFFECT)
    known = len(ledger.claims)
    for part in by_promise(ledger, hot):
        yield from narrow(ledger, part)
        if _enough(ledger, known):
            return


def _narrow_bulk(ledger: Ledger, parts: Sequence[int]) -> Steps[tuple[int, ...]]:
    """Look first into the one part that holds nearly all the text, as the body of a mail does.

    One run of it instead of one of each part. Returns what was looked into: when it holds no cause,
    the others are tried.
    """
    sizes = {part: ledger.tree.size(part) for part in parts}
    bulk = max(parts, key=sizes.__getitem__, default=None)
    if bulk is None or len(parts) == 1 or sizes[bulk] < _BULK * sum(sizes.values()):
        return ()
    yield from ledger.run((Ask(alone(bulk), 1),))
    if not is_hot(ledger, alone(bulk)):
        return ()
    yield from narrow(ledger, bulk)
    return (bulk,)


def claim_smallest(
    ledger: Ledger, parts: Sequence[int], *, ends: float = inf, or_diffuse: bool = False
) -> Steps[bool]:
    """Find and claim the smallest set among parts that together turn the decision.

    Two orders are tried: a wrong turn in one leads to a set that its test refuses. `or_diffuse`:
    what turns it only by its size is claimed as that, when neither order gave better.
    """
    diffuse: Found | None = None
    for order in (list(parts), list(reversed(parts))):
        found = yield from smallest_set(ledger, order, ends)
        if found is not None and found.diffuse:
            diffuse = found
        elif found is not None and (yield from _claim_found(ledger, found, ends)):
            return True
    if diffuse is None or not or_diffuse:
        return False
    return (yield from claim_set(ledger, diffuse))


def _claim_found(ledger: Ledger, found: Found, ends: float) -> Steps[bool]:
    if len(found.members) == 1:
        return (yield from narrow(ledger, found.members[0]))
    small = units(ledger, [part for m in found.members for part in ledger.parts(m) or (m,)])
    if len(small) > len(found.members):
        return (yield from claim_smallest(ledger, small, ends=ends))
    return (yield from claim_set(ledger, found))
