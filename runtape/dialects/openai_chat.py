"""OpenAI chat completions, and the many servers that speak them: ``POST …/chat/completions``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

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
from runtape.dialects.content import (
    DefinitionKeys,
    appended,
    arguments_text,
    content_slots,
    content_text,
    definition_slots,
    parsed_arguments,
    repaired_arguments,
    without_empty_parts,
)
from runtape.dialects.openai_chat_stream import fold, render_stream
from runtape.dialects.pairing import paired
from runtape.dialects.paths import changed, entries, object_of, text_of, with_key, without_keys
from runtape.dialects.shape import (
    Shape,
    count_leading,
    fingerprint,
    not_streamed,
    read_usage,
    refuse,
)
from runtape.jsonio import Json

_KINDS = {
    "system": SlotKind.SYSTEM,
    "developer": SlotKind.SYSTEM,
    "assistant": SlotKind.ASSISTANT,
    "tool": SlotKind.TOOL_RESULT,
    "function": SlotKind.TOOL_RESULT,
}
_SYSTEM_ROLES = ("system", "developer")

_STOPS = {
    "stop": Stop.END,
    "eos": Stop.END,
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "tool_calls": Stop.TOOL_CALLS,
    "function_call": Stop.TOOL_CALLS,
    "length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "content_filter": Stop.REFUSAL,
}
_FINISH = {Stop.END: "stop", Stop.TOOL_CALLS: "tool_calls", Stop.LENGTH: "length", Stop.OTHER: None}


class OpenAIChat(Shape):
    """The dialect ``openai.chat``; see :class:`runtape.dialects.base.Dialect`."""

    name = "openai.chat"
    provider = "openai"
    default_origin = "https://api.openai.com/v1"
    path = "/chat/completions"
    batches = True

    def accepts(self, url_path: str) -> bool:
        """See :meth:`Dialect.accepts`."""
        return url_path.rstrip("/").endswith("/chat/completions")

    def slots(self, body: Json) -> list[Slot]:
        """See :meth:`Dialect.slots`."""
        slots: list[Slot] = []
        names: dict[str, str] = {}
        for index, message in entries(body.get("messages")):
            names.update({c.id: c.name for c in _calls(message) if c.id})
            slots += _message_slots(index, message, names)
        return slots + list(_definitions(body))

    def tool_calls(self, body: Json) -> list[ToolCall]:
        """See :meth:`Dialect.tool_calls`."""
        return [call for _, message in entries(body.get("messages")) for call in _calls(message)]

    def repaired(self, body: Json) -> Json:
        """See :meth:`Dialect.repaired`."""
        messages = body.get("messages")
        if not isinstance(messages, list):
            return body
        messages = paired(
            changed(messages, _repaired_message),
            called=lambda message: [call.id for call in _calls(message) if call.id],
            answered=lambda m: text_of(m.get("tool_call_id")) if m.get("role") == "tool" else None,
            stand_in=lambda _, call: {"role": "tool", "tool_call_id": call, "content": REMOVED},
        )
        return with_key(body, "messages", messages or [{"role": "user", "content": REMOVED}])

    def with_system(self, body: Json, text: str, *, append: bool) -> Json:
        """See :meth:`Dialect.with_system`; the system messages before all others count as one."""
        messages = body.get("messages")
        messages = messages if isinstance(messages, list) else []
        leading = count_leading(messages, _SYSTEM_ROLES)
        system = messages[:leading]
        if append and system:
            last = system[-1]
            system[-1] = {**last, "content": appended(last.get("content"), text, "text")}
        else:
            first = system[0] if system else {"role": "system"}
            system = [{**first, "content": text}] if text else []
        return {**body, "messages": [*system, *messages[leading:]]}

    def server_held(self, body: Json) -> str | None:  # noqa: ARG002 - the shape holds nothing back
        """See :meth:`Dialect.server_held`: this shape is stateless."""
        return None

    def question(self, text: str, model: str) -> Json:
        """See :meth:`Dialect.question`."""
        return {"model": model, "messages": [{"role": "user", "content": text}]}

    def rerun_body(self, body: Json, *, n: int = 1) -> Json:
        """See :meth:`Dialect.rerun_body`."""
        plain = without_keys(not_streamed(body), "seed")
        if plain.get("store"):
            # OpenAI takes metadata only together with store.
            plain = without_keys(plain, "store", "metadata")
        return {**plain, "n": n} if n > 1 else without_keys(plain, "n")

    def replies(self, response: Json) -> list[Reply]:
        """See :meth:`Dialect.replies`."""
        choices = list(entries(object_of(response).get("choices")))
        if not choices:
            raise refuse(response, "a chat completion with choices")
        usage = read_usage(response.get("usage"), "prompt_tokens", "completion_tokens")
        model = text_of(response.get("model"))
        replies = [replace(_reply(choice), model=model) for _, choice in choices]
        return [replace(replies[0], usage=usage), *replies[1:]]

    def fold(self, stream: str) -> FoldedStream:
        """See :meth:`Dialect.fold`."""
        return fold(stream)

    def render(self, reply: Reply, body: Json) -> Json:
        """See :meth:`Dialect.render`."""
        return self.render_choices([reply], body)

    def render_choices(self, replies: Sequence[Reply], body: Json) -> Json:
        """See :meth:`Dialect.render_choices`."""
        first = replies[0]
        mark = fingerprint(first, body)
        document: Json = {
            "id": f"chatcmpl-{mark}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": first.model or self.model(body) or "unknown",
            "choices": [_choice(i, reply, f"{mark}{i:x}") for i, reply in enumerate(replies)],
            "service_tier": "default",
            "system_fingerprint": None,
        }
        usage = _rendered_usage(first.usage)
        return {**document, "usage": usage} if usage else document

    def render_stream(self, reply: Reply, body: Json) -> list[str]:
        """See :meth:`Dialect.render_stream`."""
        asked = object_of(body.get("stream_options")).get("include_usage")
        return render_stream(self.render(reply, body), usage=bool(asked))


def _calls(message: Json) -> list[ToolCall]:
    """Tool calls of one message, in a request or a response; the legacy single call counts too."""
    calls = [_call(entry) for _, entry in entries(message.get("tool_calls"))]
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        arguments = parsed_arguments(legacy.get("arguments"))
        calls.append(ToolCall(str(legacy.get("name") or ""), arguments))
    return calls


def _call(entry: Json) -> ToolCall:
    call_id = text_of(entry.get("id"))
    custom = entry.get("custom")
    if isinstance(custom, dict):
        return ToolCall(str(custom.get("name") or ""), custom.get("input") or "", call_id)
    function = object_of(entry.get("function"))
    arguments = parsed_arguments(function.get("arguments"))
    return ToolCall(str(function.get("name") or ""), arguments, call_id)


def _message_slots(index: int, message: Json, names: dict[str, str]) -> Iterator[Slot]:
    call_id = text_of(message.get("tool_call_id"))
    name = text_of(message.get("name")) if _is_legacy_result(message) else names.get(call_id or "")
    kind = _KINDS.get(str(message.get("role")), SlotKind.USER)
    base = Slot(("messages", index), kind, message=index, name=name, call_id=call_id)
    yield from content_slots(message.get("content"), replace(base, path=(*base.path, "content")))
    if text_of(message.get("refusal")):
        yield replace(base, path=(*base.path, "refusal"))
    if object_of(message.get("audio")):
        yield replace(base, path=(*base.path, "audio"), kind=SlotKind.MEDIA)
    yield from _call_slots(message, replace(base, kind=SlotKind.TOOL_CALL))


def _is_legacy_result(message: Json) -> bool:
    return message.get("role") == "function"


def _call_slots(message: Json, base: Slot) -> Iterator[Slot]:
    for block, entry in entries(message.get("tool_calls")):
        for kind, key in (("function", "arguments"), ("custom", "input")):
            inner = object_of(entry.get(kind))
            if inner.get(key):
                path = (*base.path, "tool_calls", block, kind, key)
                name, call_id = text_of(inner.get("name")), text_of(entry.get("id"))
                yield replace(base, path=path, block=block, name=name, call_id=call_id)
    legacy = object_of(message.get("function_call"))
    if legacy.get("arguments"):
        path = (*base.path, "function_call", "arguments")
        yield replace(base, path=path, name=text_of(legacy.get("name")))


def _definitions(body: Json) -> Iterator[Slot]:
    base = Slot((), SlotKind.TOOL_DEFINITION)
    for index, tool in entries(body.get("tools")):
        for kind in ("function", "custom"):
            path = ("tools", index, kind)
            yield from definition_slots(object_of(tool.get(kind)), path, base, DefinitionKeys())
    for index, function in entries(body.get("functions")):
        yield from definition_slots(function, ("functions", index), base, DefinitionKeys())


def _repaired_message(message: Json) -> Json:
    if message.get("tool_calls") == []:
        message = without_keys(message, "tool_calls")
    content = message.get("content")
    if isinstance(content, list):
        message = with_key(message, "content", without_empty_parts(content) or None)
    if message.get("content") is None and not _may_be_empty(message):
        message = {**message, "content": REMOVED}
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        message = with_key(message, "tool_calls", changed(calls, _repaired_call))
    return message


def _may_be_empty(message: Json) -> bool:
    others = ("tool_calls", "function_call", "audio", "refusal")
    says_otherwise = message.get("role") == "assistant" and any(map(message.get, others))
    return _is_legacy_result(message) or says_otherwise


def _repaired_call(entry: Json) -> Json:
    function = object_of(entry.get("function"))
    arguments = function.get("arguments")
    sound = repaired_arguments(arguments)
    return entry if sound is arguments else {**entry, "function": {**function, "arguments": sound}}


def _reply(choice: Json) -> Reply:
    message = object_of(choice.get("message"))
    content = message.get("content")
    parts = (text_of(part.get("refusal")) for _, part in entries(content))
    refusal = text_of(message.get("refusal")) or next(filter(None, parts), None)
    calls = tuple(_calls(message))
    return Reply(
        text=content_text(content),
        tool_calls=calls,
        stop=_stop(choice.get("finish_reason"), calls=bool(calls), refused=refusal is not None),
        refusal=refusal,
    )


def _stop(reason: Any, *, calls: bool, refused: bool) -> Stop:
    if reason is None:
        return Stop.OTHER
    stop = _STOPS.get(str(reason).lower(), Stop.OTHER)
    if stop is Stop.END or (stop is Stop.TOOL_CALLS and not calls):
        return Stop.REFUSAL if refused else Stop.TOOL_CALLS if calls else Stop.END
    # Servers invent reasons; one that comes with whole calls means that it calls.
    return Stop.TOOL_CALLS if calls and stop is Stop.OTHER else stop


def _choice(index: int, reply: Reply, mark: str) -> Json:
    message: Json = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{mark}{i:x}",
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_text(call.arguments)},
            }
            for i, call in enumerate(reply.tool_calls)
        ]
    refused = "stop" if reply.refusal else "content_filter"
    finish = _FINISH.get(reply.stop, refused)
    return {"index": index, "message": message, "logprobs": None, "finish_reason": finish}


def _rendered_usage(usage: Usage) -> Json | None:
    if usage == Usage():
        return None
    read, written = usage.input_tokens, usage.output_tokens
    rendered: Json = {"prompt_tokens": read, "completion_tokens": written}
    rendered["total_tokens"] = (read or 0) + (written or 0)
    if usage.cached_tokens is not None:
        rendered["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    return rendered
