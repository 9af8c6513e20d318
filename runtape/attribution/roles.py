"""Pass D and H: what the model does *instead* orders the suspects and gives the roles.

Necessary pieces look the same to any test of necessity: without the user's task the decision is
gone, as it is without the sentence that planted it. They differ in what follows. A model that lacks
an input tries to get it again (the same tool, the same arguments) or asks; a model that lacks the
push does something else.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from runtape.attribution.ledger import Ledger, alone
from runtape.attribution.protocol import Change, Reaction


class Rank(IntEnum):
    """How promising a suspect is, best first."""

    READ_OTHER_CALL = 0
    READ_STOPS = 1
    GIVEN_OTHER_CALL = 2
    GIVEN_STOPS = 3
    MISSED = 4
    """The model looks it up again, or has no answer."""


def usual_reaction(ledger: Ledger, change: Change) -> Reaction:
    """What the model mostly does in the runs that dropped the decision; SAME when none did."""
    instead = ledger.instead(change)
    return max(instead, key=lambda r: instead[r]) if instead else Reaction.SAME


def rank(ledger: Ledger, change: Change) -> Rank:
    """The rank of a suspect by the usual reaction to its removal."""
    reaction = usual_reaction(ledger, change)
    if reaction in (Reaction.LOOKUP, Reaction.NO_ANSWER):
        return Rank.MISSED
    given = all(ledger.tree.given(p) for p in change.pieces)
    if reaction is Reaction.OTHER_CALL:
        return Rank.GIVEN_OTHER_CALL if given else Rank.READ_OTHER_CALL
    return Rank.GIVEN_STOPS if given else Rank.READ_STOPS


def by_promise(ledger: Ledger, pieces: Iterable[int]) -> list[int]:
    """Pieces ordered by the rank of their removal, then by its score."""

    def promise(piece: int) -> tuple[Rank, float]:
        change = alone(piece)
        return rank(ledger, change), -ledger.gauge.score(ledger.tally(change))

    return sorted(pieces, key=promise)
