"""OpenAI Responses: ``POST …/responses``, stateless or with the server holding earlier turns."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from runtape.dialects.base import (
    REMOVED,
    FoldedStream,
    JsonPath,
    Reply,
    Slot,
    SlotKind,
    Stop,
    ToolCall,
    Usage,
)
from runtape.dialects.content import (
    appended,
    arguments_text,
    content_slots,
    repaired_arguments,
    without_empty_parts,
)
from runtape.dialects.openai_responses_items import (
    call_in,
    called_id,
    definitions,
    is_generated,
    item_slots,
    returned_id,
    runs_outside,
)
from runtape.dialects.openai_responses_stream import fold, render_stream
from runtape.dialects.pairing import paired
from runtape.dialects.paths import (
    changed,
    entries,
    kind_of,
    object_of,
    text_of,
    with_key,
    without_keys,
)
from runtape.dialects.shape import (
    Shape,
    count_leading,
    fingerprint,
    not_streamed,
    read_usage,
    refuse,
)
from runtape.jsonio import Json

_SYSTEM_ROLES = ("system", "developer")
_LENGTH = ("max_output_tokens", "max_tokens", "length")


class OpenAIResponses(Shape):
    """The dialect ``openai.responses``; see :class:`runtape.dialects.base.Dialect`."""

    name = "openai.responses"
    provider = "openai"
    default_origin = "https://api.openai.com/v1"
    path = "/responses"
    batches = False

    def accepts(self, url_path: str) -> bool:
        """See :meth:`Dialect.accepts`."""
        return url_path.rstrip("/").endswith("/responses")

    def slots(self, body: Json) -> list[Slot]:
        """See :meth:`Dialect.slots`."""
        instructions = Slot(("instructions",), SlotKind.SYSTEM)
        slots = list(content_slots(body.get("instructions"), instructions))
        if text_of(body.get("input")):
            slots.append(Slot(("input",), SlotKind.USER, message=0))
        names: dict[str, str] = {}
        for index, item in entries(body.get("input")):
            call = call_in(item)
            if call and call.id:
                names[call.id] = call.name
            slots += item_slots(index, item, names)
        for index, tool in entries(body.get("tools")):
            slots += definitions(tool, ("tools", index), Slot((), SlotKind.TOOL_DEFINITION))
        return slots

    def tool_calls(self, body: Json) -> list[ToolCall]:
        """See :meth:`Dialect.tool_calls`."""
        return [call for _, item in entries(body.get("input")) if (call := call_in(item))]

    def deleted(self, body: Json, path: JsonPath) -> Json:
        """See :meth:`Shape.deleted`; reasoning that led only to a deleted item goes with it."""
        shorter = super().deleted(body, path)
        if path[:1] != ("input",) or len(path) != len(("input", 0)):
            return shorter
        items, at = body["input"], int(path[1])
        first = _first_reason(items, at)
        return {**body, "input": [*items[:first], *items[at + 1 :]]}

    def repaired(self, body: Json) -> Json:
        """See :meth:`Dialect.repaired`."""
        items = body.get("input")
        if items == "":
            return {**body, "input": REMOVED}
        if not isinstance(items, list):
            return body
        items = changed(items, _repaired_item)
        if self.server_held(body):
            return with_key(body, "input", items)
        items = paired(
            items,
            called=lambda item: filter(None, [called_id(item)]),
            answered=returned_id,
            stand_in=_stand_in,
        )
        # A stored prompt can be all the input there is.
        empty = not items and not body.get("prompt")
        return with_key(body, "input", [{"role": "user", "content": REMOVED}] if empty else items)

    def with_system(self, body: Json, text: str, *, append: bool) -> Json:
        """See :meth:`Dialect.with_system`: the instructions, else the leading system messages."""
        items = body.get("input")
        items = items if isinstance(items, list) else []
        leading = count_leading(items, _SYSTEM_ROLES)
        instructions = body.get("instructions")
        if append and leading and not instructions:
            last = items[leading - 1]
            last = {**last, "content": appended(last.get("content"), text, "input_text")}
            return {**body, "input": [*items[: leading - 1], last, *items[leading:]]}
        if append:
            return {**body, "instructions": appended(instructions, text, "input_text")}
        if leading:
            body = {**body, "input": items[leading:]}
        return {**body, "instructions": text} if text else without_keys(body, "instructions")

    def server_held(self, body: Json) -> str | None:
        """See :meth:`Dialect.server_held`."""
        for field in ("previous_response_id", "conversation"):
            if body.get(field):
                return field
        kinds = (kind_of(item) for _, item in entries(body.get("input")))
        return "item_reference" if "item_reference" in kinds else None

    def question(self, text: str, model: str) -> Json:
        """See :meth:`Dialect.question`."""
        return {"model": model, "input": text}

    def rerun_body(self, body: Json, *, n: int = 1) -> Json:  # noqa: ARG002 - the shape has no `n`
        """See :meth:`Dialect.rerun_body`.

        Nothing is stored, unless the input leans on items that only the server's store has.
        """
        plain = without_keys(not_streamed(body), "background")
        return plain if _leans_on_store(body) else {**plain, "store": False}

    def replies(self, response: Json) -> list[Reply]:
        """See :meth:`Dialect.replies`."""
        output = object_of(response).get("output")
        if not isinstance(output, list) or response.get("status") == "failed":
            raise refuse(response, "a response with output")
        refusal = "".join(_parts(output, "refusal")) or None
        outside = any(runs_outside(item) for _, item in entries(output))
        return [
            Reply(
                text="".join(_parts(output, "text")) or None,
                tool_calls=tuple(call for _, item in entries(output) if (call := call_in(item))),
                stop=_stop(response, calls=outside, refused=refusal is not None),
                refusal=refusal,
                usage=read_usage(response.get("usage"), "input_tokens", "output_tokens"),
                model=text_of(response.get("model")),
            )
        ]

    def fold(self, stream: str) -> FoldedStream:
        """See :meth:`Dialect.fold`."""
        return fold(stream)

    def render(self, reply: Reply, body: Json) -> Json:
        """See :meth:`Dialect.render`."""
        mark = fingerprint(reply, body)
        now = int(time.time())
        status, details = _status(reply)
        return {
            "id": f"resp_{mark}",
            "object": "response",
            "created_at": now,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": details,
            "instructions": body.get("instructions"),
            "max_output_tokens": body.get("max_output_tokens"),
            "model": reply.model or self.model(body) or "unknown",
            "output": _output(reply, mark),
            "parallel_tool_calls": body.get("parallel_tool_calls", True),
            "previous_response_id": body.get("previous_response_id"),
            "reasoning": {"effort": None, "summary": None},
            "store": bool(body.get("store", True)),
            "temperature": body.get("temperature", 1.0),
            "text": {"format": {"type": "text"}},
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": [_echoed(tool) for _, tool in entries(body.get("tools"))],
            "top_p": body.get("top_p", 1.0),
            "truncation": "disabled",
            "usage": _rendered_usage(reply.usage),
            "metadata": body.get("metadata") or {},
        }

    def render_stream(self, reply: Reply, body: Json) -> list[str]:
        """See :meth:`Dialect.render_stream`."""
        return render_stream(self.render(reply, body))


def _first_reason(items: list[Any], at: int) -> int:
    """Where the reasoning begins that leads to item `at` and to nothing after it; else `at`."""
    after = items[at + 1] if at + 1 < len(items) else None
    if is_generated(object_of(after)):
        return at
    first = at
    while first and kind_of(object_of(items[first - 1])) == "reasoning":
        first -= 1
    return first


def _repaired_item(item: Json) -> Json:
    kind = kind_of(item)
    for key in ("content", "output"):
        value = item.get(key)
        if isinstance(value, list) and kind not in ("reasoning", "shell_call_output"):
            item = with_key(item, key, without_empty_parts(value) or _filler(item))
    if "role" in item and "tools" not in item and item.get("content") is None:
        item = {**item, "content": _filler(item)}
    if kind == "function_call":
        item = with_key(item, "arguments", repaired_arguments(item.get("arguments")))
    return item


def _filler(item: Json) -> str | list[Json]:
    """What content must at least be; a model's own message is a list of parts."""
    if item.get("role") == "assistant":
        return [{"type": "output_text", "text": REMOVED, "annotations": []}]
    return REMOVED


