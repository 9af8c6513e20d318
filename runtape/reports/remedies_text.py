"""The report of one ``fix`` for a person: the remedies in a table, what each does and breaks."""

from __future__ import annotations

from collections.abc import Iterator

from runtape.attribution.facts import Cause, Mode
from runtape.decision import Decision
from runtape.evidence import largest_rate, wilson
from runtape.remedies.facts import UNCHANGED, Bystander, Effect, Fix, FixEnd, Grade, Keeping, Trial
from runtape.reports.cells import cut, pad, wrap
from runtape.reports.chain_text import place_words
from runtape.reports.commands import fix_suggestions
from runtape.reports.costs import cost_words
from runtape.reports.decisions import decided_tools
from runtape.reports.endings import add_ending
from runtape.reports.fix_report import FixReport
from runtape.reports.remedy_words import GRADE_TONES, NAME_CELLS, remedy_names, remedy_words
from runtape.reports.sheet import Sheet, Span, Tone
from runtape.reports.warnings import warning_text
from runtape.reports.why_text import add_decision, add_suggestions
from runtape.reports.words import (
    duration,
    happenings,
    interval,
    listed,
    of_runs,
    outcome_detail,
    p_value,
    percent,
    plural,
    quoted,
    sentence,
    tally,
)
from runtape.trials import Tally
from runtape.visible import visible

_GLIMPSE = 160
_WAYS = 2
"""Things a remedy leads to that are shown."""
_COUNT, _RANGE, _P = 8, 11, 9
_ROOMY = 62
"""Cells right of the labels that let the likely rate stand in the table."""
_ONE_ANSWER = "At temperature 0 every run of one context gives one answer: more would show no more."
_BAR = "▌ "
_FAILURES = {UNCHANGED: "it changes nothing in this request"}


def fix_sheet(report: FixReport, columns: int = 80) -> Sheet:
    """The whole report."""
    fix = report.fix
    sheet = Sheet(columns)
    add_decision(sheet, report.why)
    _cause(sheet, report)
    if any(trial.remains.runs for trial in fix.trials):
        _table(sheet, fix)
        _instead(sheet, fix)
        _breaks(sheet, fix)
        _not_run(sheet, fix)
    _ending(sheet, report)
    _unprotected(sheet, fix)
    _warnings(sheet, fix)
    sheet.joined("Cost", [*cost_words(fix.calls), duration(fix.seconds)], Tone.QUIET)
    sheet.blank()
    add_suggestions(sheet, fix_suggestions(report))
    return sheet


def _cause(sheet: Sheet, report: FixReport) -> None:
    found = report.fix.explained
    if found.headline is not None:
        _known_cause(sheet, found.headline)
    elif report.fix.trials:
        words = "No text was found that causes it, so there is none to take out or to mark."
        sheet.prose("Cause", words)
    sheet.blank()


def _known_cause(sheet: Sheet, cause: Cause) -> None:
    sheet.prose("Cause", place_words(cause))
    sheet.prose("", quoted(cause.pieces[0].text, _GLIMPSE), Tone.MARK)


# ── the table ─────────────────────────────────────────────────────────────────────────────────────


def _table(sheet: Sheet, fix: Fix) -> None:
    likely = _RANGE if _shows_range(sheet, fix) else 0
    head = f"{'':6}{'':{NAME_CELLS + 1}}{'remains':<{_COUNT + likely}}{'p':<{_P}}keeps"
    sheet.row("Remedies", Span(head, Tone.QUIET))
    for name, trial in zip(remedy_names([t.remedy for t in fix.trials]), fix.trials, strict=True):
        grade = Span(pad(trial.grade.value if trial.grade else "–", 6), _tone(trial))
        sheet.row(
            "", grade, f"{pad(name, NAME_CELLS)} ", _numbers(trial, likely), kept_words(trial)
        )
    sheet.prose("", _legend(fix), Tone.QUIET)
    sheet.blank()


def _tone(trial: Trial) -> Tone:
    return GRADE_TONES[trial.grade] if trial.grade else Tone.QUIET


def _shows_range(sheet: Sheet, fix: Fix) -> bool:
    """Where there is room for it; runs at temperature 0 are no sample of any rate."""
    return sheet.room >= _ROOMY and fix.explained.mode is not Mode.DETERMINISTIC


