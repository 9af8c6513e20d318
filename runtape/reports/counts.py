"""Counts in a column: what happened how often."""

from __future__ import annotations

from collections.abc import Iterable

from runtape.decision import Decision, Outcome
from runtape.reports.decisions import decided_tools
from runtape.reports.sheet import Sheet, Span, Tone
from runtape.reports.words import happenings, outcome_detail, plural

_SHOWN = 4


def add_counts(sheet: Sheet, label: str, rows: Iterable[tuple[str, str]]) -> None:
    """A line for each (count, words), counts in a column of their own."""
    for count, words in rows:
        sheet.row(label, f"{count:<7}", words)
        label = ""


def add_happenings(
    sheet: Sheet,
    label: str,
    outcomes: Iterable[tuple[Outcome, int]],
    runs: int,
    decision: Decision,
) -> None:
    """What happened in `runs` runs, most frequent first; rare ways beyond a few are counted."""
    ways = happenings(outcomes, decided_tools(decision))
    room = sheet.room - 7
    add_counts(
        sheet,
        label,
        ((f"{w.count}/{runs}", outcome_detail(w.sample, room - 12)) for w in ways[:_SHOWN]),
    )
    if len(ways) > _SHOWN:
        rest = plural(len(ways) - _SHOWN, "other way", "other ways")
        sheet.row("", Span(f"and {rest}", Tone.QUIET))