def _stand_in(item: Json, call_id: str) -> Json:
    return {"type": f"{item['type']}_output", "call_id": call_id, "output": REMOVED}


def _echoed(tool: Json) -> Json:
    if kind_of(tool) != "function":
        return tool
    return {"description": None, "parameters": None, "strict": True, **tool}


def _leans_on_store(body: Json) -> bool:
    return body.get("store") is not False and any(
        kind_of(item) == "item_reference"
        or (kind_of(item) == "reasoning" and item.get("id") and not item.get("encrypted_content"))
        for _, item in entries(body.get("input"))
    )


def _parts(output: list[Any], key: str) -> Iterator[str]:
    for _, item in entries(output):
        if item.get("type", "message") == "message":
            parts = (part.get(key) for _, part in entries(item.get("content")))
            yield from (part for part in parts if isinstance(part, str))


def _stop(response: Json, *, calls: bool, refused: bool) -> Stop:
    status = response.get("status") or "completed"
    reason = object_of(response.get("incomplete_details")).get("reason")
    if status == "incomplete" and reason in _LENGTH:
        return Stop.LENGTH
    if refused or reason == "content_filter":
        return Stop.REFUSAL
    if status != "completed":
        return Stop.OTHER
    return Stop.TOOL_CALLS if calls else Stop.END


def _status(reply: Reply) -> tuple[str, Json | None]:
    if reply.stop is Stop.LENGTH:
        return "incomplete", {"reason": "max_output_tokens"}
    if reply.stop is Stop.REFUSAL and reply.refusal is None:
        return "incomplete", {"reason": "content_filter"}
    return ("incomplete", None) if reply.stop is Stop.OTHER else ("completed", None)


def _rendered_usage(usage: Usage) -> Json | None:
    if usage == Usage():
        return None
    read, written = usage.input_tokens, usage.output_tokens
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": (read or 0) + (written or 0),
    }


def _output(reply: Reply, mark: str) -> list[Json]:
    status = "incomplete" if reply.stop is Stop.LENGTH else "completed"
    content: list[Json] = []
    if reply.text is not None:
        content.append(
            {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        )
    if reply.refusal is not None:
        content.append({"type": "refusal", "refusal": reply.refusal})
    message = {
        "id": f"msg_{mark}",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": content,
    }
    calls = [
        {
            "id": f"fc_{mark}{i:x}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.id or f"call_{mark}{i:x}",
            "name": call.name,
            "arguments": arguments_text(call.arguments),
        }
        for i, call in enumerate(reply.tool_calls)
    ]
    return [message, *calls] if content else calls
