"""What the Anthropic API insists on, restored after an edit.

Text blocks must hold more than white space; messages must have content (save a prefilled last one); every
``tool_use`` needs its ``tool_result`` in the turn that follows, results first; no result without its call.
"""

from __future__ import annotations

from typing import Any

from runtape.dialects.base import REMOVED
from runtape.dialects.paths import changed, entries, with_key, without_keys
from runtape.jsonio import Json

_STAND_IN: Json = {"type": "text", "text": REMOVED}
_NEVER_LAST = frozenset({"thinking", "redacted_thinking"})


def repaired_system(body: Json) -> Json:
    """The body without empty system blocks."""
    system = body.get("system")
    if not isinstance(system, list) or not system:
        return body
    kept = changed(system, _repaired_block)
    return with_key(body, "system", kept) if kept else without_keys(body, "system")


def repaired_message(message: Json, *, last: bool) -> Json:
    """One message with valid content. `last`: it may be the beginning of the reply (prefill)."""
    content = message.get("content")
    prefill = last and message.get("role") == "assistant"
    if isinstance(content, list):
        content = changed(content, _repaired_block)
        if not content or all(block.get("type") in _NEVER_LAST for _, block in entries(content)):
            content = content if prefill and not content else [*content, _STAND_IN]
    elif not isinstance(content, str) or not (content.strip() or prefill):
        content = REMOVED
    if prefill:
        content = _without_trailing_space(content)
    return with_key(message, "content", content)


def _without_trailing_space(content: Any) -> Any:
    """A prefill must not end in white space."""
    if isinstance(content, str):
        return content if content == content.rstrip() else content.rstrip()
    tail = content[-1] if content else None
    text = tail.get("text") if isinstance(tail, dict) and tail.get("type") == "text" else None
    if not isinstance(text, str) or text == text.rstrip():
        return content
    return [*content[:-1], {**content[-1], "text": text.rstrip()}]


def _repaired_block(block: Json) -> Json | None:
    kind = str(block.get("type"))
    if kind == "text":
        text = block.get("text")
        return block if isinstance(text, str) and text.strip() else None
    if kind == "tool_use" and not isinstance(block.get("input"), dict):
        return {**block, "input": {}}
    if kind in ("tool_result", "mcp_tool_result"):
        return _repaired_result(block)
    if kind == "document":
        return _repaired_document(block)
    if kind == "search_result":
        return _repaired_search_result(block)
    return block


def _repaired_result(block: Json) -> Json:
    content = block.get("content")
    if isinstance(content, list) and content:
        content = changed(content, _repaired_block) or REMOVED
        block = with_key(block, "content", content)
    if block.get("is_error") and not content:
        return {**block, "content": REMOVED}
    return block


def _repaired_document(block: Json) -> Json:
    empty = [key for key in ("title", "context") if block.get(key) == ""]
    block = without_keys(block, *empty)
    source = block.get("source")
    if not isinstance(source, dict) or source.get("type") not in ("text", "content"):
        return block
    key = "data" if source["type"] == "text" else "content"
    return with_key(block, "source", with_key(source, key, _filled(source.get(key))))


def _repaired_search_result(block: Json) -> Json:
    for key in ("title", "source"):
        block = with_key(block, key, block.get(key) or REMOVED)
    return with_key(block, "content", _filled(block.get("content")))


def _filled(content: Any) -> Any:
    if isinstance(content, list):
        return changed(content, _repaired_block) or [_STAND_IN]
    return content if isinstance(content, str) and content.strip() else REMOVED


def repaired_pairs(messages: list[Any]) -> list[Any]:
    """Messages in which every client-side call is answered in the next turn and every answer has its call.

    The same list when nothing had to change.
    """
    result: list[Any] = []
    known: set[str] = set()
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else "system"
        if role == "assistant":
            if open_calls:
                result.append({"role": "user", "content": _answers(open_calls)})
            calls = _ids(message, "tool_use", "id")
            known.update(calls)
            open_calls = _unanswered(calls, messages[index + 1 :])
        elif role != "system":
            message = _answering(_without_orphans(message, known), open_calls)  # noqa: PLW2901
            open_calls = []
        result.append(message)
    if open_calls:
        result.append({"role": "user", "content": _answers(open_calls)})
    same = len(result) == len(messages) and all(
        a is b for a, b in zip(messages, result, strict=True)
    )
    return messages if same else result


def _ids(message: Any, kind: str, key: str) -> list[str]:
    content = message.get("content") if isinstance(message, dict) else None
    return [
        block[key] for _, block in entries(content) if block.get("type") == kind and block.get(key)
    ]


def _unanswered(calls: list[str], following: list[Any]) -> list[str]:
    """The calls that the turn after them (all messages up to the next assistant one) leaves open."""
    answered: set[str] = set()
    for message in following:
        if isinstance(message, dict) and message.get("role") == "assistant":
            break
        answered.update(_ids(message, "tool_result", "tool_use_id"))
    return [call for call in calls if call not in answered]


def _without_orphans(message: Json, known: set[str]) -> Json:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    kept = changed(content, lambda block: None if _is_orphan(block, known) else block)
    return with_key(message, "content", kept or [_STAND_IN])


def _is_orphan(block: Json, known: set[str]) -> bool:
    return block.get("type") == "tool_result" and block.get("tool_use_id") not in known


def _answering(message: Json, calls: list[str]) -> Json:
    """The message with stand-in results for `calls` in front: the API wants results first."""
    if not calls:
        return message
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return {**message, "content": [*_answers(calls), *blocks]}


def _answers(calls: list[str]) -> list[Json]:
    return [{"type": "tool_result", "tool_use_id": call, "content": REMOVED} for call in calls]
