"""What a `fix` has found so far: eats facts, keeps the rows of a table that is drawn live."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatchmethod

from runtape.attribution.facts import CallsChanged, Started
from runtape.remedies.facts import (
    Bystander,
    BystanderChanged,
    Effect,
    EffectChanged,
    Explained,
    FixFact,
    FixFinished,
    Grade,
    Graded,
    Keeping,
    Proposed,
    RemainsChanged,
    Remedy,
    Watched,
)
from runtape.reports.cells import cut, pad
from runtape.reports.decisions import decision_words
from runtape.reports.progress import Progress, phase_words, progress_lines
from runtape.reports.remedy_words import GRADE_TONES, NAME_CELLS, remedy_names
from runtape.reports.sheet import Line, Span, Tone, line
from runtape.reports.words import p_value, plural, tally
from runtape.trials import Tally

_GRADE = 6


@dataclass(slots=True)
class RemedyRow:
    """Where one remedy stands.

    Attributes:
        remedy: what is changed.
        name: its short name.
        remains: runs that still made the bad decision.
        p: Fisher p, uncorrected until the remedy is graded.
        effects: by bystander, what is known.
        grade: once it is measured to the end.
        done: whether it is, with or without a grade.
    """

    remedy: Remedy
    name: str
    remains: Tally = field(default_factory=Tally)
    p: float | None = None
    effects: dict[int, Effect] = field(default_factory=dict)
    grade: Grade | None = None
    done: bool = False

    @property
    def kept(self) -> tuple[int, int]:
        """Bystanders it keeps, of those it could have broken, as far as they were run."""
        known = [e for e in self.effects.values() if e.keeping in (Keeping.KEPT, Keeping.BROKEN)]
        return sum(e.keeping is Keeping.KEPT for e in known), len(known)


@dataclass(slots=True)
class FixProgress:
    """The state of a `fix`, fact by fact.

    Attributes:
        why: the search at its beginning.
        explained: whether that is over.
        rows: the remedies, in the order of proposal.
        runs: how often each is run on the failed context.
        bystanders: the other decisions, with their own counts.
    """

    why: Progress = field(default_factory=Progress)
    explained: bool = False
    rows: list[RemedyRow] = field(default_factory=list)
    runs: int = 0
    bystanders: list[Bystander] = field(default_factory=list)

    def see(self, fact: FixFact) -> None:
        """Take one fact in."""
        self._take(fact)

    @singledispatchmethod
    def _take(self, fact: object) -> None:
        """Everything else is a fact of the search."""
        self.why.see(fact)  # type: ignore[arg-type]

    @_take.register
    def _(self, fact: Explained) -> None:
        self.explained = True
        if self.why.decision is None:  # the search was made before
            found = fact.investigation
            self.why.see(Started(found.decision, (), found.calls.budget))

    @_take.register
    def _(self, fact: Proposed) -> None:
        names = remedy_names(fact.remedies)
        self.rows = [RemedyRow(r, name) for r, name in zip(fact.remedies, names, strict=True)]
        self.runs = fact.runs

    @_take.register
    def _(self, fact: RemainsChanged) -> None:
        row = self.rows[fact.remedy]
        row.remains, row.p = fact.tally, fact.p

    @_take.register
    def _(self, fact: Watched) -> None:
        self.bystanders = list(fact.bystanders)

    @_take.register
    def _(self, fact: BystanderChanged) -> None:
        known = self.bystanders[fact.bystander]
        self.bystanders[fact.bystander] = Bystander(
            known.decision, known.trace, fact.tally, fact.stable
        )

    @_take.register
    def _(self, fact: EffectChanged) -> None:
        keeping = fact.keeping or Keeping.UNCHECKED
        effect = Effect(fact.bystander, keeping, fact.tally)
        self.rows[fact.remedy].effects[fact.bystander] = effect

    @_take.register
    def _(self, fact: Graded) -> None:
        row, trial = self.rows[fact.remedy], fact.trial
        row.remains, row.p = trial.remains, trial.adjusted
        row.effects = {effect.bystander: effect for effect in trial.effects}
        row.grade, row.done = trial.grade, True

    @_take.register
    def _(self, fact: FixFinished) -> None:
        self.why.see(CallsChanged(fact.fix.calls))


def fix_progress_lines(progress: FixProgress, columns: int = 80) -> list[Line]:
    """A few lines for a terminal: the search, then the table of remedies as it fills."""
    decision = progress.why.decision
    if not progress.explained or decision is None:
        return progress_lines(progress.why, columns)
    words = f"fix event {decision.event} {decision_words(decision)}"
    calls = progress.why.calls
    spent = (
        f"{calls.made} of {calls.budget} calls, {plural(len(progress.rows), 'remedy', 'remedies')}"
    )
    if progress.bystanders:
        spent += f", {plural(len(progress.bystanders), 'other decision')} to be kept"
    head = [line(Span(cut(words, columns), Tone.STRONG)), line(Span(spent, Tone.QUIET))]
    return [*head, *map(row_line, progress.rows)]


def fix_phase_words(progress: FixProgress) -> str:
    """One phrase where nothing is drawn: ``measuring remedies, 2 of 5 done``."""
    if not progress.explained:
        return phase_words(progress.why)
    done = sum(row.done for row in progress.rows)
    return f"measuring remedies, {done} of {len(progress.rows)} done"


def row_line(row: RemedyRow) -> Line:
    """One remedy on one line."""
    grade = row.grade.value if row.grade else ("–" if row.done else "◌")
    tone = GRADE_TONES[row.grade] if row.grade else Tone.QUIET
    remains = tally(row.remains) if row.remains.runs else "…"
    p = "" if row.p is None else f"p {p_value(row.p)}"
    kept, known = row.kept
    keeps = f"keeps {kept}/{known}" if known else ""
    cells = f"{pad(row.name, NAME_CELLS)}  {remains:<7} {p:<11} {keeps}"
    return line(Span(pad(grade, _GRADE), tone), cells)
