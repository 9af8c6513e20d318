"""The content blocks of Anthropic messages: what each type holds, and what each must not lack."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from runtape.dialects.base import REMOVED, Slot, SlotKind, ToolCall
from runtape.dialects.content import DefinitionKeys, definition_slots
from runtape.dialects.paths import (
    changed,
    entries,
    kind_of,
    object_of,
    text_of,
    with_key,
    without_keys,
)
from runtape.jsonio import Json

_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_KEYS = DefinitionKeys(schema="input_schema")

STAND_IN: Json = {"type": "text", "text": REMOVED}
"""The block that stands where there must be one."""


def calls_in(content: Any) -> list[ToolCall]:
    """Tool calls among content blocks; those that the server runs itself count too."""
    return [
        ToolCall(str(block.get("name") or ""), block.get("input") or {}, text_of(block.get("id")))
        for _, block in entries(content)
        if kind_of(block) in _CALLS
    ]


def block_slots(block: Json, base: Slot, names: dict[str, str]) -> Iterator[Slot]:
    """Slots of one block of a message that stands at ``base.path``.

    `names`: tool names of the calls so far, by id. What is signed or encrypted has no slots:
    thinking, web search results, listings and summaries that the server made.
    """
    kind = kind_of(block)
    if kind == "tool_use" and block.get("input"):
        name, call_id = text_of(block.get("name")), text_of(block.get("id"))
        call = replace(base, kind=SlotKind.TOOL_CALL, name=name, call_id=call_id)
        yield replace(call, path=(*base.path, "input"))
    elif kind.endswith("tool_result"):
        call_id = text_of(block.get("tool_use_id"))
        name = names.get(call_id or "")
        result = replace(base, kind=SlotKind.TOOL_RESULT, name=name, call_id=call_id)
        yield from _result_slots(block.get("content"), _inside(result, "content"))
    elif kind == "tool_addition":
        definition = object_of(object_of(block.get("tool")).get("definition"))
        path = (*base.path, "tool", "definition")
        yield from definition_slots(definition, path, base, _KEYS)
    elif kind == "compaction":
        signed = block.get("encrypted_content") or block.get("signature")
        if text_of(block.get("content")) and not signed:
            yield _inside(base, "content")
    else:
        yield from _plain_slots(block, base)


def _inside(base: Slot, *keys: str | int) -> Slot:
    return replace(base, path=(*base.path, *keys))


def _result_slots(content: Any, base: Slot) -> Iterator[Slot]:
    """Slots of a tool result: text, blocks, or the object of a tool that the server ran."""
    if not isinstance(content, dict):
        yield from _nested_slots(content, base)
    elif "encrypted_stdout" not in content:
        yield from (_inside(base, key) for key in ("stdout", "stderr") if text_of(content.get(key)))
        yield from _nested_slots(content.get("content"), _inside(base, "content"))


def _nested_slots(content: Any, base: Slot) -> Iterator[Slot]:
    if text_of(content):
        yield base
    elif isinstance(content, dict):
        yield from _plain_slots(content, base)
    for index, block in entries(content):
        yield from _plain_slots(block, _inside(base, index))


def _plain_slots(block: Json, base: Slot) -> Iterator[Slot]:
    """Slots of a block that holds words or media: text, image, document, search result."""
    kind = kind_of(block)
    if kind == "text" and text_of(block.get("text")):
        yield _inside(base, "text")
    elif kind in ("image", "container_upload"):
        yield replace(base, kind=SlotKind.MEDIA)
    elif kind == "document":
        yield from (_inside(base, k) for k in ("title", "context") if text_of(block.get(k)))
        yield from _source_slots(object_of(block.get("source")), base)
    elif kind == "search_result":
        yield from (_inside(base, k) for k in ("title", "source") if text_of(block.get(k)))
        yield from _nested_slots(block.get("content"), _inside(base, "content"))


def _source_slots(source: Json, base: Slot) -> Iterator[Slot]:
    if kind_of(source) == "text":
        if text_of(source.get("data")):
            yield _inside(base, "source", "data")
    elif kind_of(source) == "content":
        yield from _nested_slots(source.get("content"), _inside(base, "source", "content"))
    else:
        yield replace(base, kind=SlotKind.MEDIA)


def repaired_block(block: Json) -> Json | None:
    """The block with all that its type must have; None when it has to go."""
    repair = _REPAIRS.get(kind_of(block))
    return repair(block) if repair else block


def is_readable(text: Any) -> bool:
    """Whether the API takes it as text: more than white space."""
    return isinstance(text, str) and not (text == "" or text.isspace())


def _repaired_text(block: Json) -> Json | None:
    return block if is_readable(block.get("text")) else None


def _repaired_call(block: Json) -> Json:
    return block if isinstance(block.get("input"), dict) else {**block, "input": {}}


def _repaired_result(block: Json) -> Json:
    content = block.get("content")
    if isinstance(content, list):
        content = changed(content, repaired_block)
        block = with_key(block, "content", content)
    return block if content or not block.get("is_error") else {**block, "content": REMOVED}


def _repaired_document(block: Json) -> Json:
    block = without_keys(block, *(key for key in ("title", "context") if block.get(key) == ""))
    source = object_of(block.get("source"))
    key = {"text": "data", "content": "content"}.get(kind_of(source))
    if key is None:
        return block
    filled = with_key(source, key, _filled(source.get(key)))
    return with_key(block, "source", filled)


def _repaired_search_result(block: Json) -> Json:
    for key in ("title", "source"):
        block = with_key(block, key, block.get(key) or REMOVED)
    return with_key(block, "content", _filled(block.get("content")))


def _repaired_summary(block: Json) -> Json:
    return {**block, "content": REMOVED} if block.get("content") == "" else block


def _filled(content: Any) -> Any:
    if isinstance(content, list):
        return changed(content, repaired_block) or [STAND_IN]
    return content if is_readable(content) else REMOVED


_REPAIRS: dict[str, Callable[[Json], Json | None]] = {
    "text": _repaired_text,
    "tool_use": _repaired_call,
    "tool_result": _repaired_result,
    "mcp_tool_result": _repaired_result,
    "document": _repaired_document,
    "search_result": _repaired_search_result,
    "compaction": _repaired_summary,
}
