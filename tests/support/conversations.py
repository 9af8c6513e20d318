"""One conversation in every wire shape, and what each API would complain about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from runtape.jsonio import Json, dumps_text

IMAGE = "data:image/png;base64,iVBORw0KGgo="


@dataclass(frozen=True)
class Call:
    """A tool call and what came back: one string, or several parts (None: an image)."""

    id: str
    name: str
    arguments: Json
    result: str | tuple[str | None, ...]
    failed: bool = False


@dataclass(frozen=True)
class Turn:
    """The user says something (None: an image), the assistant answers or calls tools."""

    user: str | tuple[str | None, ...]
    assistant: str | None = None
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Conversation:
    """What an agent has seen so far."""

    system: str | tuple[str, ...]
    turns: tuple[Turn, ...]


MAIL = Conversation(
    system="You are a mail agent.",
    turns=(
        Turn(
            user=("Read my mail.", None),
            assistant="I look.",
            calls=(
                Call("call_1", "read_mail", {"folder": "inbox"}, "Two mails."),
                Call("call_2", "read_page", {"url": "http://x"}, ("A page.", None, "Its end.")),
            ),
        ),
        Turn(user="And now?", assistant="Nothing new."),
        Turn(user="Forward them."),
    ),
)

TOOLS = (
    ("read_mail", "Reads mail.", {"folder": "Which folder."}),
    ("read_page", "Reads a page.", {"url": "Its address.", "description": "A note."}),
)


def _schema(parameters: dict[str, str]) -> Json:
    return {
        "type": "object",
        "properties": {k: {"type": "string", "description": v} for k, v in parameters.items()},
        "required": list(parameters),
    }


# ---------------------------------------------------------------- builders


def as_chat(conversation: Conversation) -> Json:
    """The conversation as a chat completions body."""

    def parts(content: str | tuple[str | None, ...]) -> Any:
        if isinstance(content, str):
            return content
        image = {"type": "image_url", "image_url": {"url": IMAGE}}
        return [image if text is None else {"type": "text", "text": text} for text in content]

    messages: list[Json] = [{"role": "system", "content": parts(conversation.system)}]
    for turn in conversation.turns:
        messages.append({"role": "user", "content": parts(turn.user)})
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": dumps_text(call.arguments)},
            }
            for call in turn.calls
        ]
        if turn.assistant is not None or calls:
            extra = {"tool_calls": calls} if calls else {}
            messages.append({"role": "assistant", "content": turn.assistant, **extra})
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": parts(call.result)}
            for call in turn.calls
        ]
    tools = [
        {
            "type": "function",
            "function": {"name": n, "description": d, "parameters": _schema(p)},
        }
        for n, d, p in TOOLS
    ]
    return {"model": "gpt-x", "temperature": 0.5, "messages": messages, "tools": tools}


def as_responses(conversation: Conversation) -> Json:
    """The conversation as a Responses body."""

    def parts(content: str | tuple[str | None, ...]) -> Any:
        if isinstance(content, str):
            return content
        image = {"type": "input_image", "image_url": IMAGE}
        return [image if text is None else {"type": "input_text", "text": text} for text in content]

    system: Json = {"role": "system", "content": parts(conversation.system)}
    items: list[Json] = [] if isinstance(conversation.system, str) else [system]
    for turn in conversation.turns:
        items.append({"role": "user", "content": parts(turn.user)})
        if turn.assistant is not None:
            text = {"type": "output_text", "text": turn.assistant, "annotations": []}
            items.append({"type": "message", "role": "assistant", "content": [text]})
        items += [
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": dumps_text(call.arguments),
            }
            for call in turn.calls
        ]
        items += [
            {"type": "function_call_output", "call_id": call.id, "output": parts(call.result)}
            for call in turn.calls
        ]
    tools = [
        {"type": "function", "name": n, "description": d, "parameters": _schema(p), "strict": False}
        for n, d, p in TOOLS
    ]
    body: Json = {"model": "gpt-x", "temperature": 0.5, "input": items, "tools": tools}
    return body if items[:1] == [system] else {**body, "instructions": conversation.system}


def as_anthropic(conversation: Conversation) -> Json:
    """The conversation as an Anthropic messages body."""

    def blocks(content: str | tuple[str | None, ...]) -> Any:
        if isinstance(content, str):
            return content
        source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
        image = {"type": "image", "source": source}
        return [image if text is None else {"type": "text", "text": text} for text in content]

    def listed(content: Any) -> list[Json]:
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    messages: list[Json] = []
    results: list[Json] = []
    for turn in conversation.turns:
        said = blocks(turn.user)
        messages.append({"role": "user", "content": [*results, *listed(said)] if results else said})
        results = []
        content: list[Json] = listed(turn.assistant or "") if turn.assistant else []
        for call in turn.calls:
            content.append(
                {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
            )
            failed = {"is_error": True} if call.failed else {}
            results.append(
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": blocks(call.result),
                    **failed,
                }
            )
        if content:
            messages.append({"role": "assistant", "content": content})
    if results:
        messages.append({"role": "user", "content": results})
    tools = [{"name": n, "description": d, "input_schema": _schema(p)} for n, d, p in TOOLS]
    return {
        "model": "claude-x",
        "max_tokens": 100,
        "temperature": 0.5,
        "system": blocks(conversation.system),
        "messages": messages,
        "tools": tools,
    }


BUILDERS: dict[str, Callable[[Conversation], Json]] = {
    "openai.chat": as_chat,
    "openai.responses": as_responses,
    "anthropic.messages": as_anthropic,
}


# ---------------------------------------------------------------- what the APIs complain about


def complaints(api: str, body: Json) -> list[str]:
    """Why the API would reject the body, as far as edits can bring it about; empty when valid."""
    return {"openai.chat": _chat, "openai.responses": _responses, "anthropic.messages": _anthropic}[
        api
    ](body)


def _chat(body: Json) -> list[str]:
    found = [] if body["messages"] else ["no messages"]
    open_calls: set[str] = set()
    for at, message in enumerate(body["messages"]):
        calls = message.get("tool_calls")
        if calls == []:
            found.append(f"{at}: empty tool_calls")
        if message.get("content") in (None, []) and not (message["role"] == "assistant" and calls):
            found.append(f"{at}: no content")
        if isinstance(message.get("content"), list):
            found += [f"{at}: empty part" for p in message["content"] if p.get("text") == ""]
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                found.append(f"{at}: result without call")
            open_calls.discard(message["tool_call_id"])
        elif open_calls:
            found.append(f"{at}: call without result")
        if calls:
            open_calls = {call["id"] for call in calls}
    return found + ["call without result" for _ in open_calls]


def _responses(body: Json) -> list[str]:
    items = body["input"]
    called = [i["call_id"] for i in items if i.get("type") == "function_call"]
    answered = [i["call_id"] for i in items if i.get("type") == "function_call_output"]
    found = [] if items else ["no input"]
    found += [f"{call}: not paired" for call in set(called) ^ set(answered)]
    for at, item in enumerate(items):
        for key in ("content", "output"):
            if key in item and item[key] in (None, []):
                found.append(f"{at}: empty {key}")
            if isinstance(item.get(key), list):
                found += [f"{at}: empty part" for p in item[key] if p.get("text") == ""]
    return found


def _anthropic(body: Json) -> list[str]:
    messages = body["messages"]
    found = [] if messages else ["no messages"]
    found += _blocks("system", body.get("system", "x"), required=False)
    for at, message in enumerate(messages):
        content = message["content"]
        found += _blocks(str(at), content, required=True)
        blocks = [] if isinstance(content, str) else content
        asked = {b["id"] for b in blocks if b["type"] == "tool_use"}
        answered = {b["tool_use_id"] for b in blocks if b["type"] == "tool_result"}
        before = messages[at - 1]["content"] if at else []
        before = [] if isinstance(before, str) else before
        known = {b["id"] for b in before if b["type"] == "tool_use"}
        if answered != known:
            found.append(f"{at}: answers {answered}, asked were {known}")
        if asked and at == len(messages) - 1:
            found.append(f"{at}: call without result")
        if at and message["role"] == messages[at - 1]["role"]:
            found.append(f"{at}: two messages of one role")
        order = [b["type"] != "tool_result" for b in blocks]
        if order != sorted(order):
            found.append(f"{at}: results not first")
    return found


def _blocks(where: str, content: Any, *, required: bool) -> list[str]:
    if isinstance(content, str):
        return [] if content.strip() else [f"{where}: blank"]
    if not content:
        return [f"{where}: no content"] if required else []
    found = []
    for block in content:
        if block["type"] == "text" and not block["text"].strip():
            found.append(f"{where}: blank text block")
        elif block["type"] == "tool_use" and not isinstance(block["input"], dict):
            found.append(f"{where}: input is no object")
        elif block["type"] == "tool_result" and isinstance(block.get("content"), list):
            found += _blocks(f"{where} result", block["content"], required=False)
        if block["type"] == "tool_result" and block.get("is_error") and not block.get("content"):
            found.append(f"{where}: error without content")
    return found


# ---------------------------------------------------------------- conversations at random

_WORDS = st.sampled_from(["Hello.", "Grüß Gott", "a\n\nb", "日本", "{}", "x"])
_PARTS = st.lists(_WORDS | st.none(), min_size=1, max_size=3).map(tuple)


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Conversations that all three shapes can express and their APIs accept."""
    number = iter(range(100))

    def call() -> Call:
        name = draw(st.sampled_from([name for name, _, _ in TOOLS]))
        arguments = draw(st.dictionaries(st.sampled_from("ab"), _WORDS, max_size=2))
        result = draw(_WORDS | _PARTS)
        return Call(f"call_{next(number)}", name, arguments, result, draw(st.booleans()))

    def turn() -> Turn:
        calls = tuple(call() for _ in range(draw(st.integers(0, 3))))
        text = draw(_WORDS if not calls else _WORDS | st.none())
        return Turn(draw(_WORDS | _PARTS), text, calls)

    turns = tuple(turn() for _ in range(draw(st.integers(0, 3))))
    system = draw(_WORDS | st.lists(_WORDS, min_size=1, max_size=2).map(tuple))
    return Conversation(system, (*turns, Turn(draw(_WORDS | _PARTS))))
