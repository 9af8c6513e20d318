"""Streams of chat completions: chunks folded to the final completion, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtape.dialects.base import FoldedStream
from runtape.dialects.content import content_text
from runtape.dialects.paths import entries, object_of, text_of
from runtape.dialects.sse import DONE, Growing, grow, read_events, settle, split_text, write_event
from runtape.jsonio import Json

_STATED = frozenset({"id", "type", "role", "index", "expires_at", "format"})
"""Fields of a delta that name something: a later value takes the place of the earlier one."""


def fold(stream: str) -> FoldedStream:
    """Fold chunks as the SDK's ``.stream()`` helper does, and go on where other servers deviate.

    Beyond the helper: chunks without ``object``, call deltas without ``index`` or with the same one
    for several calls, repeated names and ids, a whole message instead of deltas.
    """
    response: Json = {}
    choices: dict[int, Json] = {}
    error: Json | None = None
    terminal = False
    for event in read_events(stream):
        if event.done:
            terminal = True
            break
        chunk = event.document
        if chunk is None:
            continue
        if chunk.get("error") or event.name == "error":
            error = chunk
            continue
        _add_chunk(response, choices, chunk)
    if response or choices:
        response["object"] = "chat.completion"
        response["choices"] = [_whole(choices[index]) for index in sorted(choices)]
    return FoldedStream(settle(response), terminal, error)


def _add_chunk(response: Json, choices: dict[int, Json], chunk: Json) -> None:
    _state(response, chunk, except_for=("choices", "object", "obfuscation"))
    for position, choice in entries(chunk.get("choices")):
        index = choice.get("index")
        index = index if isinstance(index, int) else position
        _add_choice(choices.setdefault(index, _new_choice(index)), choice)


def _state(target: Json, stated: Json, except_for: tuple[str, ...]) -> None:
    """Take over fields that are stated as a whole; null never wipes out an earlier value."""
    for key, value in stated.items():
        if key not in except_for and (value is not None or key not in target):
            target[key] = value


def _new_choice(index: int) -> Json:
    message = {"role": "assistant", "content": None}
    return {"index": index, "message": message, "logprobs": None, "finish_reason": None}


def _whole(choice: Json) -> Json:
    """The choice without what only a stream has: the calls' positions."""
    for _, call in entries(choice["message"].get("tool_calls")):
        call.pop("index", None)
    return choice


def _add_choice(target: Json, choice: Json) -> None:
    _state(target, choice, except_for=("index", "delta", "message", "logprobs"))
    logprobs = choice.get("logprobs")
    if isinstance(logprobs, dict):
        target["logprobs"] = _with_logprobs(object_of(target["logprobs"]), logprobs)
    for key, value in object_of(choice.get("delta") or choice.get("message")).items():
        if key == "tool_calls":
            for _, call in entries(value):
                _add_call(target["message"].setdefault("tool_calls", []), call)
        else:
            _accumulate(target["message"], key, value)


def _with_logprobs(old: Json, new: Json) -> Json:
    for key, value in new.items():
        if isinstance(old.get(key), list) and isinstance(value, list):
            old[key].extend(value)
        else:
            old[key] = value or old.get(key)
    return old


def _add_call(calls: list[Json], delta: Json) -> None:
    target = _continued(calls, delta)
    if target is None:
        target = {}
        calls.append(target)
    for key, value in delta.items():
        _accumulate(target, key, value)


def _continued(calls: list[Json], delta: Json) -> Json | None:
    """The call that a delta goes on with; None when it begins another.

    By ``index``, wherever the count begins. Some servers leave it out or give every call the same
    one: there a new id begins a call, and without ids a name does.
    """
    index, call_id = delta.get("index"), delta.get("id")
    numbered = isinstance(index, int)
    same = [call for call in calls if call.get("index") == index] if numbered else calls
    target = same[-1] if same else None
    if target is None or (call_id and target.get("id")):
        return target if target is None or call_id == target["id"] else None
    begins = not numbered and object_of(delta.get("function")).get("name")
    return None if begins else target


def _accumulate(target: Json, key: str, value: Any) -> None:
    old = target.get(key)
    if old is None:
        target[key] = value
    elif value is None or (key == "name" and str(old) == value):
        return
    elif key in _STATED:
        target[key] = value or old
    elif isinstance(value, dict) and isinstance(old, dict):
        for inner, item in value.items():
            _accumulate(old, inner, item)
    elif isinstance(value, list) and isinstance(old, list):
        old.extend(value)
    elif isinstance(value, str):
        grow(target, key, value)
    elif isinstance(value, list) and isinstance(old, (str, Growing)):
        grow(target, key, content_text(value) or "")
    else:
        target[key] = value


def render_stream(completion: Json, *, usage: bool) -> list[str]:
    """The events that bring `completion`; `usage`: the last chunk tells it (``include_usage``)."""
    kept = ("id", "created", "model", "service_tier", "system_fingerprint")
    head = {"object": "chat.completion.chunk", **{key: completion[key] for key in kept}}
    asked: Json = {"usage": None} if usage else {}
    chunks = [
        {**head, "choices": [_chunk_choice(choice["index"], delta, end)], **asked}
        for choice in completion["choices"]
        for delta, end in _deltas(choice)
    ]
    if usage and completion.get("usage"):
        chunks.append({**head, "choices": [], "usage": completion["usage"]})
    return [*map(write_event, chunks), write_event(DONE)]


def _chunk_choice(index: int, delta: Json, end: str | None) -> Json:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": end}


def _deltas(choice: Json) -> Iterator[tuple[Json, str | None]]:
    message = choice["message"]
    yield {"role": "assistant", "content": None if message["content"] is None else ""}, None
    for key in ("content", "refusal"):
        for piece in split_text(text_of(message[key]) or ""):
            yield {key: piece}, None
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = {"name": call["function"]["name"], "arguments": ""}
        first = {"index": index, "id": call["id"], "type": "function", "function": function}
        yield {"tool_calls": [first]}, None
        for piece in split_text(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None
    yield {}, choice["finish_reason"]
