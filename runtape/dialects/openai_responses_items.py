"""The items of the Responses API: what each type of input or output item holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from runtape.dialects.base import JsonPath, Slot, SlotKind, ToolCall
from runtape.dialects.content import (
    DefinitionKeys,
    content_slots,
    definition_slots,
    parsed_arguments,
)
from runtape.dialects.paths import entries, kind_of, text_of
from runtape.jsonio import Json

_ROLES = {
    "system": SlotKind.SYSTEM,
    "developer": SlotKind.SYSTEM,
    "assistant": SlotKind.ASSISTANT,
}

# Type of the call item → key of what it calls with. A call without a `name` is named by its type.
_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "mcp_call": "arguments",
    "mcp_approval_request": "arguments",
    "tool_search_call": "arguments",
    "web_search_call": "action",
    "file_search_call": "queries",
    "code_interpreter_call": "code",
    "computer_call": "action",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
}
_SERVER_RUN = frozenset(
    {"mcp_call", "web_search_call", "file_search_call", "code_interpreter_call"}
)
_PAIRED = frozenset({"function_call", "custom_tool_call"})
_EDITABLE_CALLS = _PAIRED | {"mcp_call"}

# Type of the item → (list key, text keys) of results that stand in lists of objects.
_RESULT_LISTS = {
    "shell_call_output": ("output", ("stdout", "stderr")),
    "file_search_call": ("results", ("text",)),
    "code_interpreter_call": ("outputs", ("logs",)),
}
_TOOL_LISTS = frozenset({"mcp_list_tools", "additional_tools", "tool_search_output"})


def call_in(item: Json) -> ToolCall | None:
    """The tool call an item makes, None for other items. Calls the server runs itself count too."""
    kind = kind_of(item)
    key = _CALLS.get(kind)
    if key is None:
        return None
    value = item.get(key)
    call_id = text_of(item.get("call_id")) or text_of(item.get("id"))
    name = text_of(item.get("name")) or kind.removesuffix("_call")
    return ToolCall(name, parsed_arguments(value) if key == "arguments" else value, call_id)


def runs_outside(item: Json) -> bool:
    """Whether the item is a call that waits for the caller to run it."""
    kind = kind_of(item)
    return kind in _CALLS and kind not in _SERVER_RUN


def is_generated(item: Json) -> bool:
    """Whether the model made the item, so that reasoning before it leads to something."""
    kind = kind_of(item)
    made = kind in _CALLS or kind in ("reasoning", "image_generation_call", "compaction")
    return made or item.get("role") == "assistant"


def called_id(item: Json) -> str | None:
    """The id under which a call item needs a result item."""
    return text_of(item.get("call_id")) if kind_of(item) in _PAIRED else None


def returned_id(item: Json) -> str | None:
    """The id of the call a result item answers."""
    kind = kind_of(item)
    paired = kind.endswith("_output") and kind.removesuffix("_output") in _PAIRED
    return text_of(item.get("call_id")) if paired else None


def item_slots(index: int, item: Json, names: dict[str, str]) -> Iterator[Slot]:
    """Slots of input item `index`; `names`: tool names of the calls so far, by id."""
    kind = kind_of(item) or "message"
    base = Slot(("input", index), SlotKind.TOOL_RESULT, message=index)
    if kind == "message":
        role = _ROLES.get(str(item.get("role")), SlotKind.USER)
        content = replace(base, path=(*base.path, "content"), kind=role)
        yield from content_slots(item.get("content"), content)
        return
    if kind in _TOOL_LISTS:
        for at, tool in entries(item.get("tools")):
            yield from definitions(tool, (*base.path, "tools", at), base)
        return
    call_id = text_of(item.get("call_id")) or text_of(item.get("id"))
    name = text_of(item.get("name")) or names.get(call_id or "")
    yield from _call_item_slots(kind, item, replace(base, name=name, call_id=call_id))


def _call_item_slots(kind: str, item: Json, base: Slot) -> Iterator[Slot]:
    """Slots of calls and results. `mcp_call` and the like are both."""
    if kind in _EDITABLE_CALLS and text_of(item.get(_CALLS[kind])):
        yield replace(base, path=(*base.path, _CALLS[kind]), kind=SlotKind.TOOL_CALL)
    if kind in _RESULT_LISTS:
        yield from _list_slots(item, base, *_RESULT_LISTS[kind])
    elif kind == "image_generation_call":
        yield replace(base, kind=SlotKind.MEDIA, name="image_generation")
    elif kind == "program_output" and text_of(item.get("result")):
        yield replace(base, path=(*base.path, "result"))
    elif kind == "mcp_call" or kind.endswith("_output"):
        yield from content_slots(item.get("output"), replace(base, path=(*base.path, "output")))


def _list_slots(item: Json, base: Slot, key: str, texts: tuple[str, ...]) -> Iterator[Slot]:
    for block, member in entries(item.get(key)):
        for text in texts:
            if text_of(member.get(text)):
                yield replace(base, path=(*base.path, key, block, text), block=block)


def definitions(tool: Json, path: JsonPath, base: Slot) -> Iterator[Slot]:
    """Description slots of one tool definition, flat or a namespace of several."""
    if kind_of(tool) == "mcp":
        keys = DefinitionKeys("server_label", "server_description")
    else:
        keys = DefinitionKeys(schema="parameters" if "parameters" in tool else "input_schema")
    yield from definition_slots(tool, path, base, keys)
    for index, inner in entries(tool.get("tools")):
        yield from definition_slots(inner, (*path, "tools", index), base, DefinitionKeys())
