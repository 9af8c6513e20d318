"""The report of one ``why`` for a person: decision, cause, evidence, what else, cost, what next."""

from __future__ import annotations

from runtape.attribution.facts import Investigation, Mode, Verdict
from runtape.reports.causes import add_cause
from runtape.reports.chain_text import add_chain
from runtape.reports.commands import Suggestion, suggestions
from runtape.reports.costs import cost_words
from runtape.reports.decisions import decided_tools, decision_words, sameness_words
from runtape.reports.endings import add_ending
from runtape.reports.leftovers import add_leftovers
from runtape.reports.sheet import Sheet, Span, Tone
from runtape.reports.warnings import warning_text
from runtape.reports.why_report import WhyReport
from runtape.reports.words import (
    duration,
    happenings,
    likely,
    listed,
    of_runs,
    outcome_detail,
)


def why_sheet(report: WhyReport, columns: int = 80) -> Sheet:
    """The whole report, at most `columns` wide but for commands' own words."""
    sheet = Sheet(columns)
    add_decision(sheet, report)
    if report.headline:
        add_cause(sheet, report.headline, report.investigation)
    if report.headline is None or report.investigation.verdict is not Verdict.ATTRIBUTED:
        add_ending(sheet, report)
    add_chain(sheet, report)
    add_leftovers(sheet, report)
    _warnings(sheet, report)
    _cost(sheet, report.investigation)
    add_suggestions(sheet, suggestions(report))
    return sheet


def add_decision(sheet: Sheet, report: WhyReport) -> None:
    """What is explained, and how often the unchanged context gives it."""
    found = report.investigation
    decision = found.decision
    sheet.prose("Trace", report.subject.path, Tone.QUIET)
    sheet.prose("Decision", f"event {decision.event} {decision_words(decision)}", Tone.STRONG)
    same = sameness_words(decision, report.settings)
    sheet.prose("", f"counted as the same: {same}", Tone.QUIET)
    if found.baseline.runs:
        _baseline(sheet, report)
    sheet.blank()


def _baseline(sheet: Sheet, report: WhyReport) -> None:
    found = report.investigation
    asked = report.settings.get("model_fn") or report.subject.model or "the model"
    if found.mode is Mode.DETERMINISTIC:
        share = " at temperature 0"
    else:
        share = f" ({likely(found.baseline)})"
    again = f"{asked} repeats it in {of_runs(found.baseline)}{share}"
    sheet.prose("", f"unchanged, {again}")
    if found.verdict is not Verdict.DID_NOT_RECUR:
        _otherwise(sheet, found)


def _otherwise(sheet: Sheet, found: Investigation) -> None:
    ways = happenings(found.outcomes, decided_tools(found.decision))
    for way in [way for way in ways if not way.sample.same][:3]:
        sheet.prose("", f"{way.count}× it {outcome_detail(way.sample, 44)}", Tone.QUIET)


def _warnings(sheet: Sheet, report: WhyReport) -> None:
    label = "Caution"
    texts = [warning_text(warned) for warned in report.investigation.warnings]
    assumed = [part for part, how in report.subject.fidelity.items() if how == "assumed"]
    if assumed:
        texts.append(f"the trace does not hold the {listed(assumed)} of this call: assumed")
    for text in texts:
        sheet.prose(label, text, Tone.WARN)
        label = ""
    sheet.blank()


def _cost(sheet: Sheet, found: Investigation) -> None:
    sheet.joined("Cost", [*cost_words(found.calls), duration(found.seconds)], Tone.QUIET)
    sheet.blank()


def add_suggestions(sheet: Sheet, ideas: list[Suggestion]) -> None:
    """Commands to try next; never broken where a shell would not take it."""
    label = "Next"
    for idea in ideas:
        sheet.prose(label, idea.purpose, Tone.QUIET)
        label = ""
        for text in idea.lines(sheet.room - 2):
            sheet.row("", "  ", Span(text, Tone.NAME))
