"""What helps, as a table that fills: one row a remedy, numbers and bars left of the words."""

from __future__ import annotations

from collections.abc import Iterator

from runtape.attribution.facts import BaselineChanged, Investigation
from runtape.evidence import wilson
from runtape.remedies.facts import (
    UNCHANGED,
    Explained,
    Fix,
    FixEnd,
    FixFact,
    FixFinished,
    Grade,
    Graded,
    Keeping,
    Trial,
)
from runtape.reports.cells import cut, pad
from runtape.reports.chain_text import place_words
from runtape.reports.counts import add_counts, add_happenings
from runtape.reports.decisions import decided_tools
from runtape.reports.endings import ending_of
from runtape.reports.fix_progress import FixProgress, RemedyRow, fix_phase_words
from runtape.reports.fix_report import FixReport
from runtape.reports.remedies_text import (
    bystander_words,
    effect_words,
    fix_sheet,
    kept_words,
    ruled_out,
    stop_words,
)
from runtape.reports.remedy_words import (
    GRADE_TONES,
    KEEPING_WORDS,
    NAME_CELLS,
    remedy_words,
)
from runtape.reports.sheet import Line, Part, Sheet, Span, Tone, line
from runtape.reports.words import happenings, of_runs, outcome_detail, p_value, plural, rated, tally
from runtape.trials import Tally
from runtape.visible import visible
from runtape_tui.view_models.bars import interval_bar

GLYPHS = {Grade.PASS: "✓", Grade.PART: "◐", Grade.FAIL: "✗"}
"""One glyph for each grade, told apart without colour."""
_RUNNING, _NOTHING = "◌", "–"
_WORD = 11
_GRADE, _COUNT, _P, _KEEPS = 10, 7, 8, 7
_BARS = ((100, 14), (80, 10), (0, 6))
"""Cells there are → cells of a bar."""


