"""Replies as they were recorded, whichever version of the format holds them."""

from __future__ import annotations

from typing import Any

from runtape.dialects.base import Reply, Stop, ToolCall, Usage
from runtape.jsonio import Json
from runtape.tape.events import LLM_RESPONSE, Event

_STOPS = {
    "stop": Stop.END,
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "completed": Stop.END,
    "tool_calls": Stop.TOOL_CALLS,
    "tool_use": Stop.TOOL_CALLS,
    "length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "max_output_tokens": Stop.LENGTH,
    "content_filter": Stop.REFUSAL,
    "refusal": Stop.REFUSAL,
}


def recorded_reply(event: Event) -> Reply | None:
    """The (first) reply of an llm_response event, of format version 2 or 1.

    None when the event is no response, or when the call failed or its content was not kept.
    """
    if event.type != LLM_RESPONSE:
        return None
    derived = event.payload.get("derived")
    if isinstance(derived, dict):
        replies = derived.get("replies")
        return _restored(replies[0]) if isinstance(replies, list) and replies else None
    if "stop_reason" in event.payload or "tool_calls" in event.payload:
        return _legacy_reply(event)
    return None


def _restored(data: Any) -> Reply | None:
    try:
        return Reply.from_json(data)
    except (KeyError, TypeError, ValueError):
        return None  # written by a later version, or by hand


def _legacy_reply(event: Event) -> Reply | None:
    payload = event.payload
    if payload.get("error"):
        return None
    calls = tuple(_legacy_calls(payload.get("tool_calls")))
    reason = payload.get("stop_reason")
    stop = _STOPS.get(str(reason), Stop.TOOL_CALLS if calls else Stop.OTHER)
    text = payload.get("text")
    return Reply(
        text=text if isinstance(text, str) and text else None,
        tool_calls=calls,
        stop=stop,
        usage=_legacy_usage(event.meta.get("tokens")),
        model=event.meta.get("model") if isinstance(event.meta.get("model"), str) else None,
    )


def _legacy_calls(calls: Any) -> list[ToolCall]:
    listed = calls if isinstance(calls, list) else []
    return [
        ToolCall(str(call.get("name") or ""), call.get("arguments"), _text(call.get("id")))
        for call in listed
        if isinstance(call, dict)
    ]


def _legacy_usage(tokens: Any) -> Usage:
    counts: Json = tokens if isinstance(tokens, dict) else {}
    return Usage(_count(counts.get("input")), _count(counts.get("output")))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
