"""Counts in a column: what happened how often."""

from __future__ import annotations

from collections.abc import Iterable

from runtape.decision import Decision, Outcome
from runtape.reports.cells import cut, wrap
from runtape.reports.decisions import decided_tools
from runtape.reports.sheet import Sheet, Span, Tone
from runtape.reports.words import happenings, outcome_detail, plural

_SHOWN = 4
_COUNT = 7
"""Cells of the column of counts."""


def add_counts(sheet: Sheet, label: str, rows: Iterable[tuple[str, str]]) -> None:
    """A line for each (count, words), counts in a column of their own."""
    for count, words in rows:
        head = f"{count:<{_COUNT}}"
        for text in wrap(words, sheet.room - _COUNT):
            sheet.row(label, head, text)
            label, head = "", " " * _COUNT


def add_happenings(
    sheet: Sheet,
    label: str,
    outcomes: Iterable[tuple[Outcome, int]],
    runs: int,
    decision: Decision,
) -> None:
    """What happened in `runs` runs, most frequent first; rare ways beyond a few are counted."""
    ways = happenings(outcomes, decided_tools(decision))
    room = sheet.room - _COUNT
    add_counts(
        sheet,
        label,
        (
            (f"{w.count}/{runs}", cut(outcome_detail(w.sample, room - 12), room))
            for w in ways[:_SHOWN]
        ),
    )
    if len(ways) > _SHOWN:
        rest = plural(len(ways) - _SHOWN, "other way", "other ways")
        sheet.row("", Span(f"and {rest}", Tone.QUIET))
