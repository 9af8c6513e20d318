"""The turns of an Anthropic conversation, restored after an edit.

Messages must have content (save a prefilled last one), and every ``tool_use`` its ``tool_result``
in the turn that follows, results first; no result without its call.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from runtape.dialects.anthropic_messages_blocks import STAND_IN, is_readable, repaired_block
from runtape.dialects.base import REMOVED
from runtape.dialects.paths import changed, entries, kind_of, unless_same, with_key
from runtape.jsonio import Json

_NEVER_LAST = frozenset({"thinking", "redacted_thinking"})


def repaired_message(message: Json, *, last: bool) -> Json:
    """One message with valid content. `last`: it may be the beginning of the reply (prefill)."""
    content = message.get("content")
    prefill = last and message.get("role") == "assistant"
    if isinstance(content, list):
        content = changed(content, repaired_block)
        if all(kind_of(block) in _NEVER_LAST for _, block in entries(content)):
            content = content if prefill and not content else [*content, STAND_IN]
    elif not is_readable(content) and not (prefill and isinstance(content, str)):
        content = REMOVED
    return with_key(message, "content", _without_trailing_space(content) if prefill else content)


def _without_trailing_space(content: Any) -> Any:
    """A prefill must not end in white space."""
    if isinstance(content, str):
        return content if content == content.rstrip() else content.rstrip()
    tail = content[-1] if content else None
    text = tail.get("text") if isinstance(tail, dict) and kind_of(tail) == "text" else None
    if not isinstance(text, str) or text == text.rstrip():
        return content
    return [*content[:-1], {**content[-1], "text": text.rstrip()}]


def repaired_pairs(messages: list[Any]) -> list[Any]:
    """Messages in which the next turn answers each call and nothing answers a call that is gone.

    Calls that the server ran itself have their result beside them and are left alone.
    """
    result: list[Any] = []
    known: set[str] = set()
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        role = _role(message)
        if role == "assistant":
            calls = _ids(message, "tool_use", "id")
            known.update(calls)
            answered = _answered_after(messages, index)
            open_calls += [call for call in calls if call not in answered]
            result.append(message)
        elif role == "system":
            result.append(message)
        else:
            result.append(_answering(_without_orphans(message, known), open_calls))
            open_calls = []
    if open_calls:
        result.append({"role": "user", "content": _answers(open_calls)})
    return unless_same(messages, result)


def _role(message: Any) -> str:
    """The role as far as turns are concerned: what is no message interrupts none."""
    return str(message.get("role")) if isinstance(message, dict) else "system"


def _ids(message: Any, kind: str, key: str) -> list[str]:
    content = message.get("content") if isinstance(message, dict) else None
    return [
        block[key] for _, block in entries(content) if kind_of(block) == kind and block.get(key)
    ]


def _answered_after(messages: list[Any], index: int) -> set[str]:
    """Ids answered in the turn after the assistant turn of message `index`.

    Consecutive messages of one role are one turn to the API.
    """
    answered: set[str] = set()
    answering = False
    for message in islice(messages, index + 1, None):
        role = _role(message)
        if role == "assistant" and answering:
            break
        answering = answering or role not in ("assistant", "system")
        answered.update(_ids(message, "tool_result", "tool_use_id"))
    return answered


def _without_orphans(message: Json, known: set[str]) -> Json:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    kept = changed(content, lambda block: None if _is_orphan(block, known) else block)
    return with_key(message, "content", kept or [STAND_IN])


def _is_orphan(block: Json, known: set[str]) -> bool:
    return kind_of(block) == "tool_result" and block.get("tool_use_id") not in known


def _answering(message: Json, calls: list[str]) -> Json:
    """The message with stand-in results for `calls` in front: the API wants results first."""
    if not calls:
        return message
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return {**message, "content": [*_answers(calls), *blocks]}


def _answers(calls: list[str]) -> list[Json]:
    return [{"type": "tool_result", "tool_use_id": call, "content": REMOVED} for call in calls]
