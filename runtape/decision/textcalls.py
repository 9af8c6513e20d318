"""Tool calls that a weak model writes as text instead of making them."""

from __future__ import annotations

import re
from typing import Any

from runtape.dialects.base import ToolCall
from runtape.jsonio import loads

_WRAPPED = re.compile(
    r"<(tool_call|function_call|tool)>\s*(?P<tagged>.*?)\s*(?:</\1>|\Z)"
    r"|```(?:\w+)?\s*\n?(?P<fenced>.*?)```"
    r"|(?:\[TOOL_CALLS\]|<\|python_tag\|>)\s*(?P<prefixed>.*)\Z",
    re.DOTALL,
)
_NAMES = ("name", "tool", "tool_name", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_OTHERS = {"type", "id", "call_id"}


def calls_in_text(text: str) -> tuple[ToolCall, ...]:
    """Calls written as JSON: alone, in a code fence, or in the tags chat templates use.

    Only objects that hold a name, an arguments object and nothing else that a call does not have
    are taken, so that JSON which is the answer stays text.
    """
    if "{" not in text:
        return ()
    parts = [match[match.lastgroup] for match in _WRAPPED.finditer(text) if match.lastgroup]
    return tuple(call for part in parts or [text] for call in _calls(part))


def _calls(text: str) -> list[ToolCall]:
    try:
        document = loads(text.strip())
    except ValueError:
        return []
    if isinstance(document, dict) and document.keys() == {"tool_calls"}:
        document = document["tool_calls"]
    entries = document if isinstance(document, list) else [document]
    calls = [_call(entry) for entry in entries]
    return [call for call in calls if call] if all(calls) else []


def _call(entry: Any) -> ToolCall | None:
    if not isinstance(entry, dict):
        return None
    if isinstance(entry.get("function"), dict) and entry.keys() - _OTHERS == {"function"}:
        return _call(entry["function"])
    names = [key for key in _NAMES if key in entry]
    arguments = [key for key in _ARGUMENTS if key in entry]
    if len(names) != 1 or len(arguments) != 1 or len(entry.keys() - _OTHERS) != 2:  # noqa: PLR2004
        return None
    name, value = entry[names[0]], entry[arguments[0]]
    if isinstance(value, str):
        value = _object(value)
    if not isinstance(name, str) or not name or not isinstance(value, dict):
        return None
    return ToolCall(name=name, arguments=value)


def _object(text: str) -> Any:
    try:
        return loads(text)
    except ValueError:
        return None