class FixTable:
    """The state of a `fix`, fact by fact.

    Attributes:
        progress: what the reports know of it while it runs.
        trials: remedies that are measured to the end, by number.
        explained: the `why` before it, once that is over.
        fix: the result, in the end.
    """

    def __init__(self) -> None:
        self.progress = FixProgress()
        self.trials: dict[int, Trial] = {}
        self.explained: Investigation | None = None
        self.fix: Fix | None = None
        self._baseline = Tally()

    @property
    def rows(self) -> list[RemedyRow]:
        """The remedies, in the order of proposal."""
        return self.progress.rows

    @property
    def baseline(self) -> Tally:
        """Runs of the unchanged context."""
        return self._baseline if self.explained is None else self.explained.baseline

    def take(self, fact: FixFact) -> None:
        """Take one fact in."""
        self.progress.see(fact)
        if isinstance(fact, BaselineChanged):
            self._baseline = fact.tally
        elif isinstance(fact, Explained):
            self.explained = fact.investigation
        elif isinstance(fact, Graded):
            self.trials[fact.remedy] = fact.trial
        elif isinstance(fact, FixFinished):
            self.fix = fact.fix
            self.trials.update(enumerate(fact.fix.trials))

    # The table

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        bar = _bar_cells(columns)
        words = (
            f"{'':{_GRADE}}{'remains':{bar + 1 + _COUNT}}{'p':{_P}}{'keeps':{_KEEPS}}"
            f"{pad('remedy', NAME_CELLS)}  instead"
        )
        return line(Span(words, Tone.QUIET))

    def row_line(self, number: int, columns: int) -> Line:
        """One remedy: grade, how often the call remains, what it keeps, its name, what happens."""
        row, trial = self.rows[number], self.trials.get(number)
        tone = GRADE_TONES[row.grade] if row.grade else Tone.QUIET
        p = "" if row.p is None else p_value(row.p)
        cells: list[Part] = [
            Span(pad(self._grade(row, trial), _GRADE), tone),
            *_rate(row.remains, _bar_cells(columns), done=row.done or self.fix is not None),
            Span(pad(p, _P), Tone.QUIET),
            pad(self._keeps(row, trial), _KEEPS),
            Span(pad(cut(row.name, NAME_CELLS), NAME_CELLS), Tone.STRONG),
        ]
        used = 1 + _GRADE + _bar_cells(columns) + 1 + _COUNT + _P + _KEEPS + NAME_CELLS + 2
        words = cut(visible(self._instead(number)).text, max(12, columns - used))
        return line(*cells, f"  {words}") if words else line(*cells)

    def _grade(self, row: RemedyRow, trial: Trial | None) -> str:
        if row.grade is not None:
            return f"{GLYPHS[row.grade]} {row.grade.value}"
        if trial is not None and trial.failure:
            return f"{_NOTHING} not run"
        if self.fix is not None:
            return f"{_NOTHING} open"
        return f"{_RUNNING} runs" if row.remains.runs else "  waits"

    def _keeps(self, row: RemedyRow, trial: Trial | None) -> str:
        if trial is not None:
            return kept_words(trial)
        kept, known = row.kept
        return f"{kept}/{known}" if known else ""

    def _instead(self, number: int) -> str:
        trial = self.trials.get(number)
        if trial is None or self.explained is None:
            return ""
        others = [(outcome, count) for outcome, count in trial.outcomes if not outcome.same]
        ways = happenings(others, decided_tools(self.explained.decision))
        return outcome_detail(ways[0].sample, 120) if ways else ""

    # What stands around it

    def head_lines(self, columns: int, *, running: bool) -> list[Line]:
        """How often the unchanged context does it, why, and the answer or what is going on."""
        lines = []
        if self.baseline.runs:
            lines.append(_headed("unchanged", rated(self.baseline), columns))
        cause = None if self.explained is None else self.explained.headline
        if cause is not None:
            lines.append(_headed("cause", place_words(cause), columns, Tone.MARK))
        if self.fix is None:
            words = fix_phase_words(self.progress) if running else "nothing asked yet"
            lines.append(_headed("now", words, columns, Tone.GOOD if running else Tone.QUIET))
        return lines

    def answer_line(self, report: FixReport, columns: int) -> Line:
        """What helps, or why there is no answer."""
        fix = report.fix
        if fix.best is not None:
            trial, name = fix.trials[fix.best], self.rows[fix.best].name
            words = f"{name} passes: the call remains in {tally(trial.remains)}"
            keeps = kept_words(trial)
            others = f", keeps {keeps} other decisions" if "/" in keeps else ""
            return _headed("✓ best", words + others, columns, Tone.GOOD)
        if fix.end is FixEnd.MEASURED:
            parts = len(report.graded(Grade.PART))
            helped = f" {plural(parts, 'helps', 'help')} in part." if parts else ""
            return _headed("✗ best", f"No remedy passed.{helped}", columns, Tone.WARN)
        if fix.trials or (stop_words(fix) and fix.explained.headline is not None):
            return _headed("stopped", stop_words(fix), columns, Tone.WARN)
        ending = ending_of(report.why)
        return _headed(ending.label.lower(), ending.title, columns, Tone.WARN)

    def detail_lines(self, number: int, columns: int) -> tuple[Line, ...]:
        """One remedy in full: what to do, what the model does then, what becomes of the others."""
        sheet = Sheet(columns)
        row, trial = self.rows[number], self.trials.get(number)
        sheet.prose("Do", remedy_words(row.remedy), Tone.STRONG)
        if row.remedy.system:
            sheet.prose("", row.remedy.system, Tone.MARK)
        if trial is not None and trial.failure:
            known = "it changes nothing in this request"
            sheet.prose("Not run", known if trial.failure == UNCHANGED else trial.failure)
        if row.remains.runs:
            sheet.prose("Remains", rated(row.remains))
        if trial is not None and trial.remains.runs and not trial.remains.same:
            sheet.prose("", ruled_out(trial.remains), Tone.QUIET)
        self._add_outcomes(sheet, trial)
        add_counts(sheet, "Others", self._others(number))
        return tuple(sheet.lines)

    def _add_outcomes(self, sheet: Sheet, trial: Trial | None) -> None:
        if trial is not None and trial.outcomes and self.explained is not None:
            decision = self.explained.decision
            add_happenings(sheet, "Does", trial.outcomes, trial.remains.runs, decision)

    def _others(self, number: int) -> Iterator[tuple[str, str]]:
        """The other decisions under a remedy, those it breaks first."""
        effects = sorted(
            self.rows[number].effects.values(), key=lambda e: e.keeping is not Keeping.BROKEN
        )
        for effect in effects:
            if effect.bystander >= len(self.progress.bystanders):
                continue
            if self.fix is not None and effect.keeping is Keeping.BROKEN:
                words = f"BROKEN: {effect_words(effect, self.fix)}"
            else:
                keeping = KEEPING_WORDS[effect.keeping]
                bystander = self.progress.bystanders[effect.bystander]
                words = f"{keeping}: {bystander_words(bystander)}"
            yield tally(effect.tally) if effect.tally.runs else _NOTHING, words


def report_lines(report: FixReport, columns: int) -> tuple[Line, ...]:
    """The whole report, as ``runtape fix`` prints it."""
    return tuple(fix_sheet(report, columns).lines)


def waiting_words(table: FixTable) -> str:
    """What stands in the place of the table before there is one."""
    if table.fix is not None:
        return "No remedy was measured."
    if table.explained is None:
        return "First the cause is looked for; then remedies are tried one by one."
    found = of_runs(table.baseline)
    return f"The unchanged context does it in {found}. Remedies come next."


def _headed(word: str, text: str, columns: int, tone: Tone = Tone.PLAIN) -> Line:
    head = f"{word:<{_WORD}} "
    return line(Span(head, Tone.QUIET), Span(cut(text, columns - len(head)), tone))


def _bar_cells(columns: int) -> int:
    return next(cells for least, cells in _BARS if columns >= least)


def _rate(counts: Tally, cells: int, *, done: bool) -> list[Part]:
    if not counts.runs:
        return [Span(pad("" if done else "…", cells + 1 + _COUNT), Tone.QUIET)]
    bar = interval_bar(counts.same / counts.runs, *wilson(counts.same, counts.runs), cells)
    return [
        Span(bar.sure + bar.likely, Tone.BAD),
        Span(f"{bar.possible}{bar.rest} ", Tone.QUIET),
        pad(tally(counts), _COUNT),
    ]
