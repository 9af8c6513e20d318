"""Anthropic messages, direct and through Vertex or Bedrock: ``POST …/v1/messages``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from runtape.dialects.anthropic_messages_blocks import block_slots, calls_in, repaired_block
from runtape.dialects.anthropic_messages_stream import fold, render_stream
from runtape.dialects.anthropic_messages_turns import repaired_message, repaired_pairs
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
from runtape.dialects.content import DefinitionKeys, appended, content_slots, definition_slots
from runtape.dialects.paths import (
    changed,
    count_of,
    entries,
    kind_of,
    object_of,
    text_of,
    unless_same,
    with_key,
    without_keys,
)
from runtape.dialects.shape import Shape, fingerprint, not_streamed, refuse
from runtape.jsonio import Json

_ROLES = {"assistant": SlotKind.ASSISTANT, "system": SlotKind.SYSTEM}
_KEYS = DefinitionKeys(schema="input_schema")

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
            names.update({c.id: c.name for c in calls_in(message.get("content")) if c.id})
            slots += _message_slots(index, message, names)
        for index, tool in entries(body.get("tools")):
            slots += _definitions(tool, index)
        return slots

    def tool_calls(self, body: Json) -> list[ToolCall]:
        """See :meth:`Dialect.tool_calls`."""
        messages = entries(body.get("messages"))
        return [call for _, message in messages for call in calls_in(message.get("content"))]

    def repaired(self, body: Json) -> Json:
        """See :meth:`Dialect.repaired`."""
        body = _with_repaired_system(body)
        messages = body.get("messages")
        if not isinstance(messages, list):
            return body
        last = len(messages) - 1
        result = [
            repaired_message(message, last=index == last) if isinstance(message, dict) else message
            for index, message in enumerate(messages)
        ]
        if not self.server_held(body):
            result = repaired_pairs(result)
        result = unless_same(messages, result)
        return with_key(body, "messages", result or [{"role": "user", "content": REMOVED}])

    def with_system(self, body: Json, text: str, *, append: bool) -> Json:
        """See :meth:`Dialect.with_system`."""
        system = body.get("system")
        if append:
            return {**body, "system": appended(system, text, "text")}
        return {**body, "system": text} if text else without_keys(body, "system")

    def server_held(self, body: Json) -> str | None:
        """See :meth:`Dialect.server_held`."""
        thread = object_of(body.get("thread"))
        return "thread" if thread.get("previous_message_id") else None

    def question(self, text: str, model: str) -> Json:
        """See :meth:`Dialect.question`."""
        return {
            "model": model,
            "max_tokens": _QUESTION_TOKENS,
            "messages": [{"role": "user", "content": text}],
        }

    def rerun_body(self, body: Json, *, n: int = 1) -> Json:  # noqa: ARG002 - the shape has no `n`
        """See :meth:`Dialect.rerun_body`; a thread is gone on with, but none is begun."""
        plain = not_streamed(body)
        return plain if self.server_held(body) else without_keys(plain, "thread")

    def replies(self, response: Json) -> list[Reply]:
        """See :meth:`Dialect.replies`."""
        content = object_of(response).get("content")
        if not isinstance(content, list):
            raise refuse(response, "a message with content")
        texts = (block.get("text") for _, block in entries(content) if kind_of(block) == "text")
        return [
            Reply(
                text="".join(text for text in texts if isinstance(text, str)) or None,
                tool_calls=tuple(calls_in(content)),
                stop=_STOPS.get(str(response.get("stop_reason")), Stop.OTHER),
                refusal=text_of(object_of(response.get("stop_details")).get("explanation")),
                usage=_usage(object_of(response.get("usage"))),
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


def _message_slots(index: int, message: Json, names: dict[str, str]) -> Iterator[Slot]:
    kind = _ROLES.get(str(message.get("role")), SlotKind.USER)
    base = Slot(("messages", index, "content"), kind, message=index)
    content = message.get("content")
    if text_of(content):
        yield base
    for block, part in entries(content):
        yield from block_slots(part, replace(base, path=(*base.path, block), block=block), names)


def _definitions(tool: Json, index: int) -> Iterator[Slot]:
    base = Slot((), SlotKind.TOOL_DEFINITION)
    yield from definition_slots(tool, ("tools", index), base, _KEYS)
    for at, inner in entries(tool.get("tools")):  # the pinned listing of an MCP server
        yield from definition_slots(inner, ("tools", index, "tools", at), base, _KEYS)


def _with_repaired_system(body: Json) -> Json:
    """The body without empty system blocks, or without a system that holds nothing else."""
    system = body.get("system")
    if isinstance(system, list) and system:
        kept = changed(system, repaired_block)
        return with_key(body, "system", kept) if kept else without_keys(body, "system")
    blank = isinstance(system, str) and not system.strip()
    return without_keys(body, "system") if blank else body


def _usage(usage: Json) -> Usage:
    """Anthropic counts tokens read from and written to the cache beside ``input_tokens``."""
    fresh, cached = (
        count_of(usage.get(key)) for key in ("input_tokens", "cache_read_input_tokens")
    )
    written = count_of(usage.get("cache_creation_input_tokens"))
    whole = None if fresh is None else fresh + (cached or 0) + (written or 0)
    return Usage(whole, count_of(usage.get("output_tokens")), cached)


def _rendered_usage(usage: Usage) -> Json:
    """The API always reports usage and its SDK relies on it: unknown counts are written as null."""
    whole, cached = usage.input_tokens, usage.cached_tokens
    return {
        "input_tokens": None if whole is None else whole - (cached or 0),
        "cache_read_input_tokens": cached,
        "output_tokens": usage.output_tokens,
    }
