"""What can only be told after looking at every event: errors, tokens, lanes, nesting."""

from __future__ import annotations

import time
from typing import Any

from runtape.reports.timeline import Row, row
from runtape.tape.events import TOOL_CALL, TOOL_RESULT, Event, Head
from runtape.tape.reader import Tape

_DEEPEST = 6


class Survey:
    """Looks at events in file order, some at a time; goes on where it stopped when a run grows.

    Attributes:
        seen: events looked at so far.
        errors: events that went wrong.
        input_tokens: tokens read by the model, of all calls.
        output_tokens: tokens it wrote.
        lanes: names of the threads, tasks or agents that made calls, in order of appearance.
        timed: whether anything took long enough for a bar.
    """

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self.seen = 0
        self.errors: list[int] = []
        self.input_tokens = self.output_tokens = 0
        self.lanes: list[str] = []
        self.timed = False
        self._lane: dict[int, int] = {}
        self._depth: dict[int, int] = {}
        self._calls: set[int] = set()

    @property
    def done(self) -> bool:
        """Whether every event there is was looked at."""
        return self.seen >= len(self._tape.heads)

    def lane(self, event: int) -> int | None:
        """The lane an event happened in; None when all happen in one, or it is not known."""
        return self._lane.get(event) if len(self.lanes) > 1 else None

    def depth(self, event: int) -> int:
        """How many tool calls enclose an event."""
        return self._depth.get(event, 0)

    def look(self, seconds: float) -> None:
        """Look at more events for about so long."""
        until = time.monotonic() + seconds
        heads = self._tape.heads
        while self.seen < len(heads):
            self._take(heads[self.seen])
            self.seen += 1
            if time.monotonic() > until:
                return

    def _take(self, head: Head) -> None:
        try:
            event = self._tape.event(head)
            entry = row(event)
            self._count(entry)
            self._place(event)
        except Exception:  # noqa: BLE001 - what cannot be read is an error of the run's, not ours
            self.errors.append(head.id)

    def _count(self, entry: Row) -> None:
        if entry.error is not None:
            self.errors.append(entry.id)
        self.input_tokens += entry.input_tokens or 0
        self.output_tokens += entry.output_tokens or 0
        self.timed = self.timed or (entry.latency_ms or 0) > 10  # noqa: PLR2004 - milliseconds

    def _place(self, event: Event) -> None:
        parent = event.parent
        if event.type == TOOL_CALL:
            self._calls.add(event.id)
        if parent is not None:
            nested = parent in self._calls and event.type != TOOL_RESULT
            depth = min(_DEEPEST, self._depth.get(parent, 0) + nested)
            if depth:
                self._depth[event.id] = depth
        lane = _lane_name(event.payload.get("scope"))
        if lane:
            if lane not in self.lanes:
                self.lanes.append(lane)
            self._lane[event.id] = self.lanes.index(lane)
        elif parent in self._lane:
            self._lane[event.id] = self._lane[parent]


def _lane_name(scope: Any) -> str:
    """Agent or node where a recorder knew it, else the task, else the thread."""
    if not isinstance(scope, dict):
        return ""
    return next((str(scope[key]) for key in _LANES if scope.get(key)), "")


_LANES = ("agent", "node", "task", "thread")
