"""Where each part of a request came from: the event with which its text first entered the run."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from runtape.context.json_spans import Span, array, members, skip
from runtape.context.recorded import recorded_reply
from runtape.dialects.base import JsonPath, Slot, SlotKind
from runtape.dialects.paths import value_at
from runtape.jsonio import Json, canonical, loads
from runtape.tape.events import LLM_RESPONSE, TOOL_CALL, TOOL_RESULT, Head, Request
from runtape.tape.reader import Tape

_BY_ASSISTANT = frozenset({SlotKind.ASSISTANT, SlotKind.TOOL_CALL})


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

    def result(self, call_id: str | None, value: Any, entered: int) -> int | None:
        """The tool_result event of a tool message: by its call's id, else by what it holds.

        Agents use ids again: of several, the last before the request `entered` that holds the same.
        """
        found = _until(self._results_by_call.get(call_id, []), entered) if call_id else []
        if len(found) > 1:
            wanted = _content_key(value)
            found = [event for event in found if self._result_key(event) == wanted] or found
        if found:
            return found[-1]
        waiting = self._results_by_content.get(_content_key(value)) if self._results else None
        return waiting.popleft() if waiting else None

    def reply(self, said: str, entered: int) -> int | None:
        """The last llm_response event before `entered` with this text or a call of this id."""
        found = _until(self._replies.get(said.strip(), []), entered)
        return found[-1] if found else None

    def _result_key(self, event: int) -> bytes:
        return _content_key(self._tape[event].payload.get("result"))

    def _earlier(self, kind: str) -> list[Head]:
        return [head for head in self._tape.of_type(kind) if head.id < self._before]

    @cached_property
    def _results(self) -> list[Head]:
        return self._earlier(TOOL_RESULT)

    @cached_property
    def _results_by_call(self) -> dict[str, list[int]]:
        heads = self._earlier(TOOL_CALL)
        calls = {head.id: self._tape.event(head).payload.get("call_id") for head in heads}
        by_call: dict[str, list[int]] = defaultdict(list)
        for head in self._results:
            call_id = calls.get(head.parent or -1)
            if isinstance(call_id, str):
                by_call[call_id].append(head.id)
        return by_call

    @cached_property
    def _results_by_content(self) -> dict[bytes, deque[int]]:
        by_content: dict[bytes, deque[int]] = defaultdict(deque)
        for head in self._results:
            by_content[self._result_key(head.id)].append(head.id)
        return by_content

    @cached_property
    def _replies(self) -> dict[str, list[int]]:
        """Events by what was said in them: their text, and the ids of their calls."""
        by_words: dict[str, list[int]] = defaultdict(list)
        for head in self._earlier(LLM_RESPONSE):
            reply = recorded_reply(self._tape.event(head))
            if reply is not None:
                said = {(reply.text or "").strip(), *(call.id or "" for call in reply.tool_calls)}
                for words in said - {""}:
                    by_words[words].append(head.id)
        return by_words


def _until(events: list[int], last: int) -> list[int]:
    return events[: bisect_right(events, last)]


def _content_key(value: Any) -> bytes:
    """Equal for a value and its JSON text."""
    try:
        return canonical(loads(value) if isinstance(value, str) else value)
    except (ValueError, RecursionError):
        return str(value).strip().encode("utf-8", "surrogatepass")


def slot_events(
    slots: Sequence[Slot], body: Json, entered: Callable[[JsonPath], int], sources: Sources
) -> list[int]:
    """For each slot the event its text first entered with.

    Tool results count from their tool event, what the assistant said or called from its reply,
    all else from the request it first stands in, which `entered` tells.
    """
    said = _said(slots, body)
    events: list[int] = []
    for slot in slots:
        first = entered(slot.path)
        found = None
        if slot.kind is SlotKind.TOOL_RESULT:
            found = sources.result(slot.call_id, value_at(body, slot.path), first)
        elif slot.kind in _BY_ASSISTANT:
            replies = (sources.reply(words, first) for words in said[slot.message])
            found = next(filter(None, replies), None)
        events.append(first if found is None else found)
    return events


def _said(slots: Sequence[Slot], body: Json) -> dict[int | None, list[str]]:
    """For each message of the assistant what tells its reply: ids of its calls, then its text."""
    ids: dict[int | None, list[str]] = defaultdict(list)
    texts: dict[int | None, list[str]] = defaultdict(list)
    for slot in slots:
        if slot.kind is SlotKind.TOOL_CALL and slot.call_id:
            ids[slot.message].append(slot.call_id)
        elif slot.kind is SlotKind.ASSISTANT:
            texts[slot.message].append(str(value_at(body, slot.path)))
    return {m: [*ids[m], "".join(texts[m])] for m in {*ids, *texts, *(s.message for s in slots)}}
