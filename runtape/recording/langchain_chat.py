"""What LangChain's callbacks tell of a model call, as a chat completion: request and response.

Only for calls that no wire shows: fake models, boto3, a cache. The messages are LangChain's own
account of the conversation, converted by LangChain itself; the rest is what the callback knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from runtape.dialects import dialect_for
from runtape.dialects.base import Reply, Stop, ToolCall, Usage
from runtape.jsonio import Json
from runtape.recording.values import encode

DIALECT = dialect_for("openai.chat")

_MODEL = ("model", "model_name", "model_id", "deployment_name")
_PARAMETERS = frozenset(
    (
        *("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "n", "seed"),
        *("presence_penalty", "frequency_penalty", "reasoning_effort", "response_format"),
        "parallel_tool_calls",
    )
)
"""Those that mean the same wherever they are called so."""
_LENGTH = frozenset(("length", "max_tokens", "MAX_TOKENS"))
_REFUSED = frozenset(("content_filter", "refusal", "SAFETY", "guardrail_intervened"))


def request_body(messages: list[Any], parameters: Json, metadata: Json) -> Json:
    """The request of a call with these messages (or prompts, as text)."""
    convert = import_module("langchain_core.messages").convert_to_openai_messages
    body: Json = {"model": _model(parameters, metadata), "messages": convert(messages)}
    tools = parameters.get("tools") or parameters.get("functions")
    if tools:
        body["tools"] = _definitions(tools)
        choice = parameters.get("tool_choice")
        if isinstance(choice, str) or (isinstance(choice, dict) and "function" in choice):
            body["tool_choice"] = choice
    for name in _PARAMETERS & parameters.keys():
        if parameters[name] is not None:
            body[name] = parameters[name]
    plain: Json = encode(body).value
    return plain


def response_body(result: Any, body: Json) -> Json | None:
    """The response of a call that ended with this ``LLMResult``; None when it holds no answer."""
    replies = [_reply(generation) for generation in _choices(result)]
    if not replies:
        return None
    if len(replies) == 1:
        return DIALECT.render(replies[0], body)
    return DIALECT.render_choices(replies, body)


def _model(parameters: Json, metadata: Json) -> str | None:
    named = [parameters.get(name) for name in _MODEL]
    return next(
        (name for name in (*named, metadata.get("ls_model_name")) if isinstance(name, str)), None
    )


def _definitions(tools: Iterable[Any]) -> list[Json]:
    convert = import_module("langchain_core.utils.function_calling").convert_to_openai_tool
    return [_definition(tool, convert) for tool in tools]


def _definition(tool: Any, convert: Callable[[Any], Json]) -> Json:
    try:
        return convert(tool)
    except Exception:  # noqa: BLE001 - a provider's own kind of tool: as it stands
        return {"type": "unknown", "tool": tool}


def _choices(result: Any) -> list[Any]:
    """A model run has one prompt; its result lists the choices for it."""
    generations = getattr(result, "generations", None) or [[]]
    return list(generations[0])


def _reply(generation: Any) -> Reply:
    message = getattr(generation, "message", None)
    if message is None:  # a model that completes text
        return Reply(text=generation.text or None, stop=_stop(generation.generation_info or {}))
    details = {**(generation.generation_info or {}), **(message.response_metadata or {})}
    refusal = message.additional_kwargs.get("refusal")
    calls = tuple(_tool_calls(message))
    return Reply(
        text=generation.text or None,
        tool_calls=calls,
        stop=Stop.TOOL_CALLS if calls else Stop.REFUSAL if refusal else _stop(details),
        refusal=refusal,
        usage=_usage(getattr(message, "usage_metadata", None) or {}),
        model=details.get("model_name") or details.get("model"),
    )


def _tool_calls(message: Any) -> Iterable[ToolCall]:
    for call in getattr(message, "tool_calls", None) or ():
        yield ToolCall(call["name"], encode(call["args"]).value, call.get("id"))
    for call in getattr(message, "invalid_tool_calls", None) or ():
        yield ToolCall(call.get("name") or "", call.get("args") or "", call.get("id"))


def _stop(details: Json) -> Stop:
    reason = details.get("finish_reason") or details.get("stop_reason") or details.get("stopReason")
    if reason in _LENGTH:
        return Stop.LENGTH
    return Stop.REFUSAL if reason in _REFUSED else Stop.END


def _usage(usage: Json) -> Usage:
    cached = (usage.get("input_token_details") or {}).get("cache_read")
    return Usage(usage.get("input_tokens"), usage.get("output_tokens"), cached)
