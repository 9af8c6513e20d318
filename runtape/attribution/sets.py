"""The smallest set of texts whose removal turns the decision: causes of which each is enough.

A delta-debugging problem (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
Input", 2002) with a noisy test. Prefix by prefix, as in QuickXplain (Junker 2004): the last unit of
the shortest prefix that turns the decision is needed; keep it out and look before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from runtape.attribution.bisect import find_turning
from runtape.attribution.ledger import Ledger, Steps
from runtape.attribution.protocol import Ask, Change
from runtape.attribution.screen import assess, is_hot

LONG = 200_000
"""Characters beyond which text is not unfolded to its leaves at once."""
_LARGEST = 6
"""Members of the largest set that is still called one."""
_ENOUGH, _NOT_ENOUGH = 1.5, -3.2
"""Scores at which a smaller set is taken to do the same, or nothing: better some runs more than a
padded set.
"""


@dataclass(frozen=True, slots=True)
class Found:
    """A set whose removal turns the decision; `diffuse`: only by its sheer size."""

    members: tuple[int, ...]
    diffuse: bool = False

    @property
    def change(self) -> Change:
        """The context without the set."""
        return Change(frozenset(self.members))


def units(ledger: Ledger, pieces: Sequence[int]) -> list[int]:
    """The parts in which a set is looked for: leaves, or the pieces as they are when they are long.

    Leaves give the shortest search; of megabytes of text they would be too many to unfold, and the
    members of a set are looked into afterwards anyway.
    """
    if sum(map(ledger.tree.size, pieces)) > LONG:
        return list(pieces)
    return [leaf for piece in pieces for leaf in _leaves(ledger, piece)]


def _leaves(ledger: Ledger, piece: int) -> Iterator[int]:
    parts = ledger.parts(piece)
    if not parts:
        yield piece
    for part in parts:
        yield from _leaves(ledger, part)


def smallest_set(ledger: Ledger, units: Sequence[int], ends: float = inf) -> Steps[Found | None]:
    """The smallest set among units that together turn the decision.

    None when no set stands out, or when the ledger's calls pass `ends`. Another order of the units
    can lead to another set, and out of a wrong turn.
    """
    found = yield from _collect(ledger, list(units), ends)
    if found is None or found.diffuse:
        return found
    return (yield from _drop_needless(ledger, found))


def _collect(ledger: Ledger, units: list[int], ends: float) -> Steps[Found | None]:
    everything = tuple(units)
    members: tuple[int, ...] = ()
    doubted = False
    while units and ledger.calls < ends:
        length = yield from find_turning(ledger, units, frozenset(members))
        if length is None:
            return None
        if length == 0:
            return Found(members)
        members += (units[length - 1],)
        if length == len(units) and not doubted:
            doubted = True
            if (yield from _turns_without(ledger, everything, members)):
                return Found(everything, diffuse=True)
        if len(members) > _LARGEST:
            return Found(everything, diffuse=True)
        units = units[: length - 1]
    return None if units else Found(members)


def _turns_without(
    ledger: Ledger, everything: Sequence[int], members: Sequence[int]
) -> Steps[bool]:
    """Whether all the others turn the decision with the members in the context.

    A member is enough by itself, so they should not: then it is their size, and the members are
    only those that went last.
    """
    others = Change(frozenset(everything).difference(members))
    yield from assess(ledger, (others,))
    return is_hot(ledger, others)


def _drop_needless(ledger: Ledger, found: Found) -> Steps[Found]:
    """Put every member back once: one that can stay in the context is no part of the set."""
    while len(found.members) > 1:
        smaller = [Found(tuple(m for m in found.members if m != back)) for back in found.members]
        while asks := [ask for s in smaller if (ask := _next_ask(ledger, s, found))]:
            yield from ledger.run(asks)
        scores = {s: _likeness(ledger, s, found) for s in smaller}
        best = max(smaller, key=scores.__getitem__)
        if scores[best] < _ENOUGH:
            break
        found = best
    return found


def _likeness(ledger: Ledger, smaller: Found, found: Found) -> float:
    """Score of "the smaller set does what the set did" against "the smaller set does nothing"."""
    return ledger.gauge.score(ledger.tally(smaller.change), ledger.tally(found.change))


def _next_ask(ledger: Ledger, smaller: Found, found: Found) -> Ask | None:
    tally, gauge = ledger.tally(smaller.change), ledger.gauge
    if ledger.lost(smaller.change) or tally.runs >= gauge.most:
        return None
    if tally.runs and not _NOT_ENOUGH < _likeness(ledger, smaller, found) < _ENOUGH:
        return None
    return Ask(smaller.change, max(gauge.first - tally.runs, gauge.step))
