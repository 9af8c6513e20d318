"""The procedure: from a baseline to a verdict, as sequential code that yields what it wants to see.

Passes, each in its own module: A :mod:`baseline`, C :mod:`screen`, E :mod:`narrow`, F :mod:`confirm`,
D and H :mod:`roles`. The whole state is one :class:`~runtape.attribution.ledger.Ledger`.
"""

from __future__ import annotations

from dataclasses import replace

from runtape.attribution.baseline import measure_baseline
from runtape.attribution.claims import claim
from runtape.attribution.combine import combine
from runtape.attribution.confirm import confirm
from runtape.attribution.facts import Mode, Phase, Role, Verdict
from runtape.attribution.ledger import Ledger, Noisy, SearchOptions, Steps, alone
from runtape.attribution.narrow import narrow
from runtape.attribution.protocol import Claim, PhaseNote, Search, SearchResult, Tree
from runtape.attribution.roles import Rank, by_promise, rank
from runtape.attribution.screen import screen
from runtape.attribution.together import together

__all__ = ["Procedure", "SearchOptions"]


class Procedure:
    """One search over one tree.

    Drive :meth:`run`; at any moment, also in the middle or after closing it, :meth:`partial` says what is
    known.
    """

    def __init__(self, tree: Tree, options: SearchOptions | None = None) -> None:
        self.ledger = Ledger(tree, options or SearchOptions())

    def run(self) -> Search:
        """The whole search; returns its result."""
        try:
            verdict = yield from self._search()
        except Noisy:
            old = self.ledger
            self.ledger = Ledger(old.tree, replace(old.options, deterministic=False))
            yield from self.ledger.warn("noisy_endpoint")
            verdict = yield from self._search()
        return self.partial(verdict)

    def partial(self, verdict: Verdict) -> SearchResult:
        """What is known now."""
        ledger = self.ledger
        gauge = ledger.gauge
        claims = tuple(self._with_all_runs(c) for c in ledger.claims)
        return SearchResult(
            verdict=verdict,
            mode=ledger.mode,
            baseline=ledger.baseline,
            claims=claims,
            states=dict(ledger.states),
            tallies=ledger.single_tallies(),
            warnings=tuple(ledger.warnings),
            level=gauge.level or None,
            slots=ledger.options.slots,
        )

    def _with_all_runs(self, claim: Claim) -> Claim:
        tally = self.ledger.evidence(claim.change)
        return replace(claim, without=tally, p=self.ledger.gauge.p(tally))

    def _search(self) -> Steps[Verdict]:
        ledger = self.ledger
        yield PhaseNote(Phase.BASELINE)
        stop = yield from measure_baseline(ledger)
        if stop is not None:
            return stop
        yield PhaseNote(Phase.SCREEN)
        hot = yield from screen(ledger, ledger.tree.roots)
        yield from ledger.freeze()
        yield PhaseNote(Phase.NARROW)
        yield from self._settle(by_promise(ledger, hot))
        if not ledger.explained:
            yield PhaseNote(Phase.COMBINE)
            tree = ledger.tree
            yield from combine(
                ledger, [p for p in tree.roots if p not in hot and not tree.given(p)]
            )
        if not ledger.explained:
            for piece in hot:
                if rank(ledger, alone(piece)) is Rank.GIVEN_STOPS:
                    yield from narrow(ledger, piece)
        yield PhaseNote(Phase.DESCRIBE)
        if ledger.explained:
            return Verdict.ATTRIBUTED
        if any(c.role is Role.REQUIRED for c in ledger.claims):
            return Verdict.ONLY_REQUIRED
        return Verdict.NOTHING_FOUND

    def _settle(self, hot: list[int]) -> Steps[None]:
        """Narrow the suspects in order until a cause is settled, then test the rest as they are."""
        ledger = self.ledger
        for i, piece in enumerate(hot):
            if ledger.explained and not ledger.options.full:
                yield from self._test_rest(hot[i:])
                return
            if rank(ledger, alone(piece)) is Rank.GIVEN_STOPS:
                settled = yield from confirm(ledger, alone(piece))
                if settled:
                    yield from claim(ledger, settled, (piece,))
            else:
                yield from narrow(ledger, piece)

    def _test_rest(self, pieces: list[int]) -> Steps[None]:
        ledger = self.ledger
        if ledger.mode is Mode.INTERMITTENT:
            return
        tests = yield from together(confirm(ledger, alone(p), looks=1) for p in pieces)
        for piece, settled in zip(pieces, tests, strict=True):
            if settled:
                yield from claim(ledger, settled, (piece,))
