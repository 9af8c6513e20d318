"""The procedure: from a baseline to a verdict, as sequential code that yields what it wants to see.

Passes, each in its own module: A :mod:`baseline`, C :mod:`screen`, D :mod:`roles`, E :mod:`narrow`,
F :mod:`confirm` and :mod:`claims`, G :mod:`combine` and :mod:`sets`, H and J :mod:`describe`. What
was seen and claimed is in one :class:`~runtape.attribution.ledger.Ledger`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runtape.attribution.baseline import measure_baseline
from runtape.attribution.claims import claim
from runtape.attribution.combine import combine
from runtape.attribution.confirm import confirm
from runtape.attribution.describe import describe
from runtape.attribution.facts import Mode, Phase, Role, Verdict
from runtape.attribution.ledger import Ledger, Noisy, SearchOptions, Steps, alone
from runtape.attribution.narrow import narrow
from runtape.attribution.protocol import (
    NOISY_ENDPOINT,
    Answers,
    Claim,
    Search,
    SearchResult,
    Tree,
)
from runtape.attribution.roles import Rank, by_promise, rank
from runtape.attribution.screen import screen
from runtape.attribution.together import together

__all__ = ["Procedure", "SearchOptions"]

_SILENCE = 3
"""Rounds without a single answer after which the search gives up."""


class Procedure:
    """One search over one tree.

    Drive :meth:`run`; at any moment, also in the middle or after closing it, :meth:`partial` says
    what is known.
    """

    def __init__(self, tree: Tree, options: SearchOptions | None = None) -> None:
        self.ledger = Ledger(tree, options or SearchOptions())
        self._reached: Verdict | None = None

    def run(self) -> Search:
        """The whole search; returns its result."""
        search, silent = self._search(), 0
        answers: Answers | None = None
        while silent < _SILENCE:
            try:
                event = search.send(answers)
            except StopIteration as stop:
                return self.partial(stop.value)
            except Noisy:
                search, answers = self._start_over(), None
                continue
            answers = yield event
            if isinstance(event, tuple):
                silent = 0 if answers and any(answers) else silent + 1
        search.close()
        return self.partial(Verdict.BUDGET_SPENT)

    def partial(self, verdict: Verdict) -> SearchResult:
        """What is known now; a budget that ends after the verdict does not change it."""
        ledger = self.ledger
        if verdict is Verdict.BUDGET_SPENT and self._reached is not None:
            verdict = self._reached
        return SearchResult(
            verdict=verdict,
            mode=ledger.mode,
            baseline=ledger.baseline,
            claims=tuple(map(self._with_all_runs, ledger.claims)),
            states=dict(ledger.states),
            tallies=ledger.single_tallies(),
            warnings=tuple(ledger.warnings),
            level=ledger.gauge.highest_level if ledger.frozen else None,
            slots=ledger.options.slots,
        )

    def _with_all_runs(self, claim: Claim) -> Claim:
        tally = self.ledger.evidence(claim.change)
        return replace(claim, without=tally, p=self.ledger.gauge.p(tally))

    def _start_over(self) -> Steps[Verdict]:
        """Temperature 0 that is none: nothing seen so far counts, the sampled procedure begins."""
        old = self.ledger
        self.ledger = Ledger(old.tree, replace(old.options, deterministic=False))
        self._reached = None
        yield from self.ledger.warn_once(NOISY_ENDPOINT, calls=old.calls)
        return (yield from self._search())

    def _search(self) -> Steps[Verdict]:
        ledger = self.ledger
        yield from ledger.enter(Phase.BASELINE)
        stop = yield from measure_baseline(ledger)
        if stop is not None:
            return stop
        yield from ledger.enter(Phase.SCREEN)
        pieces = _chosen(ledger)
        hot = yield from screen(ledger, pieces)
        yield from ledger.freeze()
        suspects, combined = by_promise(ledger, hot), False
        while True:
            suspects = yield from _settle(ledger, suspects)
            if not ledger.explained and not combined:
                combined = True
                yield from combine(ledger, _unexplained(ledger, pieces))
                yield from _look_inside(ledger, hot)
            self._reached = _verdict(ledger)
            yield from describe(ledger)
            if ledger.pinned() or (not suspects and (combined or ledger.explained)):
                return _verdict(ledger)
            self._reached = None  # more replies showed that the cause is only needed: go on


def _chosen(ledger: Ledger) -> list[int]:
    """The top-level pieces to test: all, or those that stand apart and the newest of the others."""
    tree, most = ledger.tree, ledger.options.max_pieces
    pieces = list(enumerate(tree.roots))
    pieces.sort(key=lambda p: (not tree.apart(p[1]), tree.aside(p[1]), -p[0]))
    return [piece for _, piece in sorted(pieces[:most])]


def _unexplained(ledger: Ledger, pieces: Sequence[int]) -> list[int]:
    """What was read and holds nothing that was claimed: also suspects that came to nothing."""
    held = {p for c in ledger.claims for p in (*c.change.pieces, *(step for step, _ in c.narrowed))}
    return [p for p in pieces if p not in held and not ledger.tree.given(p)]


def _settle(ledger: Ledger, suspects: Sequence[int]) -> Steps[list[int]]:
    """Narrow the suspects in order until a cause is settled; test the rest, and return it."""
    rest = list(suspects)
    while rest and (ledger.options.full or not ledger.pinned()):
        piece = rest.pop(0)
        if rank(ledger, alone(piece)) is Rank.GIVEN_STOPS:
            settled = yield from confirm(ledger, alone(piece))
            if settled:
                yield from claim(ledger, settled)
        else:
            yield from narrow(ledger, piece)
    yield from _test_whole(ledger, rest)
    return rest


def _test_whole(ledger: Ledger, pieces: Sequence[int]) -> Steps[None]:
    """One more look at suspects that are not narrowed; too dear for an intermittent decision."""
    if not pieces or ledger.mode is Mode.INTERMITTENT:
        return
    yield from ledger.enter(Phase.CONFIRM)
    tests = yield from together(confirm(ledger, alone(p), looks=1) for p in pieces)
    for settled in tests:
        if settled:
            yield from claim(ledger, settled)


def _look_inside(ledger: Ledger, hot: Sequence[int]) -> Steps[None]:
    """Given pieces that the model cannot go on without: something in them may push all the same."""
    for piece in hot:
        if rank(ledger, alone(piece)) is Rank.GIVEN_STOPS and not ledger.explained:
            yield from narrow(ledger, piece)


def _verdict(ledger: Ledger) -> Verdict:
    if ledger.explained:
        return Verdict.ATTRIBUTED
    if any(c.role is Role.REQUIRED for c in ledger.claims):
        return Verdict.ONLY_REQUIRED
    return Verdict.NOTHING_FOUND
