"""Documents that providers send and the usual answer does not have."""

from __future__ import annotations

from typing import Any

from runtape.dialects.base import Reply, Usage
from runtape.jsonio import dumps_text
from tests.support.loopback import Fault

SAID = Reply("It cools — slowly, over many hours.", usage=Usage(17, 5))
ERROR_EVENT = Fault(reply=SAID, error_event={"error": {"type": "overloaded", "message": "later"}})

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
        },
    }
]

CHOICES = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1790000000,
    "model": "m",
    "choices": [
        {
            "index": index,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": word},
            "logprobs": {
                "content": [{"token": word, "logprob": -0.25, "bytes": [104], "top_logprobs": []}],
                "refusal": None,
            },
        }
        for index, word in enumerate(("cold", "cool", "hot"))
    ],
    "usage": {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8},
}
REFUSAL = {
    **CHOICES,
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": None, "refusal": "I will not."},
        }
    ],
}


def _message(*content: Any, stop: str = "end_turn", **usage: int) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 4, **usage},
    }


_THOUGHT = {"type": "thinking", "thinking": "Kilns cool.", "signature": "c2ln"}
_TEXT = {"type": "text", "text": "It cools.", "citations": None}
THINKING = _message(_THOUGHT, {"type": "redacted_thinking", "data": "eHg="}, _TEXT)
CITED = _message(
    {
        "type": "text",
        "text": "It cools.",
        "citations": [
            {
                "type": "char_location",
                "cited_text": "cools",
                "document_index": 0,
                "document_title": "Kilns",
                "start_char_index": 3,
                "end_char_index": 8,
            }
        ],
    }
)
CACHED = _message(_TEXT, cache_creation_input_tokens=7, cache_read_input_tokens=100)
REFUSED = _message(stop="refusal")


def _stream(*events: dict[str, Any]) -> Fault:
    text = "".join(f"event: {event['type']}\ndata: {dumps_text(event)}\n\n" for event in events)
    return Fault(200, {"content-type": "text/event-stream"}, body=text.encode())


def _delta(index: int, kind: str, **fields: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


THINKING_STREAM = _stream(
    {"type": "message_start", "message": {**_message(), "stop_reason": None}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "thinking", "thinking": "", "signature": ""},
    },
    _delta(0, "thinking_delta", thinking="Kilns "),
    {"type": "ping"},
    _delta(0, "thinking_delta", thinking="cool."),
    _delta(0, "signature_delta", signature="c2ln"),
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    _delta(1, "text_delta", text="It cools."),
    {"type": "content_block_stop", "index": 1},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 8},
    },
    {"type": "message_stop"},
)