def _numbers(trial: Trial, likely: int) -> str:
    """Count, likely rate in so many cells, p."""
    if not trial.remains.runs:
        return pad("not run", _COUNT + likely + _P)
    words = interval(*wilson(trial.remains.same, trial.remains.runs)) if likely else ""
    p = "–" if trial.adjusted is None else p_value(trial.adjusted)
    return f"{tally(trial.remains):<{_COUNT}}{words:<{likely}}{p:<{_P}}"


def kept_words(trial: Trial) -> str:
    """``5/6``: kept of those that could be broken; a dash where none was run."""
    kept, broken = trial.count(Keeping.KEPT), trial.count(Keeping.BROKEN)
    if kept + broken:
        return f"{kept}/{kept + broken}"
    return "all" if trial.count(Keeping.UNTOUCHED) else "–"


def _legend(fix: Fix) -> str:
    words = ["remains: runs that still make the decision"]
    if any(trial.p is not None for trial in fix.trials):
        count = plural(len(fix.trials), "remedy", "remedies")
        words.append(f"p: exact test that it got rarer, corrected for {count} (Holm)")
    if fix.bystanders:
        words.append("keeps: other recorded decisions that go on happening")
    return "; ".join(words)


# ── what they do and break ────────────────────────────────────────────────────────────────────────


