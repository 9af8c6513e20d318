"""Streams of chat completions: chunks folded to the final completion, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtape.dialects.base import FoldedStream
from runtape.dialects.paths import entries
from runtape.dialects.sse import DONE, read_events, split_text, write_event
from runtape.jsonio import Json

_REPLACED = frozenset({"id", "type", "role", "index", "expires_at", "format"})
"""Fields of a delta that name something: a later value takes the place of the earlier one."""


def fold(stream: str) -> FoldedStream:
    """Fold chunks as the SDK's ``.stream()`` helper does, and go on where other servers deviate.

    Beyond the helper: chunks without ``object``, tool-call deltas without ``index`` or with the same index for
    several calls, repeated names and ids.
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
        response["choices"] = [choices[index] for index in sorted(choices)]
    return FoldedStream(response, terminal, error)


def _add_chunk(response: Json, choices: dict[int, Json], chunk: Json) -> None:
    for key, value in chunk.items():
        if key not in ("choices", "object", "obfuscation") and (
            value is not None or key not in response
        ):
            response[key] = value
    for position, choice in entries(chunk.get("choices")):
        index = choice.get("index")
        index = index if isinstance(index, int) else position
        _add_choice(choices.setdefault(index, _new_choice(index)), choice)


def _new_choice(index: int) -> Json:
    return {
        "index": index,
        "message": {"role": "assistant", "content": None},
        "finish_reason": None,
    }


def _add_choice(target: Json, choice: Json) -> None:
    for key, value in choice.items():
        if key == "logprobs":
            target["logprobs"] = _with_logprobs(target.get("logprobs"), value)
        elif key not in ("index", "delta", "message") and (value is not None or key not in target):
            target[key] = value
    delta = choice.get("delta")
    if isinstance(delta, dict):
        _add_delta(target["message"], delta)


def _with_logprobs(old: Any, new: Any) -> Any:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return old if new is None else new
    merged = {**old}
    for key, value in new.items():
        before = old.get(key)
        merged[key] = (
            before + value
            if isinstance(before, list) and isinstance(value, list)
            else value or before
        )
    return merged


def _add_delta(message: Json, delta: Json) -> None:
    for key, value in delta.items():
        if key == "tool_calls":
            calls = message.setdefault("tool_calls", []) if value else []
            for _, call in entries(value):
                _add_call(calls, call)
        else:
            message[key] = _accumulated(key, message.get(key), value)


def _add_call(calls: list[Json], delta: Json) -> None:
    """Merge one call delta: by index where it can be trusted, else a new id starts a new call."""
    plain = {key: value for key, value in delta.items() if key != "index"}
    at = _position(calls, delta.get("index"), delta.get("id"))
    if at is None:
        calls.append(plain)
        return
    target = calls[at]
    for key, value in plain.items():
        target[key] = _accumulated(key, target.get(key), value)


def _position(calls: list[Json], index: Any, call_id: Any) -> int | None:
    at = index if isinstance(index, int) else len(calls) - 1
    if not 0 <= at < len(calls):
        return None
    starts_another = call_id and calls[at].get("id") and call_id != calls[at]["id"]
    return None if starts_another else at


def _accumulated(key: str, old: Any, new: Any) -> Any:
    if old is None or new is None:
        return old if new is None else new
    if key in _REPLACED:
        return new or old
    if isinstance(old, str) and isinstance(new, str):
        return old if key == "name" and old == new else old + new
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{k: _accumulated(k, old.get(k), v) for k, v in new.items()}}
    if isinstance(old, list) and isinstance(new, list):
        return old + new
    return new


def render_stream(completion: Json, *, usage: bool) -> list[str]:
    """The events that bring `completion`; `usage`: with the last chunk that ``include_usage`` asks for."""
    head = {
        key: completion[key]
        for key in ("id", "created", "model", "service_tier", "system_fingerprint")
    }
    head = {**head, "object": "chat.completion.chunk"}
    asked: Json = {"usage": None} if usage else {}
    chunks = [
        {
            **head,
            "choices": [
                {"index": choice["index"], "delta": delta, "logprobs": None, "finish_reason": end}
            ],
        }
        | asked
        for choice in completion["choices"]
        for delta, end in _deltas(choice)
    ]
    if usage and completion.get("usage"):
        chunks.append({**head, "choices": [], "usage": completion["usage"]})
    return [*map(write_event, chunks), write_event(DONE)]


def _deltas(choice: Json) -> Iterator[tuple[Json, str | None]]:
    message = choice["message"]
    yield {"role": "assistant", "content": "" if message["content"] is not None else None}, None
    for key in ("content", "refusal"):
        for piece in split_text(message[key] or ""):
            yield {key: piece}, None
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = {"name": call["function"]["name"], "arguments": ""}
        first = {"index": index, "id": call["id"], "type": "function", "function": function}
        yield {"tool_calls": [first]}, None
        for piece in split_text(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None
    yield {}, choice["finish_reason"]
