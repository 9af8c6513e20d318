"""Streams of Anthropic messages: events folded to the final message, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtape.dialects.base import FoldedStream
from runtape.dialects.content import arguments_text, parsed_arguments
from runtape.dialects.paths import entries, kind_of, object_of, text_of
from runtape.dialects.sse import grow, read_events, settle, split_text, write_event
from runtape.jsonio import Json

# Delta type → (key it adds to, key it brings); text is joined.
_JOINED = {"text_delta": "text", "thinking_delta": "thinking"}
_BESIDE_DELTA = ("context_management", "input_transformations")
_JSON_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def fold(stream: str) -> FoldedStream:
    """Fold events as the SDK's ``.stream()`` helper does; arguments that were cut stay raw text."""
    message: Json = {}
    blocks: dict[int, Json] = {}
    inputs: dict[int, list[str]] = {}
    error: Json | None = None
    terminal = False
    for event in read_events(stream):
        document = event.document
        if document is None:
            continue
        kind = kind_of(document) or event.name or ""
        if kind == "error":
            error = document
        elif kind == "message_start" and isinstance(document.get("message"), dict):
            message = document["message"]
            blocks = dict(entries(message.get("content")))
        elif kind == "message_delta":
            _add_message_delta(message, document)
        elif kind == "message_stop":
            terminal = True
            break
        else:
            _add_block_event(blocks, inputs, kind, document)
    _set_inputs(blocks, inputs)
    if message or blocks:
        message["content"] = [blocks[index] for index in sorted(blocks)]
        _name_fallback(message)
    return FoldedStream(settle(message), terminal, error)


def _add_message_delta(message: Json, event: Json) -> None:
    """Totals overwrite the counts of the start; what is left out there stays."""
    _state(message, object_of(event.get("delta")))
    message["usage"] = object_of(message.get("usage"))
    _state(message["usage"], object_of(event.get("usage")))
    _state(message, {key: event[key] for key in _BESIDE_DELTA if key in event})


def _state(target: Json, stated: Json) -> None:
    target.update({k: v for k, v in stated.items() if v is not None or k not in target})


def _add_block_event(
    blocks: dict[int, Json], inputs: dict[int, list[str]], kind: str, event: Json
) -> None:
    index = event.get("index")
    if not isinstance(index, int):
        return
    block, delta = event.get("content_block"), event.get("delta")
    if kind == "content_block_start" and isinstance(block, dict):
        blocks[index] = block
    elif kind == "content_block_delta" and isinstance(delta, dict) and index in blocks:
        if kind_of(delta) == "input_json_delta":
            inputs.setdefault(index, []).append(text_of(delta.get("partial_json")) or "")
        else:
            _add_delta(blocks[index], delta)


def _add_delta(block: Json, delta: Json) -> None:
    kind = kind_of(delta)
    if kind in _JOINED:
        key = _JOINED[kind]
        grow(block, key, text_of(delta.get(key)) or "")
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or []), delta.get("citation")]
    else:  # a signature, a compaction: stated as a whole
        block.update({key: value for key, value in delta.items() if key != "type"})


def _set_inputs(blocks: dict[int, Json], inputs: dict[int, list[str]]) -> None:
    for index, pieces in inputs.items():
        text = "".join(pieces)
        if text and kind_of(blocks[index]) in _JSON_BLOCKS:
            blocks[index]["input"] = parsed_arguments(text)


def _name_fallback(message: Json) -> None:
    """Label the message with the model that the last fallback in mid-stream went on with."""
    for _, block in entries(message["content"]):
        target = object_of(block.get("to")) if kind_of(block) == "fallback" else {}
        message["model"] = target.get("model") or message.get("model")


def render_stream(message: Json) -> list[str]:
    """The events that bring `message`."""
    usage = message["usage"]
    begun = {**message, "content": [], "stop_reason": None, "stop_details": None}
    begun["usage"] = {**usage, "output_tokens": None if usage["output_tokens"] is None else 1}
    delta = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    events: list[Json] = [
        {"type": "message_start", "message": begun},
        {"type": "ping"},
        *(
            event
            for index, block in entries(message["content"])
            for event in _block_events(index, block)
        ),
        {
            "type": "message_delta",
            "delta": delta,
            "usage": {"output_tokens": usage["output_tokens"]},
        },
        {"type": "message_stop"},
    ]
    return [write_event(event, event["type"]) for event in events]


def _block_events(index: int, block: Json) -> Iterator[Json]:
    kind, key, text = _streamed(block)
    empty: Any = "" if key == "text" else {}
    start = {**block, key: empty}
    yield {"type": "content_block_start", "index": index, "content_block": start}
    brings = "text" if kind == "text_delta" else "partial_json"
    for piece in split_text(text):
        yield {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": kind, brings: piece},
        }
    yield {"type": "content_block_stop", "index": index}


def _streamed(block: Json) -> tuple[str, str, str]:
    if block["type"] == "text":
        return "text_delta", "text", block["text"]
    text = arguments_text(block["input"])
    return "input_json_delta", "input", "" if text == "{}" else text
