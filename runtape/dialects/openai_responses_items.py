"""The items of the Responses API: what each type of input or output item holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from runtape.dialects.base import JsonPath, Slot, SlotKind, ToolCall
from runtape.dialects.content import content_slots, definition_slots, parsed_arguments
from runtape.dialects.paths import entries, text_of
from runtape.jsonio import Json

_ROLES = {
    "system": SlotKind.SYSTEM,
    "developer": SlotKind.SYSTEM,
    "assistant": SlotKind.ASSISTANT,
}

# Type of the call item → key of what it calls with. The tool's name is `name`, else the type without `_call`.
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

# Type of the item → (list key, text keys) of results that stand in lists of objects.
_RESULT_LISTS = {
    "shell_call_output": ("output", ("stdout", "stderr")),
    "file_search_call": ("results", ("text",)),
    "code_interpreter_call": ("outputs", ("logs",)),
}
_TOOL_LISTS = frozenset({"mcp_list_tools", "additional_tools", "tool_search_output"})


def call_in(item: Json) -> ToolCall | None:
    """The tool call an item makes; None for other items. Calls that the server runs itself count too."""
    kind = str(item.get("type"))
    key = _CALLS.get(kind)
    if key is None:
        return None
    value = item.get(key)
    call_id = text_of(item.get("call_id")) or text_of(item.get("id"))
    name = text_of(item.get("name")) or kind.removesuffix("_call")
    return ToolCall(name, parsed_arguments(value) if key == "arguments" else value, call_id)


def runs_outside(item: Json) -> bool:
    """Whether the item is a call that waits for the caller to run it."""
    kind = item.get("type")
    return kind in _CALLS and kind not in _SERVER_RUN


def called_id(item: Json) -> str | None:
    """The id under which a call item needs a result item."""
    return text_of(item.get("call_id")) if item.get("type") in _PAIRED else None


def returned_id(item: Json) -> str | None:
    """The id of the call a result item answers."""
    kind = str(item.get("type"))
    paired = kind.endswith("_output") and kind.removesuffix("_output") in _PAIRED
    return text_of(item.get("call_id")) if paired else None


def item_slots(index: int, item: Json, names: dict[str, str]) -> Iterator[Slot]:
    """Slots of input item `index`; `names`: tool names of the calls so far, by id."""
    kind = item.get("type") or "message"
    call_id = text_of(item.get("call_id")) or (
        text_of(item.get("id")) if kind != "message" else None
    )
    base = Slot(("input", index), SlotKind.TOOL_RESULT, message=index, call_id=call_id)
    base = replace(base, name=text_of(item.get("name")) or names.get(call_id or ""))
    if kind == "message":
        role = _ROLES.get(str(item.get("role")), SlotKind.USER)
        yield from content_slots(
            item.get("content"), replace(base, path=(*base.path, "content"), kind=role)
        )
    elif kind in ("function_call", "custom_tool_call", "mcp_call"):
        yield from _call_slots(item, base)
    elif kind in _TOOL_LISTS:
        for at, tool in entries(item.get("tools")):
            yield from definitions(tool, (*base.path, "tools", at), replace(base, call_id=None))
    elif kind in _RESULT_LISTS:
        yield from _list_slots(item, base, *_RESULT_LISTS[kind])
    elif kind == "image_generation_call":
        yield replace(base, kind=SlotKind.MEDIA, name="image_generation")
    elif kind == "program_output" and text_of(item.get("result")):
        yield replace(base, path=(*base.path, "result"))
    elif str(kind).endswith("_output"):
        yield from content_slots(item.get("output"), replace(base, path=(*base.path, "output")))


def definitions(tool: Json, path: JsonPath, base: Slot) -> Iterator[Slot]:
    """Description slots of one tool definition, flat or a namespace of several."""
    if tool.get("type") == "mcp":
        yield from definition_slots(tool, path, ("server_label", "server_description", ""), base)
        return
    schema = "parameters" if "parameters" in tool else "input_schema"
    yield from definition_slots(tool, path, ("name", "description", schema), base)
    for index, inner in entries(tool.get("tools")):
        yield from definition_slots(
            inner, (*path, "tools", index), ("name", "description", "parameters"), base
        )


def _call_slots(item: Json, base: Slot) -> Iterator[Slot]:
    key = _CALLS[item["type"]]
    if text_of(item.get(key)):
        yield replace(base, path=(*base.path, key), kind=SlotKind.TOOL_CALL)
    if text_of(item.get("output")):
        yield replace(base, path=(*base.path, "output"))


def _list_slots(item: Json, base: Slot, key: str, texts: tuple[str, ...]) -> Iterator[Slot]:
    for block, member in entries(item.get(key)):
        for text in texts:
            if text_of(member.get(text)):
                yield replace(base, path=(*base.path, key, block, text), block=block)
