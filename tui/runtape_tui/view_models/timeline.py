"""The events of a run as rows: what each is, what it took, where it belongs."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import OrderedDict
from math import log10

from runtape.errors import RuntapeError
from runtape.reports.cells import one_line
from runtape.reports.timeline import GLYPHS, KINDS, Row, row
from runtape.reports.words import tokens
from runtape.tape.events import TOOL_CALL, TOOL_RESULT, Head
from runtape.tape.reader import Tape
from runtape_tui.view_models.survey import Survey

_KEPT = 4_000
"""Rows kept after they were read."""
_FASTEST_MS = 10.0
"""Shorter than this has no bar; each cell of a bar is ten times longer than the one before."""
BAR_CELLS = 4


class TimelineModel:
    """Rows of a tape, read when they are shown; all of them, or those a filter lets through.

    Args:
        tape: the run.
        survey: what is known of the whole run.

    Attributes:
        tape: the run.
        survey: what is known of the whole run.
        filtered: numbers (in file order) of the events that are shown, or None for all.
    """

    def __init__(self, tape: Tape, survey: Survey) -> None:
        self.tape = tape
        self.survey = survey
        self.filtered: list[int] | None = None
        self._rows: OrderedDict[int, Row] = OrderedDict()

    def __len__(self) -> int:
        return len(self.tape.heads) if self.filtered is None else len(self.filtered)

    @property
    def digits(self) -> int:
        """Digits of the longest event number."""
        heads = self.tape.heads
        return max(2, len(str(heads[-1].id))) if heads else 2

    def head(self, number: int) -> Head:
        """The head of a row."""
        return self.tape.heads[number if self.filtered is None else self.filtered[number]]

    def entry(self, number: int) -> Row:
        """What a row shows; an event that cannot be read is shown as an error."""
        head = self.head(number)
        found = self._rows.get(head.offset)
        if found is None:
            found = self._rows[head.offset] = read_row(self.tape, head)
            if len(self._rows) > _KEPT:
                self._rows.popitem(last=False)
        return found

    def row_of(self, event: int) -> int | None:
        """The row of an event; None when there is none, or it is filtered out."""
        at = self.place_of(event)
        if at is None or self.filtered is None:
            return at
        number = bisect_left(self.filtered, at)
        there = number < len(self.filtered) and self.filtered[number] == at
        return number if there else None

    def nearest_row(self, event: int) -> int:
        """The row of an event, or the one after where it would be."""
        at = self.place_of(event) or 0
        if self.filtered is None:
            return at
        return max(0, min(bisect_left(self.filtered, at), len(self.filtered) - 1))

    def place_of(self, event: int) -> int | None:
        """The position of an event in the file."""
        heads = self.tape.heads
        at = bisect_left(heads, event, key=lambda head: head.id)
        if at < len(heads) and heads[at].id == event:
            return at
        return next((n for n, head in enumerate(heads) if head.id == event), None)

    def forget(self, survey: Survey) -> None:
        """Forget what was read: the file is another one now."""
        self.survey = survey
        self._rows.clear()
        self.filtered = None


def read_row(tape: Tape, head: Head) -> Row:
    """The row of one event; an error row when it cannot be read."""
    try:
        return row(tape.event(head))
    except RuntapeError as error:
        what = error.message
    except Exception as error:  # noqa: BLE001 - an event nobody foresaw must not end the app
        what = f"cannot be shown: {type(error).__name__}: {error}"
    return Row(head.id, head.ts, head.type, head.parent, error=what)


def glyph(entry: Row) -> str:
    """One character for the type of an event."""
    return GLYPHS.get(entry.type, "·")


def words(entry: Row) -> str:
    """What happened, in as few words as tell it."""
    if entry.error is not None:
        return one_line(f"{entry.name} {entry.error}".strip())
    return one_line(entry.detail) or KINDS.get(entry.type, entry.type)


def spent(entry: Row) -> str:
    """Tokens read by a model call, short; empty when unknown."""
    return "" if entry.input_tokens is None else tokens(entry.input_tokens)


def bar(latency_ms: float | None, cells: int = BAR_CELLS) -> str:
    """How long something took, on a scale of tens: one cell 0.1 s, two 1 s, three 10 s, four 100 s.

    The scale is the same in every run, and stays while a run grows.
    """
    if latency_ms is None or latency_ms <= _FASTEST_MS:
        return " " * cells
    halves = min(cells * 2, max(1, round(2 * log10(latency_ms / _FASTEST_MS))))
    full, half = divmod(halves, 2)
    return ("━" * full + "╸" * half).ljust(cells)


def searchable(entry: Row) -> str:
    """What a filter is matched against: number, kind, name, what happened, and ``error``."""
    kind = KINDS.get(entry.type, entry.type)
    name = f"tool:{entry.name}" if entry.type in {TOOL_CALL, TOOL_RESULT} else entry.name
    bad = f"error {entry.error}" if entry.error is not None else ""
    return f"{entry.id} {kind} {entry.type} {name} {entry.detail} {bad}"


def passes(entry: Row, pattern: re.Pattern[str]) -> bool:
    """Whether a filter lets an event through."""
    return pattern.search(searchable(entry)) is not None
