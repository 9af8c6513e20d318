"""What a model does with one context, run after run, beside the unchanged one; for a person."""

from __future__ import annotations

from dataclasses import dataclass

from runtape.attribution.distribution import Distribution
from runtape.reports.cells import cut
from runtape.reports.costs import cost_words
from runtape.reports.decisions import decided_tools, decision_words, sameness_words
from runtape.reports.distribution_report import DistributionReport
from runtape.reports.sheet import Sheet, Span, Tone
from runtape.reports.words import (
    happenings,
    likely,
    of_runs,
    outcome_detail,
    p_value,
    plural,
    rated,
    sentence,
    tally,
)

_BAR = 12
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class WayRow:
    """One thing the model does, on both sides.

    Attributes:
        phrase: what it does, without arguments.
        detail: the most frequent form, with arguments and words.
        same: whether it is the recorded decision.
        changed: how often in the changed context (or the only one).
        unchanged: how often in the unchanged one beside it; None when there is none.
    """

    phrase: str
    detail: str
    same: bool
    changed: int
    unchanged: int | None


def way_rows(distribution: Distribution) -> list[WayRow]:
    """All ways, the recorded decision first, then by how often they came."""
    decided = decided_tools(distribution.decision)
    beside = distribution.baseline
    here = {(h.phrase, h.sample.same): h for h in happenings(distribution.outcomes, decided)}
    there = {
        (h.phrase, h.sample.same): h for h in happenings(beside.outcomes if beside else (), decided)
    }
    rows = [
        WayRow(
            key[0],
            outcome_detail((here.get(key) or there[key]).sample, 200),
            key[1],
            here[key].count if key in here else 0,
            (there[key].count if key in there else 0) if beside else None,
        )
        for key in {**here, **there}
    ]
    return sorted(rows, key=lambda row: (not row.same, -row.changed, -(row.unchanged or 0)))


def distribution_sheet(report: DistributionReport, columns: int = 80) -> Sheet:
    """The whole report."""
    found = report.distribution
    sheet = Sheet(columns)
    sheet.prose("Trace", report.subject.path, Tone.QUIET)
    decision = f"event {found.decision.event} {decision_words(found.decision)}"
    sheet.prose("Decision", decision, Tone.STRONG)
    same = sameness_words(found.decision, report.settings)
    sheet.prose("", f"counted as the same: {same}", Tone.QUIET)
    for text in report.changed:
        sheet.prose("Changed" if text == report.changed[0] else "", text)
    sheet.blank()
    _ways(sheet, found)
    _verdict(sheet, found)
    if found.failure:
        sheet.prose("Stopped", sentence(found.failure), Tone.WARN)
        sheet.blank()
    sheet.joined("Cost", cost_words(found.calls), Tone.QUIET)
    return sheet


def _ways(sheet: Sheet, found: Distribution) -> None:
    rows = way_rows(found)
    label = "Does"
    if found.baseline is not None:
        sheet.row(label, Span(f"{'changed':<10}{'unchanged':<11}", Tone.QUIET))
        label = ""
    for row in rows[:_SHOWN]:
        tone = Tone.MARK if row.same else Tone.PLAIN
        head = _count_cells(row, found)
        mark = "● " if row.same else "  "
        room = sheet.room - len(head) - len(mark)
        sheet.row(label, head, Span(mark, Tone.MARK), Span(cut(row.detail, room), tone))
        label = ""
    if not rows:
        why = f": {plural(found.calls.errors, 'request')} failed" if found.calls.errors else ""
        sheet.row(label, f"nothing: no run was completed{why}")
    if len(rows) > _SHOWN:
        rest = sum(row.changed for row in rows[_SHOWN:])
        sheet.row("", Span(f"and {len(rows) - _SHOWN} other ways, {rest} runs", Tone.QUIET))
    if any(row.same for row in rows):
        sheet.row("", Span("● the recorded decision", Tone.QUIET))
    sheet.blank()


def _count_cells(row: WayRow, found: Distribution) -> str:
    here = f"{row.changed}/{len(found)}"
    if found.baseline is not None:
        return f"{here:<10}{f'{row.unchanged}/{len(found.baseline)}':<11}"
    share = row.changed / len(found) if len(found) else 0.0
    bar = "█" * round(share * _BAR)
    return f"{here:<8}{bar:<{_BAR}}  "


def _verdict(sheet: Sheet, found: Distribution) -> None:
    beside = found.baseline
    if beside is None:
        if found.tally.runs:
            comes = f"{of_runs(found.tally)} ({likely(found.tally)})"
            sheet.prose("So", f"the recorded decision comes in {comes}")
    elif found.tally.runs and beside.tally.runs:
        sheet.prose("So", f"changed {rated(found.tally)}, unchanged {rated(beside.tally)}")
        sheet.prose("", comparison_words(found))
    sheet.blank()


def comparison_words(found: Distribution) -> str:
    """The test of a distribution against the unchanged one beside it; empty where there is none."""
    p = found.p
    if p is None:
        return ""
    return f"exact test that it got rarer: p = {p_value(p)}, if chosen beforehand"


def progress_words(found: Distribution) -> str:
    """One line while it runs."""
    words = f"{tally(found.tally)} made the recorded decision"
    if found.baseline is not None:
        words += f"; unchanged {tally(found.baseline.tally)}"
    return f"{words}  ({len(found)} of {found.asked} runs)"