def _instead(sheet: Sheet, fix: Fix) -> None:
    """What happens in place of the decision; remedies that lead to the same are told together."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, trial in zip(remedy_names([t.remedy for t in fix.trials]), fix.trials, strict=True):
        if trial.grade is not Grade.FAIL and trial.remains.runs > trial.remains.same:
            groups.setdefault(tuple(_ways(trial, fix.decision, sheet.room)), []).append(name)
    label = "Instead"
    for ways, names in groups.items():
        sheet.prose(label, f"{listed(names)}:", Tone.QUIET)
        for way in ways:
            sheet.row("", f"  {cut(way, sheet.room - 2)}")
        label = ""
    sheet.blank()


def _ways(trial: Trial, decision: Decision, room: int) -> Iterator[str]:
    others = [(outcome, count) for outcome, count in trial.outcomes if not outcome.same]
    ways = happenings(others, decided_tools(decision))
    for way in ways[:_WAYS]:
        count = f"{way.count}/{trial.remains.runs}"
        yield f"{count:<7}{outcome_detail(way.sample, room - 20)}"
    if len(ways) > _WAYS:
        yield f"and {plural(len(ways) - _WAYS, 'other way', 'other ways')}"


def _breaks(sheet: Sheet, fix: Fix) -> None:
    """What no longer happens; remedies that break the same are told together."""
    groups: dict[str, list[str]] = {}
    for name, trial in zip(remedy_names([t.remedy for t in fix.trials]), fix.trials, strict=True):
        for effect in trial.broken:
            groups.setdefault(effect_words(effect, fix), []).append(name)
    label = "Breaks"
    for words, names in groups.items():
        sheet.prose(label, f"{listed(names)}:", Tone.QUIET)
        for row in wrap(visible(words).text, sheet.room - 2):
            sheet.row("", f"  {row}")
        label = ""
    sheet.blank()


def effect_words(effect: Effect, fix: Fix) -> str:
    """What becomes of one bystander, with both counts."""
    bystander = fix.bystanders[effect.bystander]
    words = f"{bystander_words(bystander)}, {tally(bystander.tally)} → {tally(effect.tally)}"
    ways = happenings(effect.instead, decided_tools(bystander.decision))
    return f"{words}; it {outcome_detail(ways[0].sample, 44)} instead" if ways else words


def bystander_words(bystander: Bystander) -> str:
    """``event 10 calls list_databases``; of another trace, with its name."""
    decision = bystander.decision
    tools = sorted(decided_tools(decision))
    words = f"calls {listed(tools)}" if tools else "answers in words"
    where = f" of {bystander.trace}" if bystander.trace else ""
    return f"event {decision.event}{where} {words}"


def _not_run(sheet: Sheet, fix: Fix) -> None:
    """Remedies that could not be measured at all."""
    label = "Not run"
    for name, trial in zip(remedy_names([t.remedy for t in fix.trials]), fix.trials, strict=True):
        if trial.failure:
            sheet.prose(label, f"{name}: {sentence(_FAILURES.get(trial.failure, trial.failure))}")
            label = ""
    sheet.blank()


def _unprotected(sheet: Sheet, fix: Fix) -> None:
    """Other decisions that no number above stands for."""
    lines = []
    unstable = [b for b in fix.bystanders if b.stable is False]
    for bystander in unstable:
        words = f"{bystander_words(bystander)}: {of_runs(bystander.tally)} without any remedy"
        lines.append(f"unstable, not counted: {words}")
    if fix.alike:
        events = listed([str(event) for event in fix.alike])
        lines.append(f"the same decision again, not protected: event {events}")
    if lines:
        sheet.prose("Others", "\n".join(lines), Tone.QUIET)
        sheet.blank()


def _warnings(sheet: Sheet, fix: Fix) -> None:
    label = "Caution"
    for text in dict.fromkeys(map(warning_text, fix.warnings)):
        sheet.prose(label, text, Tone.WARN)
        label = ""
    sheet.blank()


# ── how it ended ──────────────────────────────────────────────────────────────────────────────────


def _ending(sheet: Sheet, report: FixReport) -> None:
    fix = report.fix
    if fix.end is FixEnd.MEASURED or report.best is not None:
        _answer(sheet, report)
    if fix.end is FixEnd.NOTHING_TO_TRY:
        sheet.prose("Stopped", stop_words(fix), Tone.STRONG)
        sheet.prose("", "Try a rule of your own (--rule) or another model (--model).")
    elif fix.end is not FixEnd.MEASURED:
        _stopped(sheet, report)
    sheet.blank()


def _stopped(sheet: Sheet, report: FixReport) -> None:
    fix = report.fix
    if not fix.trials:  # the search itself ended early: its own words say why
        add_ending(sheet, report.why)
        return
    sheet.prose("Stopped", stop_words(fix), Tone.STRONG)
    if fix.failure:
        sheet.prose("", sentence(fix.failure))
    sheet.prose("", "What has no grade was not measured to the end.")


def stop_words(fix: Fix) -> str:
    """Why a `fix` ended before all was measured; empty when it did not."""
    return {
        FixEnd.NOTHING_TO_TRY: "No remedy that runtape knows makes sense here.",
        FixEnd.BUDGET_SPENT: f"The budget of {plural(fix.calls.budget, 'call')} ended first.",
        FixEnd.PROVIDER_FAILED: "The model failed.",
        FixEnd.INTERRUPTED: "Interrupted.",
    }.get(fix.end, "")


def _answer(sheet: Sheet, report: FixReport) -> None:
    best = report.best
    if best is None:
        parts = len(report.graded(Grade.PART))
        helped = f" {plural(parts, 'helps', 'help')} in part." if parts else ""
        sheet.prose("Best", f"No remedy passed.{helped}", Tone.STRONG)
        return
    names = remedy_names([trial.remedy for trial in report.fix.trials])
    name = names[report.fix.best or 0]
    sheet.prose("Best", f"{name}, the first that passes: {remedy_words(best.remedy)}", Tone.STRONG)
    for line in best.remedy.system.splitlines():
        _bar(sheet, line)
    at_zero = report.fix.explained.mode is Mode.DETERMINISTIC
    sheet.prose("", _ONE_ANSWER if at_zero else ruled_out(best.remains), Tone.QUIET)
    if best.remedy.drop or best.remedy.quote:
        sheet.prose("", "It deals with this one text: another of its kind can do the same.")


def _bar(sheet: Sheet, text: str) -> None:
    inner = Sheet(sheet.room - len(_BAR), margin=0)
    inner.prose("", text)
    for line in inner.lines:
        sheet.row("", Span(_BAR, Tone.MARK), *line.spans)


def ruled_out(remains: Tally) -> str:
    """What runs without a single bad one rule out, by the exact one-sided 95 % bound."""
    bound = largest_rate(remains.same, remains.runs)
    return (
        f"Not once in {plural(remains.runs, 'run')}: a rate of {percent(bound)} or more is ruled "
        "out (exact, 95% sure). More --runs rule out smaller ones."
    )
