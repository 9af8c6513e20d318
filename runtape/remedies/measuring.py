"""The table of a `fix`: every remedy on the failed context, then on the decisions to be kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from runtape.attribution.assembly import drop_p
from runtape.attribution.facts import CallsChanged, Investigation, Mode, Warned
from runtape.attribution.sampling import Place
from runtape.decision import Outcome
from runtape.remedies.bench import Cell, fill
from runtape.remedies.changes import Treatment
from runtape.remedies.facts import (
    UNCHANGED,
    Bystander,
    BystanderChanged,
    Effect,
    EffectChanged,
    Fix,
    FixEnd,
    FixFact,
    Graded,
    Keeping,
    Proposed,
    RemainsChanged,
    RemedyKind,
    Trial,
    Watched,
)
from runtape.remedies.grading import (
    TRIPLED,
    adjusted,
    grade,
    helps,
    is_stable,
    keeping,
    runs_wanted,
    same_move,
)
from runtape.remedies.options import FixOptions
from runtape.remedies.proposals import propose
from runtape.remedies.rules import Rule

_TWICE = 2
"""Runs at temperature 0."""


@dataclass(frozen=True, slots=True)
class Other:
    """Another recorded decision that can be run again; `trace` as in a Bystander."""

    place: Place
    trace: str = ""


@dataclass(frozen=True, slots=True)
class Others:
    """The other recorded decisions, the most important first.

    Attributes:
        places: those that have to be kept.
        beyond: how many more there are, beyond the limit.
        alike: events of those that are the bad decision again.
        lost: how many cannot be run again.
    """

    places: tuple[Other, ...] = ()
    beyond: int = 0
    alike: tuple[int, ...] = ()
    lost: int = 0


@dataclass(slots=True)
class _Guarded:
    """A bystander with its cells: without any remedy, and by number of a remedy that touches it."""

    other: Other
    without: Cell
    under: dict[int, Cell] = field(default_factory=dict)


class Measuring:
    """Runs the table and keeps it.

    Attributes:
        rounds: how often it waited for a model.
        short: whether the budget left nothing for the other decisions.
    """

    def __init__(
        self,
        place: Place,
        explained: Investigation,
        options: FixOptions,
        tell: Callable[[FixFact], None],
    ) -> None:
        self._place = place
        self._explained = explained
        self._options = options
        self._tell = tell
        self._exact = explained.mode is Mode.DETERMINISTIC
        cause = explained.headline
        self._treatment = Treatment(cause.pieces if cause else (), options.fill)
        self._trials: list[Trial] = []
        self._cells: dict[int, Cell] = {}
        self._guarded: list[_Guarded] = []
        self._others = Others()
        self._left_out = 0
        self.rounds = 0
        self.short = False

    # ── remedies on the failed context ───────────────────────────────────────────────────────────

    def propose(self, rules: Sequence[Rule], model: str | None) -> bool:
        """Say what will be tried; False when nothing makes sense."""
        remedies = propose(self._explained, self._place.context, rules, model)
        self._trials = [Trial(remedy) for remedy in remedies]
        self._tell(Proposed(remedies, self._runs))
        for number, remedy in enumerate(remedies):
            body = self._treatment.body(remedy, self._place.context)
            if body is None:
                self._trials[number] = Trial(remedy, failure=UNCHANGED)
            else:
                told = partial(self._remains_changed, number)
                self._cells[number] = Cell(self._place, body, _is_same, told)
        return bool(self._cells)

    async def try_remedies(self) -> None:
        """Run each remedy on the failed context; raises ModelError when the model fails."""
        await self._fill([(cell, self._runs) for cell in self._cells.values()])
        for number, cell in self._cells.items():
            trial = self._trials[number]
            if cell.error is None:
                continue
            if trial.remedy.kind is not RemedyKind.MODEL:
                raise cell.error
            self._trials[number] = replace(trial, failure=str(cell.error))
        self._correct()
        for number in self._cells:
            if self._done(number) and not self._helps(number):
                self._grade(number)

    @property
    def hopeful(self) -> bool:
        """Whether any remedy helps, so that what it breaks matters."""
        return any(self._done(number) and self._helps(number) for number in self._cells)

    @property
    def _runs(self) -> int:
        if self._exact:
            return _TWICE
        count = max(1, len(self._trials))
        return runs_wanted(self._explained.baseline, count, self._options.runs)

    def _remains_changed(self, number: int) -> None:
        cell = self._cells[number]
        tally = cell.tally
        p = drop_p(tally, self._explained.baseline, self._explained.mode)
        self._trials[number] = replace(
            self._trials[number], remains=tally, p=p, outcomes=cell.ways()
        )
        self._tell(RemainsChanged(number, tally, p))
        self._bill()

    def _correct(self) -> None:
        """Correct the p values for their number, as soon as all are there."""
        corrected = adjusted([trial.p for trial in self._trials])
        self._trials = [
            replace(trial, adjusted=p) for trial, p in zip(self._trials, corrected, strict=True)
        ]

    def _done(self, number: int) -> bool:
        cell = self._cells[number]
        return cell.error is None and len(cell.outcomes) >= self._runs

    def _helps(self, number: int) -> bool:
        trial = self._trials[number]
        return helps(self._explained.baseline, trial.remains, trial.adjusted)

    # ── what they break ──────────────────────────────────────────────────────────────────────────

    async def watch(self, others: Others) -> None:
        """Run the other decisions without and with each remedy that helps, and grade those."""
        self._others = others
        helping = [n for n in self._cells if self._done(n) and self._helps(n)]
        chosen = self._affordable(others, len(helping))
        self._guarded = [self._guard(index, other) for index, other in enumerate(chosen)]
        self._tell(Watched(tuple(map(self._bystander, self._guarded)), self._left_out))
        if self._left_out:
            self._tell(Warned("others_left_out", {"count": self._left_out}))
        if others.lost:
            self._tell(Warned("others_lost", {"count": others.lost}))
        self.short = bool(others.places) and not chosen
        if self.short:
            return
        await self._fill([(g.without, self._checks(g.other)) for g in self._guarded])
        _raise_if_all([g.without for g in self._guarded])
        for index, guarded in enumerate(self._guarded):
            self._settle(index, guarded, helping)
        await self._fill([(c, self._checks(c.place)) for c in self._under(helping)])
        self._raise_if_broken_down(helping)
        await self._look_closer()
        for number in helping:
            self._grade(number)

    def _affordable(self, others: Others, remedies: int) -> tuple[Other, ...]:
        """As many as the rest of the budget pays for.

        Cached runs count as paid for, so that asking again looks at the same ones.
        """
        spent = self._place.gate.scheduler.spent
        room = self._options.budget - spent.made - spent.cached
        count = max(0, room // (self._options.checks * (1 + remedies)))
        self._left_out = others.beyond + max(0, len(others.places) - count)
        return others.places[:count]

    def _guard(self, index: int, other: Other) -> _Guarded:
        counts = partial(same_move, other.place.decision)
        told = partial(self._bystander_changed, index)
        return _Guarded(other, Cell(other.place, other.place.context.body, counts, told))

    def _settle(self, index: int, guarded: _Guarded, helping: Sequence[int]) -> None:
        """Whether a bystander is worth protecting, and its cells under the remedies if so."""
        self._bystander_changed(index, settled=True)
        if guarded.without.error is not None or not is_stable(guarded.without.tally):
            return
        place, elsewhere = guarded.other.place, bool(guarded.other.trace)
        for number in helping:
            remedy = self._trials[number].remedy
            body = self._treatment.body(remedy, place.context, elsewhere=elsewhere)
            if body is not None:
                told = partial(self._effect_changed, number, index)
                guarded.under[number] = Cell(place, body, guarded.without.counts, told)

    async def _look_closer(self) -> None:
        """Where a run misses, run both sides more often: a miss may be chance."""
        shaken = [
            (guarded, cell)
            for guarded in self._guarded
            for cell in guarded.under.values()
            if cell.tally.same < cell.tally.runs and not self._is_exact(cell.place)
        ]
        sides = {id(c): c for guarded, cell in shaken for c in (guarded.without, cell)}
        await self._fill([(c, TRIPLED * self._checks(c.place)) for c in sides.values()])
        for index, guarded in enumerate(self._guarded):
            self._bystander_changed(index, settled=True)
            for number in guarded.under:
                self._effect_changed(number, index, settled=True)

    def _under(self, remedies: Sequence[int]) -> list[Cell]:
        return [g.under[n] for g in self._guarded for n in remedies if n in g.under]

    def _raise_if_broken_down(self, helping: Sequence[int]) -> None:
        """A model that answers without a remedy fails for another model's remedy only."""
        same = [n for n in helping if self._trials[n].remedy.kind is not RemedyKind.MODEL]
        for cell in self._under(same):
            if cell.error is not None:
                raise cell.error

    def _checks(self, of: Other | Place) -> int:
        place = of.place if isinstance(of, Other) else of
        return _TWICE if self._is_exact(place) else self._options.checks

    def _is_exact(self, place: Place) -> bool:
        """Temperature 0, unless the failed call showed that it is none at this endpoint."""
        noisy = self._place.deterministic and not self._exact
        return place.deterministic and not noisy

    # ── what is known ────────────────────────────────────────────────────────────────────────────

    def fix(self, end: FixEnd) -> Fix:
        """The table as it stands."""
        return Fix(
            explained=self._explained,
            end=end,
            trials=tuple(
                replace(trial, effects=self._effects(n)) for n, trial in enumerate(self._trials)
            ),
            bystanders=tuple(map(self._bystander, self._guarded)),
            left_out=self._left_out,
            alike=self._others.alike,
        )

    def _grade(self, number: int) -> None:
        trial = replace(self._trials[number], effects=self._effects(number))
        if all(e.keeping is not Keeping.UNCHECKED for e in trial.effects):
            trial = replace(trial, grade=grade(trial, self._explained.baseline))
        self._trials[number] = trial
        self._tell(Graded(number, trial))

    def _bystander(self, guarded: _Guarded) -> Bystander:
        tally = guarded.without.tally
        stable = is_stable(tally) if tally.runs >= self._checks(guarded.other) else None
        return Bystander(guarded.other.place.decision, guarded.other.trace, tally, stable)

    def _effects(self, number: int) -> tuple[Effect, ...]:
        if number not in self._cells or not self._done(number) or not self._helps(number):
            return ()
        return tuple(self._effect(number, i, g) for i, g in enumerate(self._guarded))

    def _effect(self, number: int, index: int, guarded: _Guarded) -> Effect:
        stable = self._bystander(guarded).stable
        cell = guarded.under.get(number)
        if not stable:
            unsure = guarded.without.error is not None or stable is None
            return Effect(index, Keeping.UNCHECKED if unsure else Keeping.UNSTABLE)
        if cell is None:
            return Effect(index, Keeping.UNTOUCHED)
        if cell.error is not None or cell.tally.runs < self._checks(cell.place):
            return Effect(index, Keeping.UNCHECKED, cell.tally)
        exact = self._is_exact(cell.place)
        what, p = keeping(guarded.without.tally, cell.tally, deterministic=exact)
        return Effect(index, what, cell.tally, p, cell.ways(others=True))

    def _bystander_changed(self, index: int, *, settled: bool = False) -> None:
        told = self._bystander(self._guarded[index])
        self._tell(BystanderChanged(index, told.tally, told.stable if settled else None))
        self._bill()

    def _effect_changed(self, number: int, index: int, *, settled: bool = False) -> None:
        effect = self._effect(number, index, self._guarded[index])
        what = effect.keeping if settled else None
        self._tell(EffectChanged(number, index, effect.tally, what))
        self._bill()

    # ── running ──────────────────────────────────────────────────────────────────────────────────

    async def _fill(self, cells: Sequence[tuple[Cell, int]]) -> None:
        requests = self._place.gate.scheduler.spent.requests
        try:
            await fill(cells)
        finally:
            self.rounds += self._place.gate.scheduler.spent.requests > requests
            self._bill()

    def _bill(self) -> None:
        self._tell(CallsChanged(self._place.gate.bill(self.rounds)))


def _raise_if_all(cells: Sequence[Cell]) -> None:
    """One trace may be of a server nobody can reach; if all are, the model has failed."""
    errors = [cell.error for cell in cells if cell.error is not None]
    if errors and len(errors) == len(cells):
        raise errors[0]


def _is_same(outcome: Outcome) -> bool:
    return outcome.same
