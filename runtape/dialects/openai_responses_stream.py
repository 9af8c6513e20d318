"""Streams of the Responses API: typed events folded to the final response, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtape.dialects.base import FoldedStream
from runtape.dialects.paths import entries
from runtape.dialects.sse import read_events, split_text, write_event
from runtape.jsonio import Json

_FINAL = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}
)

# Delta event → (list in the item, key of the text in its member; list None: in the item itself).
_DELTAS: dict[str, tuple[str | None, str]] = {
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
    """The response of the terminal event; when the stream was cut, what its events built up so far."""
    response: Json = {}
    items: dict[int, Json] = {}
    error: Json | None = None
    terminal = False
    for event in read_events(stream):
        if event.done:
            terminal = True
            break
        document = event.document
        if document is None:
            continue
        kind = str(document.get("type") or event.name)
        if kind == "error" or (document.get("error") and "response" not in document):
            error = document
        elif isinstance(document.get("response"), dict):
            response = document["response"]
            if kind in _FINAL:
                terminal = True
                break
        else:
            _add_event(items, kind, document)
    return FoldedStream(_with_output(response, items), terminal, error)


def _with_output(response: Json, items: dict[int, Json]) -> Json:
    """A terminal response carries its output; an earlier one (or a leaner server's) gets it from the items."""
    if not items or response.get("output"):
        return response
    return {**response, "output": [items[index] for index in sorted(items)]}


def _add_event(items: dict[int, Json], kind: str, event: Json) -> None:
    index = event.get("output_index")
    if not isinstance(index, int):
        return
    item = event.get("item")
    if kind in ("response.output_item.added", "response.output_item.done") and isinstance(
        item, dict
    ):
        items[index] = item
        return
    target = items.get(index)
    if target is None:
        return
    base, _, action = kind.rpartition(".")
    if base in _PARTS and isinstance(event.get("part"), dict):
        items[index] = _with_part(target, _PARTS[base], event, event["part"])
    elif base in _DELTAS:
        items[index] = _with_text(target, _DELTAS[base], event, whole=action == "done")
    elif kind == "response.output_text.annotation.added":
        items[index] = _with_annotation(target, event)


def _member(item: Json, key: str, event: Json) -> tuple[list[Any], int]:
    at = event.get("summary_index" if key == "summary" else "content_index")
    members = item.get(key)
    members = list(members) if isinstance(members, list) else []
    return members, at if isinstance(at, int) and 0 <= at <= len(members) else len(members)


def _with_part(item: Json, key: str, event: Json, part: Json) -> Json:
    members, at = _member(item, key, event)
    members[at : at + 1] = [part]
    return {**item, key: members}


def _with_text(item: Json, place: tuple[str | None, str], event: Json, *, whole: bool) -> Json:
    """The item with a text delta added, or with the text that a ``done`` event states as a whole."""
    members_key, key = place
    new = event.get(key if whole else "delta")
    if not isinstance(new, str):
        return item
    if members_key is None:
        return {**item, key: new if whole else (item.get(key) or "") + new}
    members, at = _member(item, members_key, event)
    if at == len(members) or not isinstance(members[at], dict):
        return item
    old = members[at].get(key) or ""
    return _with_part(item, members_key, event, {**members[at], key: new if whole else old + new})


def _with_annotation(item: Json, event: Json) -> Json:
    members, at = _member(item, "content", event)
    if at == len(members) or not isinstance(members[at], dict):
        return item
    annotations = [*(members[at].get("annotations") or []), event.get("annotation")]
    return _with_part(item, "content", event, {**members[at], "annotations": annotations})


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
