"""Streams of the Responses API: typed events folded to the final response, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtape.dialects.base import FoldedStream
from runtape.dialects.paths import entries, kind_of, object_of
from runtape.dialects.sse import grow, read_events, settle, split_text, write_event
from runtape.jsonio import Json

_FINAL = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}
)

_WHOLE_ITEMS = ("response.output_item.added", "response.output_item.done")

# Text event → (list in the item, key of the text in its member); list None: in the item itself.
_TEXTS: dict[str, tuple[str | None, str]] = {
    "response.output_text": ("content", "text"),
    "response.refusal": ("content", "refusal"),
    "response.reasoning_text": ("content", "text"),
    "response.reasoning_summary_text": ("summary", "text"),
    "response.function_call_arguments": (None, "arguments"),
    "response.mcp_call_arguments": (None, "arguments"),
    "response.custom_tool_call_input": (None, "input"),
    "response.code_interpreter_call_code": (None, "code"),
}
_PARTS = {"response.content_part": "content", "response.reasoning_summary_part": "summary"}


def fold(stream: str) -> FoldedStream:
    """The response of the terminal event; of a cut stream, what its events built up so far.

    A leaner server's terminal event without output gets it from the items, as in the SDK's helper.
    """
    response: Json = {}
    events: list[tuple[str, Json]] = []
    error: Json | None = None
    terminal = False
    for event in read_events(stream):
        document = event.document
        if document is None:
            terminal = terminal or event.done
            continue
        kind = kind_of(document) or event.name or ""
        if kind == "error" or (document.get("error") and "response" not in document):
            error = document
        elif isinstance(document.get("response"), dict):
            response = document["response"]
            terminal = terminal or kind in _FINAL
        else:
            events.append((kind, document))
        if kind in _FINAL:
            break
    if not response.get("output"):
        response = _with_output(response, events)
    return FoldedStream(response, terminal, error)


def _with_output(response: Json, events: list[tuple[str, Json]]) -> Json:
    items: dict[int, Json] = {}
    for kind, event in events:
        index, item = event.get("output_index"), event.get("item")
        if isinstance(index, int) and kind in _WHOLE_ITEMS and isinstance(item, dict):
            items[index] = item
        elif isinstance(index, int) and index in items:
            _add_event(items[index], kind, event)
    if not items and (response.get("output") is not None or not response):
        return response
    return settle({**response, "output": [items[index] for index in sorted(items)]})


def _add_event(item: Json, kind: str, event: Json) -> None:
    base, _, action = kind.rpartition(".")
    if base in _PARTS and isinstance(event.get("part"), dict):
        members, at = _members(item, _PARTS[base], event)
        members[at : at + 1] = [event["part"]]
    elif base in _TEXTS:
        _add_text(item, _TEXTS[base], event, whole=action == "done")
    elif kind == "response.output_text.annotation.added":
        member = _member(item, "content", event)
        member["annotations"] = [*(member.get("annotations") or []), event.get("annotation")]


def _add_text(item: Json, place: tuple[str | None, str], event: Json, *, whole: bool) -> None:
    """Add a delta, or put the text in place that a ``done`` event states as a whole."""
    list_key, key = place
    holder = item if list_key is None else _member(item, list_key, event)
    text = event.get(key if whole else "delta")
    if not isinstance(text, str):
        return
    if whole:
        holder[key] = text
    else:
        grow(holder, key, text)


def _members(item: Json, key: str, event: Json) -> tuple[list[Any], int]:
    if not isinstance(item.get(key), list):
        item[key] = []
    at = event.get("summary_index" if key == "summary" else "content_index")
    members: list[Any] = item[key]
    return members, at if isinstance(at, int) and 0 <= at <= len(members) else len(members)


def _member(item: Json, key: str, event: Json) -> Json:
    """The part an event speaks of; one of its own that leads nowhere when there is none."""
    members, at = _members(item, key, event)
    return object_of(members[at] if at < len(members) else None)


def render_stream(response: Json) -> list[str]:
    """The events that bring `response`, numbered as the API numbers them."""
    begun = {
        **response,
        "status": "in_progress",
        "output": [],
        "usage": None,
        "incomplete_details": None,
    }
    final = f"response.{response['status']}"
    events: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        *(
            event
            for index, item in entries(response["output"])
            for event in _item_events(index, item)
        ),
        {"type": final, "response": response},
    ]
    return [write_event(e | {"sequence_number": n}, e["type"]) for n, e in enumerate(events)]


def _item_events(index: int, item: Json) -> Iterator[Json]:
    empty: Json = {"content": []} if item["type"] == "message" else {"arguments": ""}
    added = {**item, "status": "in_progress", **empty}
    yield {"type": "response.output_item.added", "output_index": index, "item": added}
    at = {"item_id": item["id"], "output_index": index}
    if item["type"] == "message":
        for part_index, part in entries(item["content"]):
            yield from _part_events(part, at | {"content_index": part_index})
    else:
        yield from _text_events("response.function_call_arguments", "arguments", item, at)
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _part_events(part: Json, at: Json) -> Iterator[Json]:
    key = "refusal" if part["type"] == "refusal" else "text"
    name = "response.refusal" if key == "refusal" else "response.output_text"
    yield {"type": "response.content_part.added", **at, "part": {**part, key: ""}}
    yield from _text_events(name, key, part, at)
    yield {"type": "response.content_part.done", **at, "part": part}


def _text_events(name: str, key: str, holder: Json, at: Json) -> Iterator[Json]:
    extra: Json = {"logprobs": []} if name == "response.output_text" else {}
    for piece in split_text(holder[key]):
        yield {"type": f"{name}.delta", **at, **extra, "delta": piece}
    named = {"name": holder["name"]} if "name" in holder else {}
    yield {"type": f"{name}.done", **at, **extra, **named, key: holder[key]}
