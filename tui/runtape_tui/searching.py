"""Searching a run: what is lit, where the next match is."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import takewhile

from runtape.errors import UsageError
from runtape.reports.grep import compile_pattern, find
from runtape.reports.words import plural
from runtape.tape.reader import Tape
from runtape_tui.view_models.timeline import passes, read_row


class Search:
    """A pattern, and the events whose content matches it.

    Attributes:
        text: as typed.
        pattern: compiled, or None: nothing is searched for.
        events: events with matches, ascending, as far as they are known.
        hits: matches found so far.
        done: whether the whole run was searched.
    """

    def __init__(self, text: str = "") -> None:
        """Compile `text`; raises UsageError when it is no regular expression."""
        self.text = text
        self.pattern: re.Pattern[str] | None = compile_pattern(text) if text else None
        self.events: list[int] = []
        self.hits = 0
        self.done = not text

    def run(self, tape: Tape, go_on: Callable[[], bool]) -> Iterable[None]:
        """Search the run from the beginning; yields whenever an event was added."""
        if self.pattern is None:
            return
        events = takewhile(lambda _: go_on(), tape)
        for hit in find(tape, self.text, events):
            self.hits += 1
            if not self.events or self.events[-1] != hit.event:
                at = bisect_left(self.events, hit.event)
                if self.events[at : at + 1] != [hit.event]:
                    self.events.insert(at, hit.event)
                yield
        self.done = go_on()

    def next_event(self, event: int, by: int) -> tuple[int | None, bool]:
        """The next (or previous) event with a match, and whether it lies beyond the end."""
        events = self.events
        if not events:
            return None, False
        if by > 0:
            at = bisect_right(events, event)
            return events[at % len(events)], at >= len(events)
        at = bisect_left(events, event) - 1
        return events[at], at < 0

    @property
    def words(self) -> str:
        """What was found, in a few words."""
        if self.pattern is None:
            return ""
        found = f"{plural(self.hits, 'hit')} in {plural(len(self.events), 'event')}"
        return f"/{self.text}  {found}{'' if self.done else '…'}"


class Filter:
    """Which rows of the timeline are shown.

    Attributes:
        text: as typed.
        numbers: numbers (in file order) of the events it lets through, as far as they are known.
        seen: events looked at.
    """

    def __init__(self, text: str) -> None:
        """Compile `text`; raises UsageError when it is no regular expression."""
        self.text = text
        self.pattern = compile_pattern(text)
        self.numbers: list[int] = []
        self.seen = 0

    def run(self, tape: Tape, go_on: Callable[[], bool]) -> Iterable[None]:
        """Look at the events not looked at yet; yields whenever one was let through."""
        heads = tape.heads
        while self.seen < len(heads) and go_on():
            number, self.seen = self.seen, self.seen + 1
            if passes(read_row(tape, heads[number]), self.pattern):
                self.numbers.append(number)
                yield


def fault(text: str) -> str:
    """What is wrong with a pattern; empty when nothing is."""
    try:
        Search(text)
    except UsageError as error:
        return error.message.rpartition(": ")[2]
    return ""
