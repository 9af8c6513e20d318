"""PASS, PART or FAIL: what a remedy is worth, defined exactly.

Notation: with the remedy the bad decision remained in k of n runs; without it, it came in kb of nb
runs (the frozen baseline of the `why`, of the same model and context). p is Fisher's exact test,
one-sided, that it is rarer with the remedy; p is adjusted over all remedies proposed (Holm).

- **FAIL**: it is not shown that the decision became at least twice as rare (adjusted p > 0.05, or
  k/n > kb/nb / 2); or at least half of the other decisions that the remedy touches are broken: an
  off switch is no remedy.
- **PASS**: it remained in none of the runs (k = 0), most of the runs are answers (not cut, refused
  or empty), and no other decision is broken.
- **PART**: everything between.

At temperature 0 runs are no random sample: instead of the test, all runs have to agree.

*Other decisions* are those the traces recorded. They are the same when the model calls the same
tools, whatever the arguments, or answers in words, whatever it says. One counts only when it is
**stable**: made in at least 80 % of the runs of its own unchanged context. Under a remedy it is
**kept** when every run makes it. As soon as one does not, both sides are run three times as often,
and it is **broken** when it is rarer by Fisher's test at 0.05, uncorrected: a correction would
favour the remedy. What is rarer, but not by that much, counts as kept, and its numbers are shown.

How many runs: as many as asked for, but at least so many that "never" would show (adjusted as if
all other remedies failed), up to 60.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runtape.decision import Decision, DecisionKind, Outcome, OutcomeKind
from runtape.evidence import fisher_less
from runtape.evidence.holm import holm
from runtape.remedies.facts import Effect, Grade, Keeping, Trial
from runtape.trials import Tally

ALPHA = 0.05
STABLE = 0.8
"""Share of the runs without a remedy that make a decision worth protecting."""
TRIPLED = 3
"""As often both sides are run once a run misses."""
_MOST = 60
_NO_ANSWER = (OutcomeKind.CUT, OutcomeKind.REFUSAL, OutcomeKind.EMPTY)


def runs_wanted(baseline: Tally, remedies: int, least: int) -> int:
    """Runs of each remedy: `least`, or so many that none of them would be significant."""
    for runs in range(least, _MOST):
        if remedies * fisher_less(0, runs, baseline.same, baseline.runs) <= ALPHA:
            return runs
    return max(least, _MOST)


def same_move(decision: Decision, outcome: Outcome) -> bool:
    """Whether an outcome is another recorded decision again; answers in words are all alike."""
    return outcome.same or (decision.kind is DecisionKind.TEXT and outcome.kind is OutcomeKind.TEXT)


def is_stable(tally: Tally) -> bool:
    """Whether a decision recurs reliably without any remedy."""
    return tally.rate is not None and tally.rate >= STABLE


def keeping(without: Tally, under: Tally, *, deterministic: bool) -> tuple[Keeping, float | None]:
    """What becomes of a stable decision, and p that it is rarer; both sides fully run."""
    if not under.runs:
        return Keeping.UNCHECKED, None
    if deterministic:
        kept = under.same * without.runs >= without.same * under.runs
        return (Keeping.KEPT if kept else Keeping.BROKEN), None
    p = fisher_less(under.same, under.runs, without.same, without.runs)
    broken = under.same < under.runs and p <= ALPHA
    return (Keeping.BROKEN if broken else Keeping.KEPT), p


def adjusted(ps: Sequence[float | None]) -> list[float | None]:
    """Each p corrected over all remedies proposed; None stays None, but counts."""
    known = [p for p in ps if p is not None]
    corrected = iter(holm(known, len(ps)))
    return [None if p is None else next(corrected) for p in ps]


def helps(baseline: Tally, remains: Tally, adjusted_p: float | None) -> bool:
    """Whether the bad decision was shown to become at least twice as rare."""
    if not remains.runs or 2 * remains.same * baseline.runs > remains.runs * baseline.same:
        return False
    if adjusted_p is None:  # temperature 0
        return remains.same == 0
    return adjusted_p <= ALPHA


def grade(trial: Trial, baseline: Tally) -> Grade:
    """The grade of a remedy that was measured to the end."""
    if not helps(baseline, trial.remains, trial.adjusted) or _switches_off(trial.effects):
        return Grade.FAIL
    clean = trial.remains.same == 0 and not trial.broken and _answers(trial.outcomes)
    return Grade.PASS if clean else Grade.PART


def _switches_off(effects: Iterable[Effect]) -> bool:
    touched = [e for e in effects if e.keeping in (Keeping.KEPT, Keeping.BROKEN)]
    broken = sum(e.keeping is Keeping.BROKEN for e in touched)
    return bool(broken) and 2 * broken >= len(touched)


def _answers(outcomes: Iterable[tuple[Outcome, int]]) -> bool:
    """Whether most of the runs are answers."""
    counts = [(count, outcome.kind in _NO_ANSWER) for outcome, count in outcomes]
    silent = sum(count for count, void in counts if void)
    return 2 * silent < sum(count for count, _ in counts)
