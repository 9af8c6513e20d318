"""The procedure: from a baseline to a verdict, as sequential code that yields what it wants to see.

Passes, each in its own module: A :mod:`baseline`, C :mod:`screen`, E :mod:`narrow`, F :mod:`confirm`,
D and H :mod:`roles`. The whole state is one :class:`~runtape.attribution.ledger.Ledger`.
"""

from __future__ import annotations

from dataclasses import replace

from runtape.attribution.baseline import measure_baseline
from runtape.attribution.confirm import Settled, confirm
from runtape.attribution.facts import Mode, Phase, PieceState, Role, Verdict
from runtape.attribution.ledger import Ledger, NoAnswers, Noisy, SearchOptions, Steps, alone
from runtape.attribution.narrow import narrow
from runtape.attribution.protocol import Claim, PhaseNote, Search, SearchResult, Tree
from runtape.attribution.roles import Rank, by_promise, rank, role_of
from runtape.attribution.screen import screen

__all__ = ["Procedure", "SearchOptions"]

_STATES = {
    Role.REQUIRED: PieceState.REQUIRED,
    Role.CONTRIBUTES: PieceState.CONTRIBUTES,
}


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
            try:
                verdict = yield from self._search()
            except Noisy:
                old = self.ledger
                self.ledger = Ledger(old.tree, replace(old.options, deterministic=False))
                yield from self.ledger.warn("noisy_endpoint")
                verdict = yield from self._search()
        except NoAnswers:
            verdict = Verdict.BUDGET_SPENT
        return self.partial(verdict)

    def partial(self, verdict: Verdict) -> SearchResult:
        """What is known now."""
        ledger = self.ledger
        gauge = ledger.gauge
        claims = tuple(self._with_all_runs(c) for c in ledger.claims)
        if verdict is not Verdict.ATTRIBUTED and any(c.headline for c in claims):
            pass
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
        yield from self._settle(by_promise(ledger, hot, alone))
        yield PhaseNote(Phase.DESCRIBE)
        if any(c.headline for c in ledger.claims):
            return Verdict.ATTRIBUTED
        if any(c.role is Role.REQUIRED for c in ledger.claims):
            return Verdict.ONLY_REQUIRED
        return Verdict.NOTHING_FOUND

    def _settle(self, hot: list[int]) -> Steps[None]:
        """Narrow the suspects in order until a cause is settled, then test the rest as they are."""
        ledger = self.ledger
        for piece in hot:
            done = any(c.headline for c in ledger.claims)
            if done and not ledger.options.full:
                if ledger.mode is Mode.INTERMITTENT:
                    continue
                settled = yield from confirm(ledger, alone(piece), most=6)
                if settled:
                    yield from self._claim(settled, ())
            elif rank(ledger, alone(piece)) is Rank.GIVEN_STOPS:
                settled = yield from confirm(ledger, alone(piece))
                if settled:
                    yield from self._claim(settled, ())
            else:
                for settled in (yield from narrow(ledger, piece)):
                    yield from self._claim(settled, self._path(piece, settled))

    def _path(self, piece: int, settled: Settled) -> tuple[int, ...]:
        (leaf,) = settled.change.pieces
        path = [piece]
        while path[-1] != leaf:
            path.append(
                next(c for c in self.ledger.tree.children(path[-1]) if self._holds(c, leaf))
            )
        return tuple(path)

    def _holds(self, piece: int, leaf: int) -> bool:
        return piece == leaf or any(self._holds(c, leaf) for c in self.ledger.tree.children(piece))

    def _claim(self, settled: Settled, path: tuple[int, ...]) -> Steps[None]:
        ledger = self.ledger
        role = role_of(ledger, settled.change)
        headline = role is Role.CAUSE and not any(c.headline for c in ledger.claims)
        claim = Claim(
            change=settled.change,
            role=role,
            headline=headline,
            without=settled.tally,
            p=settled.p,
            level=ledger.gauge.level or None,
            claimed_at=settled.tally,
            claimed_p=settled.p,
            narrowed=tuple((p, ledger.tally(alone(p))) for p in path),
        )
        yield from ledger.mark(settled.change.pieces, _STATES.get(role, PieceState.CAUSE))
        yield from ledger.add_claim(claim)
