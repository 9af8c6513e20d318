"""From what a search knows (numbers) to what a report shows (pieces)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from runtape.attribution.facts import (
    Calls,
    Cause,
    Investigation,
    Mode,
    PieceResult,
    PieceState,
    Recheck,
    Step,
    Verdict,
    Warned,
)
from runtape.attribution.gauge import Gauge
from runtape.attribution.ledger import UNCHANGED
from runtape.attribution.observations import Observations
from runtape.attribution.protocol import Claim, SearchResult
from runtape.attribution.variants import PieceTree, Variants
from runtape.decision import Decision, Outcome
from runtape.errors import IncompleteContext
from runtape.evidence import fisher_less
from runtape.trials import Tally


@dataclass(frozen=True, slots=True)
class Ending:
    """What stands in a report beside the findings."""

    calls: Calls
    warnings: tuple[Warned, ...]
    seconds: float
    failure: str | None = None


class Assembly:
    """Puts pieces and outcomes back in place of numbers."""

    def __init__(self, tree: PieceTree, variants: Variants, observed: Observations) -> None:
        self._tree = tree
        self._variants = variants
        self._observed = observed

    def cause(self, claim: Claim) -> Cause:
        """A claim with its pieces, and what the model does without them."""
        return Cause(
            pieces=tuple(self._tree.piece(number) for number in sorted(claim.change.pieces)),
            role=claim.role,
            headline=claim.headline,
            without=claim.without,
            p=claim.p,
            level=claim.level,
            claimed_at=claim.claimed_at,
            claimed_p=claim.claimed_p,
            instead=self._observed.instead(claim.change, claim.without.runs),
            narrowed=tuple(Step(self._tree.piece(n), tally) for n, tally in claim.narrowed),
            rechecks=tuple(
                Recheck(self._variants.recheck_name(wording), tally)
                for wording, tally in claim.rechecks
                if tally.runs
            ),
            enough_alone=claim.enough_alone,
        )

    def investigation(
        self, decision: Decision, result: SearchResult, ending: Ending
    ) -> Investigation:
        """The whole result, tested pieces in reading order."""
        pieces = list(self._results(result))
        return Investigation(
            decision=decision,
            verdict=result.verdict,
            mode=result.mode,
            baseline=result.baseline,
            outcomes=self._baseline_outcomes(result.baseline.runs),
            causes=tuple(self.cause(claim) for claim in result.claims),
            pieces=tuple(p for p in pieces if p.state is not PieceState.UNTESTED),
            untested=tuple(p.piece for p in pieces if p.state is PieceState.UNTESTED),
            calls=ending.calls,
            warnings=ending.warnings,
            level=result.level,
            slots=result.slots,
            seconds=ending.seconds,
            failure=ending.failure,
        )

    def _baseline_outcomes(self, runs: int) -> tuple[tuple[Outcome, int], ...]:
        """Runs after the baseline was frozen are no part of it: they only watch for drift."""
        return tuple(Counter(self._observed.outcomes(UNCHANGED)[:runs]).most_common())

    def _results(self, result: SearchResult) -> Iterator[PieceResult]:
        for piece in self._tree.known():
            tally = self._observed.tally_without(piece.id)
            state = result.states.get(piece.id) or _standing(tally, result)
            if piece.id in self._tree.roots or state is not PieceState.UNTESTED:
                yield PieceResult(piece, tally, state, drop_p(tally, result.baseline, result.mode))


def _standing(tally: Tally, result: SearchResult) -> PieceState:
    """Of a piece that the search had run but not placed yet when it ended."""
    if not tally.runs:
        return PieceState.UNTESTED
    gauge = Gauge(result.mode or Mode.CONSISTENT, result.baseline)
    return PieceState.SUSPECTED if gauge.halves(tally) else PieceState.NO_EFFECT


def drop_p(tally: Tally, baseline: Tally, mode: Mode | None) -> float | None:
    """One-sided p that the decision is rarer in `tally` than in `baseline` (Fisher's exact test).

    None where there is nothing to compare, and at temperature 0, where runs are no random sample.
    """
    if mode is Mode.DETERMINISTIC or not tally.runs or not baseline.runs:
        return None
    return fisher_less(tally.same, tally.runs, baseline.same, baseline.runs)


def incomplete(decision: Decision, error: IncompleteContext, budget: int) -> Investigation:
    """The result where the tape lacks something the call needs: nothing was run."""
    return Investigation(
        decision=decision,
        verdict=Verdict.INCOMPLETE_CONTEXT,
        mode=None,
        baseline=Tally(),
        outcomes=(),
        causes=(),
        pieces=(),
        untested=(),
        calls=Calls(budget=budget),
        warnings=(),
        failure=str(error),
    )
