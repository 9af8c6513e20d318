"""Pass C: which top-level pieces matter at all?

Few pieces are removed one by one. Many are removed in groups (tool definitions and arguments of
earlier calls always), and a group whose removal matters gives up its members one at a time, by the
lookup that a reply repeats or by bisection, until what is left does not matter. Runs of groups
steer the search; they are never evidence for anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from runtape.attribution.bisect import find_turning
from runtape.attribution.facts import Mode, PieceState
from runtape.attribution.ledger import Ledger, Steps, alone, is_single
from runtape.attribution.protocol import Ask, Change
from runtape.attribution.together import together
from runtape.trials import Tally

_NOTHING = Tally()
_FEW = 12
"""Up to this many pieces are removed one by one."""
_SMALL = 3
"""A group of this size is cheaper to take apart at once."""
_SURE = 0.8
"""Posterior at which one change is followed without more runs."""
_STRONG = 4.0
"""Score at which a change is followed even when another is as strong."""
_REMOTE = 0.05
"""Posterior below which a change gets no more runs."""
_DERAILED = 0.75
"""Share of hot groups that says: the model cannot go on with so much missing."""
_ASIDE = 8
"""Size of groups of tool definitions and arguments of earlier calls: seldom the reason."""


def screen(ledger: Ledger, pieces: Sequence[int]) -> Steps[list[int]]:
    """The pieces whose removal seems to matter."""
    aside = [p for p in pieces if ledger.tree.aside(p)]
    main = [p for p in pieces if not ledger.tree.aside(p)]
    parts = yield from together(
        (
            _screen_main(ledger, main),
            *(take_apart(ledger, group) for group in deal(aside, 1 + len(aside) // (_ASIDE + 1))),
        )
    )
    return [p for part in parts for p in part]


def _screen_main(ledger: Ledger, pieces: Sequence[int]) -> Steps[list[int]]:
    if len(pieces) <= _FEW:
        return (yield from screen_singly(ledger, pieces))
    apart = [p for p in pieces if ledger.tree.apart(p)]
    rest = [p for p in pieces if not ledger.tree.apart(p)]
    singly, grouped = yield from together(
        (screen_singly(ledger, apart), _screen_grouped(ledger, rest))
    )
    return singly + grouped


def screen_singly(ledger: Ledger, pieces: Sequence[int]) -> Steps[list[int]]:
    """The hot ones among pieces that are removed one by one."""
    yield from assess(ledger, [alone(p) for p in pieces])
    hot = [p for p in pieces if is_hot(ledger, alone(p))]
    yield from ledger.mark(hot, PieceState.SUSPECTED)
    yield from ledger.mark((p for p in pieces if p not in hot), PieceState.NO_EFFECT)
    return hot


def _screen_grouped(ledger: Ledger, pieces: Sequence[int]) -> Steps[list[int]]:
    count = 4 if ledger.gauge.mode is Mode.INTERMITTENT else 8
    while len(pieces) > count:
        groups = deal(pieces, count)
        yield from assess(ledger, [Change(frozenset(g)) for g in groups])
        hot = [g for g in groups if is_hot(ledger, Change(frozenset(g)))]
        if len(hot) < _DERAILED * len(groups):
            found = yield from together(take_apart(ledger, g) for g in groups)
            return [p for part in found for p in part]
        count *= 2
    return (yield from screen_singly(ledger, pieces))


def deal(pieces: Sequence[int], count: int) -> list[list[int]]:
    """Neighbours together, in `count` groups as equal as can be."""
    cuts = [len(pieces) * i // count for i in range(count + 1)]
    return [list(pieces[a:b]) for a, b in pairwise(cuts) if a < b]


def take_apart(ledger: Ledger, group: Sequence[int]) -> Steps[list[int]]:
    """The hot members of a group, found by taking them out until the rest is clear."""
    out: list[int] = []
    rest = list(group)
    while len(rest) > 1:
        whole = Change(frozenset(rest))
        yield from assess(ledger, [whole, *map(alone, out)])
        if not is_hot(ledger, whole):
            yield from ledger.mark(rest, PieceState.IN_GROUP)
            return (yield from screen_singly(ledger, out))
        again = [p for p in rest if p in ledger.lookups(whole)]
        if not again and len(rest) <= _SMALL:
            break
        if not again:
            length = yield from find_turning(ledger, rest)
            if length is None:
                halves = yield from together(take_apart(ledger, half) for half in deal(rest, 2))
                return (yield from screen_singly(ledger, out)) + halves[0] + halves[1]
            again = [rest[length - 1]]
        out += again
        rest = [p for p in rest if p not in again]
    return (yield from screen_singly(ledger, out + rest))


def is_hot(ledger: Ledger, change: Change) -> bool:
    """Whether what was seen of this change points to an effect."""
    return ledger.gauge.hot(ledger.tally(change))


def assess(ledger: Ledger, changes: Iterable[Change]) -> Steps[None]:
    """Run each change until its score is hot or clear, or its runs end; all in the same rounds."""
    changes = tuple(changes)
    while asks := [ask for c in changes if (ask := next_ask(ledger, c))]:
        yield from ledger.run(asks)


def next_ask(ledger: Ledger, change: Change) -> Ask | None:
    """The next runs of a change under screening, None when it is settled.

    A hot single piece gets a second run: what the model does instead ranks it among the suspects.
    """
    gauge, tally = ledger.gauge, ledger.tally(change)
    first = max(gauge.first, 2) if ledger.options.wide else gauge.first
    if ledger.lost(change) or tally.runs >= gauge.most:
        return None
    if tally.runs < first:
        return Ask(change, first - tally.runs)
    ranked = tally.runs > 1 or not is_single(change)
    if gauge.clear(tally) or (gauge.hot(tally) and ranked):
        return None
    return Ask(change, min(gauge.step, gauge.most - tally.runs))


def race(
    ledger: Ledger, changes: Sequence[Change], none: float, like: Tally = _NOTHING
) -> Steps[None]:
    """One run a round of the changes that may be the one, until one stands out or none is left.

    One of them is likely to have an effect; the posterior of each is its likelihood ratio over the
    sum of all of them plus `none`, the weight of "none of these". `like`: what was seen without the
    whole that they are parts of.
    """
    runs = 2 if ledger.options.wide else ledger.gauge.step
    while running := _undecided(ledger, changes, none, like):
        yield from ledger.run(Ask(c, runs) for c in running)


def _undecided(ledger: Ledger, changes: Sequence[Change], none: float, like: Tally) -> list[Change]:
    gauge = ledger.gauge
    tallies = {c: ledger.tally(c) for c in changes}
    odds = {c: gauge.odds(t, like) for c, t in tallies.items()}
    total = none + sum(odds.values())
    for change, tally in tallies.items():
        sure = odds[change] >= _SURE * total or gauge.score(tally) >= _STRONG
        if sure and gauge.hot(tally):
            return []
    return [
        c
        for c, tally in tallies.items()
        if odds[c] >= _REMOTE * total and tally.runs < gauge.most and not ledger.lost(c)
    ]
