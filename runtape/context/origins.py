"""Where each part of a request came from: the event with which its text first entered the run."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from runtape.context.json_spans import Span, array, members, skip
from runtape.context.recorded import recorded_reply
from runtape.dialects.base import JsonPath, Reply, Slot, SlotKind
from runtape.dialects.paths import value_at
from runtape.jsonio import Json, canonical, loads
from runtape.tape.events import LLM_RESPONSE, TOOL_CALL, TOOL_RESULT, Event, Request
from runtape.tape.reader import Tape


class Entrances:
    """Which request brought each place of a recorded body: what most of its text came with."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._starts = [span.start for span in request.spans]
        self._places: dict[JsonPath, dict[str | int, Span]] = {}

    def event(self, path: JsonPath) -> int:
        """The request event for a place up to two steps below the root (a message, the system)."""
        span = self._span(path[:2]) or self._span(path[:1])
        return self._main_source(*span) if span else self._request.event

    def _span(self, path: JsonPath) -> Span | None:
        if not path:
            return (0, len(self._request.text))
        around = self._span(path[:-1])
        return None if around is None else self._inside(path[:-1], around).get(path[-1])

    def _inside(self, path: JsonPath, span: Span) -> dict[str | int, Span]:
        if path not in self._places:
            self._places[path] = dict(_spans(self._request.text, span[0]))
        return self._places[path]

    def _main_source(self, start: int, end: int) -> int:
        weights: dict[int, int] = defaultdict(int)
        first = max(0, bisect_right(self._starts, start) - 1)
        for span in self._request.spans[first:]:
            if span.start >= end:
                break
            weights[span.event] += min(end, span.end) - max(start, span.start)
        return max(weights, key=lambda event: weights[event], default=self._request.event)


def _spans(text: str, at: int) -> Iterator[tuple[str | int, Span]]:
    """Keys or indices of the container at `at`, with the spans of their values."""
    at = skip(text, at)
    if text.startswith("{", at):
        yield from ((name, span) for name, _, _, span in members(text, at))
    elif text.startswith("[", at):
        yield from ((index, span) for index, (_, span) in enumerate(array(text, at)))


class Sources:
    """The events of a tape that text of a request came from: tool results and replies before it."""

    def __init__(self, tape: Tape, before: int) -> None:
        self._tape = tape
        self._before = before

    def result(self, call_id: str | None, value: Any) -> int | None:
        """The tool_result event of a tool message: by its call's id, then by what it holds."""
        found = self._results_by_call.get(call_id, []) if call_id else []
        same = [event.id for event in found if holds(event.payload.get("result"), value)]
        if same or found:
            return (same or [event.id for event in found])[-1]
        waiting = self._results_by_content.get(_content_key(value)) if self._results else None
        return waiting.popleft() if waiting else None

    def reply(self, text: str | None, call_ids: frozenset[str], entered: int) -> int | None:
        """The llm_response event that said `text` or made one of these calls, before `entered`."""
        for event, reply in self._replies:
            if event <= entered and (
                (text and reply.text and text.strip() == reply.text.strip())
                or call_ids & {call.id for call in reply.tool_calls}
            ):
                return event
        return None

    @cached_property
    def _results(self) -> list[Event]:
        heads = self._tape.of_type(TOOL_RESULT)
        return [self._tape.event(head) for head in heads if head.id < self._before]

    @cached_property
    def _results_by_call(self) -> dict[str | None, list[Event]]:
        calls = {
            head.id: self._tape.event(head).payload.get("call_id")
            for head in self._tape.of_type(TOOL_CALL)
            if head.id < self._before
        }
        by_call: dict[str | None, list[Event]] = defaultdict(list)
        for event in self._results:
            call_id = event.payload.get("call_id") or calls.get(event.parent or -1)
            if isinstance(call_id, str):
                by_call[call_id].append(event)
        return by_call

    @cached_property
    def _results_by_content(self) -> dict[bytes, deque[int]]:
        by_content: dict[bytes, deque[int]] = defaultdict(deque)
        for event in self._results:
            by_content[_content_key(event.payload.get("result"))].append(event.id)
        return by_content

    @cached_property
    def _replies(self) -> list[tuple[int, Reply]]:
        heads = reversed([h for h in self._tape.of_type(LLM_RESPONSE) if h.id < self._before])
        found = ((head.id, recorded_reply(self._tape.event(head))) for head in heads)
        return [(event, reply) for event, reply in found if reply is not None]


def holds(result: Any, value: Any) -> bool:
    """Whether a recorded tool result and what the model was shown say the same."""
    return _content_key(result) == _content_key(value)


def _content_key(value: Any) -> bytes:
    """Equal for a value and its JSON text."""
    try:
        return canonical(loads(value) if isinstance(value, str) else value)
    except (ValueError, RecursionError):
        return str(value).strip().encode("utf-8", "surrogatepass")


def slot_event(slot: Slot, body: Json, entered: int, sources: Sources) -> int:
    """The event a slot's text first entered with; `entered`: the request it first stands in."""
    value = value_at(body, slot.path)
    found = None
    if slot.kind is SlotKind.TOOL_RESULT:
        found = sources.result(slot.call_id, value)
    elif slot.kind is SlotKind.TOOL_CALL and slot.call_id:
        found = sources.reply(None, frozenset({slot.call_id}), entered)
    elif slot.kind is SlotKind.ASSISTANT and isinstance(value, str):
        found = sources.reply(value, frozenset(), entered)
    return entered if found is None else found
