"""Where a jump leads: the next model call, the next call of the same tool, the next error."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from runtape.errors import RuntapeError
from runtape.tape.events import LLM_REQUEST, TOOL_CALL, TOOL_RESULT, Head
from runtape.tape.reader import Tape


def step(events: Sequence[int], here: int, by: int) -> int | None:
    """The event after (or before) `here` among ascending `events`."""
    at = bisect_right(events, here) if by > 0 else bisect_left(events, here) - 1
    return events[at] if 0 <= at < len(events) else None


def next_call(tape: Tape, here: int, by: int) -> int | None:
    """The next or previous model call."""
    return step([head.id for head in tape.of_type(LLM_REQUEST)], here, by)


def next_same_tool(tape: Tape, here: int, by: int) -> tuple[str | None, int | None]:
    """The tool of an event, and the next or previous call of it; calls are read one by one."""
    name = _tool(tape, here)
    if name is None:
        return None, None
    heads = tape.of_type(TOOL_CALL)
    ahead: Iterable[Head] = (
        (head for head in heads if head.id > here)
        if by > 0
        else (head for head in reversed(heads) if head.id < here)
    )
    found = (head.id for head in ahead if tape.event(head).payload.get("name") == name)
    return name, next(found, None)


def _tool(tape: Tape, here: int) -> str | None:
    """The tool an event is about: its own, or that of the call it is the result of."""
    try:
        event = tape[here]
        if event.type == TOOL_RESULT and event.parent is not None:
            event = tape[event.parent]
    except RuntapeError:
        return None
    name = event.payload.get("name") if event.type in {TOOL_CALL, TOOL_RESULT} else None
    return name if isinstance(name, str) else None
