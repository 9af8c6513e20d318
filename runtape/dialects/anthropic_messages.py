"""Anthropic messages, direct and through Vertex or Bedrock: ``POST …/v1/messages``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from runtape.dialects.anthropic_messages_repair import (
    repaired_message,
    repaired_pairs,
    repaired_system,
)
from runtape.dialects.anthropic_messages_stream import fold, render_stream
from runtape.dialects.base import (
    REMOVED,
    FoldedStream,
    Reply,
    Slot,
    SlotKind,
    Stop,
    ToolCall,
    Usage,
)
from runtape.dialects.content import appended, content_slots, definition_slots
from runtape.dialects.paths import count_of, entries, text_of, with_key, without_keys
from runtape.dialects.shape import Shape, fingerprint, not_streamed, refuse
from runtape.jsonio import Json

_ROLES = {"assistant": SlotKind.ASSISTANT, "system": SlotKind.SYSTEM}
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_KEYS = ("name", "description", "input_schema")

_STOPS = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "tool_use": Stop.TOOL_CALLS,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "refusal": Stop.REFUSAL,
}
_REASONS = {
    Stop.END: "end_turn",
    Stop.TOOL_CALLS: "tool_use",
    Stop.LENGTH: "max_tokens",
    Stop.REFUSAL: "refusal",
    Stop.OTHER: "pause_turn",
}

_QUESTION_TOKENS = 4_096
"""The shape wants a limit: room to think before a short answer."""


class AnthropicMessages(Shape):
    """The dialect ``anthropic.messages``; see :class:`runtape.dialects.base.Dialect`."""

    name = "anthropic.messages"
    provider = "anthropic"
    default_origin = "https://api.anthropic.com/v1"
    path = "/messages"
    batches = False

    def accepts(self, url_path: str) -> bool:
        """See :meth:`Dialect.accepts`: the API itself, Vertex (raw predict), Bedrock (invoke)."""
        path = url_path.rstrip("/")
        if path == "/messages" or path.endswith(("/v1/messages", "/anthropic/messages")):
            return True
        vertex = "/publishers/anthropic/" in path and path.endswith(
            (":rawPredict", ":streamRawPredict")
        )
        bedrock = "anthropic." in path and path.endswith(
            ("/invoke", "/invoke-with-response-stream")
        )
        return vertex or bedrock

    def slots(self, body: Json) -> list[Slot]:
        """See :meth:`Dialect.slots`."""
        slots = list(content_slots(body.get("system"), Slot(("system",), SlotKind.SYSTEM)))
        names: dict[str, str] = {}
        for index, message in entries(body.get("messages")):
            names.update({c.id: c.name for c in _calls(message.get("content")) if c.id})
            slots += _message_slots(index, message, names)
        for index, tool in entries(body.get("tools")):
            slots += _definitions(tool, index)
        return slots

    def tool_calls(self, body: Json) -> list[ToolCall]:
        """See :meth:`Dialect.tool_calls`."""
        messages = entries(body.get("messages"))
        return [call for _, message in messages for call in _calls(message.get("content"))]

    def repaired(self, body: Json) -> Json:
        """See :meth:`Dialect.repaired`."""
        body = repaired_system(body)
        messages = body.get("messages")
        if not isinstance(messages, list):
            return body
        last = len(messages) - 1
        result = [
            repaired_message(m, last=i == last) if isinstance(m, dict) else m
            for i, m in enumerate(messages)
        ]
        if all(a is b for a, b in zip(messages, result, strict=True)):
            result = messages
        if not self.server_held(body):
            result = repaired_pairs(result)
        return with_key(body, "messages", result or [{"role": "user", "content": REMOVED}])

    def with_system(self, body: Json, text: str, *, append: bool) -> Json:
        """See :meth:`Dialect.with_system`."""
        system = body.get("system")
        if append:
            return {**body, "system": appended(system, text, "text")}
        return {**body, "system": text} if text else without_keys(body, "system")

    def server_held(self, body: Json) -> str | None:
        """See :meth:`Dialect.server_held`."""
        thread = body.get("thread")
        goes_on = isinstance(thread, dict) and (
            thread.get("previous_message_id") or thread.get("type") == "continue"
        )
        return "thread" if goes_on else None

    def question(self, text: str, model: str) -> Json:
        """See :meth:`Dialect.question`."""
        return {
            "model": model,
            "max_tokens": _QUESTION_TOKENS,
            "messages": [{"role": "user", "content": text}],
        }

    def rerun_body(self, body: Json, *, n: int = 1) -> Json:  # noqa: ARG002 - the shape has no `n`
        """See :meth:`Dialect.rerun_body`."""
        return not_streamed(body)

    def replies(self, response: Json) -> list[Reply]:
        """See :meth:`Dialect.replies`."""
        content = response.get("content") if isinstance(response, dict) else None
        if not isinstance(content, list):
            raise refuse(response, "a message")
        details = response.get("stop_details")
        texts = [part.get("text") for _, part in entries(content) if part.get("type") == "text"]
        return [
            Reply(
                text="".join(text for text in texts if isinstance(text, str)) or None,
                tool_calls=tuple(_calls(content)),
                stop=_STOPS.get(str(response.get("stop_reason")), Stop.OTHER),
                refusal=text_of(details.get("explanation")) if isinstance(details, dict) else None,
                usage=_usage(response.get("usage")),
                model=text_of(response.get("model")),
            )
        ]

    def fold(self, stream: str) -> FoldedStream:
        """See :meth:`Dialect.fold`."""
        return fold(stream)

    def render(self, reply: Reply, body: Json) -> Json:
        """See :meth:`Dialect.render`."""
        mark = fingerprint(reply, body)
        content: list[Json] = []
        if reply.text is not None:
            content.append({"type": "text", "text": reply.text, "citations": None})
        content += [
            {
                "type": "tool_use",
                "id": call.id or f"toolu_{mark}{i:x}",
                "name": call.name,
                "input": call.arguments,
            }
            for i, call in enumerate(reply.tool_calls)
        ]
        refused = {"type": "refusal", "category": None, "explanation": reply.refusal}
        return {
            "id": f"msg_{mark}",
            "type": "message",
            "role": "assistant",
            "model": reply.model or self.model(body) or "unknown",
            "content": content,
            "stop_reason": _REASONS[reply.stop],
            "stop_sequence": None,
            "stop_details": refused if reply.refusal is not None else None,
            "usage": _rendered_usage(reply.usage),
        }

    def render_stream(self, reply: Reply, body: Json) -> list[str]:
        """See :meth:`Dialect.render_stream`."""
        return render_stream(self.render(reply, body))


def _calls(content: Any) -> list[ToolCall]:
    """Tool calls among content blocks; those that the server runs itself count too."""
    return [
        ToolCall(str(block.get("name") or ""), block.get("input"), text_of(block.get("id")))
        for _, block in entries(content)
        if block.get("type") in _CALLS
    ]


def _message_slots(index: int, message: Json, names: dict[str, str]) -> Iterator[Slot]:
    kind = _ROLES.get(str(message.get("role")), SlotKind.USER)
    content = message.get("content")
    base = Slot(("messages", index, "content"), kind, message=index)
    if not isinstance(content, list):
        yield from content_slots(content, base)
        return
    for block, part in entries(content):
        here = replace(base, path=(*base.path, block), block=block)
        yield from _block_slots(part, here, names)


def _block_slots(part: Json, base: Slot, names: dict[str, str]) -> Iterator[Slot]:
    kind = str(part.get("type"))
    if kind == "tool_use":
        name, call_id = text_of(part.get("name")), text_of(part.get("id"))
        if part.get("input"):
            path = (*base.path, "input")
            yield replace(base, path=path, kind=SlotKind.TOOL_CALL, name=name, call_id=call_id)
    elif kind.endswith("tool_result"):
        call_id = text_of(part.get("tool_use_id"))
        result = replace(
            base, kind=SlotKind.TOOL_RESULT, name=names.get(call_id or ""), call_id=call_id
        )
        yield from _result_slots(part.get("content"), replace(result, path=(*base.path, "content")))
    else:
        yield from _plain_slots(part, base)


def _result_slots(content: Any, base: Slot) -> Iterator[Slot]:
    """Slots of a tool result: text, blocks, or the object of a tool that the server ran."""
    if text_of(content):
        yield base
    elif isinstance(content, list):
        for index, part in entries(content):
            yield from _plain_slots(part, replace(base, path=(*base.path, index)))
    elif isinstance(content, dict):
        for key in ("stdout", "stderr"):
            if text_of(content.get(key)):
                yield replace(base, path=(*base.path, key))
        inner = content.get("content")
        here = replace(base, path=(*base.path, "content"))
        yield from (
            _plain_slots(inner, here) if isinstance(inner, dict) else _result_slots(inner, here)
        )


def _plain_slots(part: Json, base: Slot) -> Iterator[Slot]:
    """Slots of a block that holds words or media: text, image, document, search result."""
    kind = part.get("type")
    if kind == "text" and text_of(part.get("text")):
        yield replace(base, path=(*base.path, "text"))
    elif kind in ("image", "container_upload"):
        yield replace(base, kind=SlotKind.MEDIA)
    elif kind == "document":
        yield from _document_slots(part, base)
    elif kind == "search_result":
        for key in ("title", "source"):
            if text_of(part.get(key)):
                yield replace(base, path=(*base.path, key))
        yield from _nested_slots(part.get("content"), replace(base, path=(*base.path, "content")))


def _nested_slots(content: Any, base: Slot) -> Iterator[Slot]:
    if text_of(content):
        yield base
    for index, part in entries(content):
        yield from _plain_slots(part, replace(base, path=(*base.path, index)))


def _document_slots(part: Json, base: Slot) -> Iterator[Slot]:
    for key in ("title", "context"):
        if text_of(part.get(key)):
            yield replace(base, path=(*base.path, key))
    source = part.get("source")
    source = source if isinstance(source, dict) else {}
    if source.get("type") == "text" and text_of(source.get("data")):
        yield replace(base, path=(*base.path, "source", "data"))
    elif source.get("type") == "content":
        yield from _nested_slots(
            source.get("content"), replace(base, path=(*base.path, "source", "content"))
        )
    else:
        yield replace(base, kind=SlotKind.MEDIA)


def _definitions(tool: Json, index: int) -> Iterator[Slot]:
    base = Slot((), SlotKind.TOOL_DEFINITION)
    yield from definition_slots(tool, ("tools", index), _KEYS, base)
    for at, inner in entries(tool.get("tools")):  # the pinned listing of an MCP server
        yield from definition_slots(inner, ("tools", index, "tools", at), _KEYS, base)


def _usage(usage: Any) -> Usage:
    """Anthropic counts cached and freshly cached tokens beside ``input_tokens``; here they are part of them."""
    usage = usage if isinstance(usage, dict) else {}
    fresh, cached = (
        count_of(usage.get("input_tokens")),
        count_of(usage.get("cache_read_input_tokens")),
    )
    written = count_of(usage.get("cache_creation_input_tokens"))
    whole = None if fresh is None else fresh + (cached or 0) + (written or 0)
    return Usage(
        input_tokens=whole, output_tokens=count_of(usage.get("output_tokens")), cached_tokens=cached
    )


def _rendered_usage(usage: Usage) -> Json:
    """The API always reports usage, and its SDK reads it unasked: unknown counts are written as null."""
    whole, cached = usage.input_tokens, usage.cached_tokens
    return {
        "input_tokens": None if whole is None else whole - (cached or 0),
        "cache_read_input_tokens": cached,
        "output_tokens": usage.output_tokens,
    }
