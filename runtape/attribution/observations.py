"""What was seen so far, by change, and what it means to the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from runtape.attribution.ledger import alone
from runtape.attribution.protocol import Change, Reaction, Seen
from runtape.attribution.variants import PieceTree
from runtape.decision import Outcome, OutcomeKind
from runtape.trials import Observed, Tally

_REACTIONS = {
    OutcomeKind.SAME: Reaction.SAME,
    OutcomeKind.OTHER_CALL: Reaction.OTHER_CALL,
    OutcomeKind.TEXT: Reaction.STOPS,
    OutcomeKind.CUT: Reaction.NO_ANSWER,
    OutcomeKind.REFUSAL: Reaction.NO_ANSWER,
    OutcomeKind.EMPTY: Reaction.NO_ANSWER,
}


class Observations:
    """Outcomes of every change, in the order the samples have."""

    def __init__(self) -> None:
        self._by_change: dict[Change, Observed] = {}

    def add(self, change: Change, outcome: Outcome) -> Tally:
        """Count one outcome as it arrives; returns the tally of its change."""
        observed = self._by_change.setdefault(change, Observed())
        observed.outcomes.append(outcome)
        return observed.tally

    def reorder(self, change: Change, newest: Sequence[Outcome]) -> None:
        """Put the outcomes that arrived last into sample order.

        Judging can overtake arrival; what is counted from the first n runs must not depend on that.
        """
        if newest:
            self._by_change[change].outcomes[-len(newest) :] = newest

    def outcomes(self, change: Change) -> list[Outcome]:
        """Everything seen of a change."""
        observed = self._by_change.get(change)
        return list(observed.outcomes) if observed else []

    def all_outcomes(self) -> list[Outcome]:
        """Everything seen, of whatever change."""
        return [o for observed in self._by_change.values() for o in observed.outcomes]

    def tally(self, change: Change) -> Tally:
        """How often the decision was made again under a change."""
        observed = self._by_change.get(change)
        return observed.tally if observed else Tally()

    def tally_without(self, piece: int) -> Tally:
        """Runs without exactly this one piece."""
        return self.tally(alone(piece))

    def instead(self, change: Change, runs: int) -> tuple[tuple[Outcome, int], ...]:
        """What the newest `runs` runs did in place of the decision, most frequent first."""
        newest = self.outcomes(change)[-runs:] if runs else []
        return tuple(Counter(o for o in newest if not o.same).most_common())

    def start_over(self) -> None:
        """Forget everything: the search found that what it saw so far does not count."""
        self._by_change.clear()


class Reactions:
    """Reads an outcome as the search needs it: above all, whether it only repeats a lookup."""

    def __init__(self, tree: PieceTree) -> None:
        self._tree = tree
        self._results: dict[tuple[str, str], list[int]] = {}
        for piece in tree.pieces:
            if piece.call is not None:
                self._results.setdefault(piece.call, []).append(piece.id)

    def seen(self, outcome: Outcome, change: Change) -> Seen:
        """What the search is told about one run under `change`."""
        reaction = _REACTIONS[outcome.kind]
        if reaction is Reaction.OTHER_CALL:
            repeated = [piece for call in outcome.calls for piece in self._results.get(call, ())]
            if repeated:
                return Seen(Reaction.LOOKUP, self._missed(repeated, change), outcome)
        return Seen(reaction, None, outcome)

    def _missed(self, results: Sequence[int], change: Change) -> int:
        """The result that was taken away, of those whose call was repeated; else the newest."""
        touched = {step for piece in change.pieces for step in self._tree.lineage(piece)}
        return next((piece for piece in results if piece in touched), results[-1])
