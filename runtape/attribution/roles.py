"""Passes D and H: what the model does *instead* orders the suspects and gives the roles.

Necessary pieces look the same to any test of necessity: without the user's task the decision is
gone, as it is without the sentence that planted it. They differ in what follows. A model that lacks
an input tries to get it again (the same tool, the same arguments) or asks; a model that lacks the
push does something else.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from runtape.attribution.facts import Mode, Role
from runtape.attribution.ledger import Ledger, Steps, alone
from runtape.attribution.protocol import Ask, Change, Reaction
from runtape.attribution.screen import is_hot
from runtape.trials import Tally

_SHOWN_BY_NEED, _SHOWN_BY_CHANCE = 0.7, 0.1
"""Share of replies that look up again or ask: of a model that lacks an input, and of one that lacks
a push."""
_DECIDED = 20.0
"""Odds, either way, at which a role is taken for known."""
_MOST = 16
"""Runs that dropped the decision after which its role is taken as it looks."""


class Rank(IntEnum):
    """How promising a suspect is, best first."""

    READ_OTHER_CALL = 0
    READ_STOPS = 1
    GIVEN_OTHER_CALL = 2
    GIVEN_STOPS = 3
    MISSED = 4
    """The model looks it up again, or has no answer."""


def rank(ledger: Ledger, change: Change) -> Rank:
    """The rank of a suspect by the replies that followed its removal."""
    if _odds(ledger, change, {Reaction.LOOKUP, Reaction.NO_ANSWER}) > 1:
        return Rank.MISSED
    given = _given(ledger, change)
    if given and need_odds(ledger, change) > 1:
        return Rank.GIVEN_STOPS
    instead = ledger.instead(change)
    if instead[Reaction.OTHER_CALL] >= instead[Reaction.STOPS]:
        return Rank.GIVEN_OTHER_CALL if given else Rank.READ_OTHER_CALL
    return Rank.GIVEN_STOPS if given else Rank.READ_STOPS


def by_promise(ledger: Ledger, pieces: Iterable[int]) -> list[int]:
    """Pieces ordered by the rank of their removal, then by its score, the longer text first."""

    def promise(piece: int) -> tuple[Rank, float, int]:
        change = alone(piece)
        score = ledger.gauge.score(ledger.tally(change))
        return rank(ledger, change), -score, -ledger.tree.size(piece)

    return sorted(pieces, key=promise)


def need_odds(ledger: Ledger, change: Change) -> float:
    """Odds of "without it the model lacks an input" to "without it the model lacks a push".

    A likelihood ratio as in A. Wald, "Sequential tests of statistical hypotheses", 1945. A lookup
    that is repeated, or no answer at all, shows a need; of given text, also that the model asks or
    stops.
    """
    showing = {Reaction.LOOKUP, Reaction.NO_ANSWER}
    if _given(ledger, change):
        showing.add(Reaction.STOPS)
    return _odds(ledger, change, showing)


def learn_need(ledger: Ledger, change: Change) -> Steps[None]:
    """Run a change some more while its replies leave open whether it is needed or pushes."""
    if ledger.mode is Mode.DETERMINISTIC:
        return
    while (
        1 / _DECIDED < need_odds(ledger, change) < _DECIDED
        and ledger.instead(change).total() < _MOST
        and not ledger.lost(change)
    ):
        yield from ledger.run((Ask(change, 1),))


def role_of(ledger: Ledger, change: Change, tally: Tally) -> Role:
    """What a significant drop (`tally`) shows the removed pieces to be."""
    if not ledger.gauge.halves(tally):
        return Role.CONTRIBUTES
    if need_odds(ledger, change) > 1:
        return Role.REQUIRED
    if len(change.pieces) > 1:
        return Role.EACH_ENOUGH
    (piece,) = change.pieces
    whole = ledger.path(piece)[0]
    return Role.CAUSE if whole == piece or is_hot(ledger, alone(whole)) else Role.MASKED


def _given(ledger: Ledger, change: Change) -> bool:
    return all(map(ledger.tree.given, change.pieces))


def _odds(ledger: Ledger, change: Change, showing: set[Reaction]) -> float:
    instead = ledger.instead(change)
    shown = sum(instead[reaction] for reaction in showing)
    need = _SHOWN_BY_NEED / _SHOWN_BY_CHANCE
    push = (1 - _SHOWN_BY_NEED) / (1 - _SHOWN_BY_CHANCE)
    return float(need**shown * push ** (instead.total() - shown))
