"""What content looks like in every shape: strings, typed parts, JSON Schema with descriptions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from runtape.dialects.base import JsonPath, Slot, SlotKind
from runtape.dialects.paths import changed, entries, kind_of, text_of
from runtape.jsonio import Json, dumps_text, loads

_MEDIA = frozenset(
    {
        "image_url", "input_audio", "file", "video_url", "audio_url",  # openai.chat and its kin
        "input_image", "input_file", "input_video",  # openai.responses
        "image", "audio", "video", "document",  # servers that take several shapes
    }
)  # fmt: skip

_REASONING = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_text"})

_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
_TEXT_KEYS = ("text", "refusal")

_NO_SCHEMA = frozenset({"default", "examples", "example", "enum", "const", "required"})
"""Keywords of JSON Schema that hold values, not schemas."""


def content_slots(content: Any, base: Slot) -> Iterator[Slot]:
    """Slots of a content value that stands at ``base.path``: one string, or a list of parts."""
    if text_of(content):
        yield base
    if not isinstance(content, list):
        return
    for index, part in enumerate(content):
        block = index if base.block is None else base.block
        here = replace(base, path=(*base.path, index), block=block)
        if text_of(part):
            yield here
        elif isinstance(part, dict):
            yield from _part_slots(part, here)


def _part_slots(part: Json, base: Slot) -> Iterator[Slot]:
    kind = kind_of(part)
    if kind in _MEDIA:
        yield replace(base, kind=SlotKind.MEDIA)
    elif kind not in _REASONING:
        keys = (key for key in _TEXT_KEYS if text_of(part.get(key)))
        yield from (replace(base, path=(*base.path, key)) for key in keys)


def content_text(content: Any) -> str | None:
    """The readable text of a content value, parts joined; None when there is none."""
    if isinstance(content, str):
        return content or None
    readable = (part for _, part in entries(content) if kind_of(part) not in _REASONING)
    return "".join(text for part in readable if (text := text_of(part.get("text")))) or None


def without_empty_parts(parts: list[Any]) -> list[Any]:
    """The parts without text parts that hold nothing; the same list when there are none."""
    return changed(parts, lambda part: None if _is_empty(part) else part)


def _is_empty(part: Json) -> bool:
    return kind_of(part) in _TEXT_TYPES and part.get("text") == ""


def appended(content: Any, text: str, part_type: str) -> Any:
    """Content (a string or parts) with `text` as a last passage of its own."""
    if isinstance(content, list):
        return [*content, {"type": part_type, "text": text}]
    old = content if isinstance(content, str) else ""
    return f"{old}\n\n{text}" if old.strip() else text


class DefinitionKeys(NamedTuple):
    """Under which keys a tool definition has its name, description and parameter schema."""

    name: str = "name"
    description: str = "description"
    schema: str = "parameters"


def definition_slots(
    tool: Json, path: JsonPath, base: Slot, keys: DefinitionKeys
) -> Iterator[Slot]:
    """Slots of the tool definition at `path`: its description, then those of its parameters."""
    named = replace(base, kind=SlotKind.TOOL_DEFINITION, name=text_of(tool.get(keys.name)))
    if text_of(tool.get(keys.description)):
        yield replace(named, path=(*path, keys.description))
    for inner in _description_paths(tool.get(keys.schema)):
        yield replace(named, path=(*path, keys.schema, *inner))


def _description_paths(schema: Any) -> Iterator[JsonPath]:
    """Paths of descriptions in a JSON Schema, in document order (a loop: schemas nest deeply)."""
    pending: list[tuple[JsonPath, Any]] = [((), schema)] if isinstance(schema, dict) else []
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            yield path
        elif isinstance(value, list):
            pending += [((*path, i), inner) for i, inner in reversed(list(entries(value)))]
        elif isinstance(value, dict):
            names = path[-1:] == ("properties",) and path[-2:] != ("properties", "properties")
            inside = [(key, inner) for key, inner in value.items() if _matters(key, inner, names)]
            pending += [((*path, key), inner) for key, inner in reversed(inside)]


def _matters(key: str, value: Any, names: bool) -> bool:  # noqa: FBT001 - one call, above
    """Whether a member of a schema holds descriptions; `names`: its keys are parameter names."""
    if isinstance(value, str):
        return key == "description" and bool(value) and not names
    return isinstance(value, (dict, list)) and (names or key not in _NO_SCHEMA)


def parsed_arguments(arguments: Any) -> Any:
    """Arguments of a call as JSON: raw text when it is not JSON, ``{}`` when there are none."""
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    if not arguments.strip():
        return {}
    try:
        return loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def repaired_arguments(arguments: Any) -> Any:
    """Arguments as text that servers can parse: ``{}`` for a filler that took their place.

    OpenAI takes any text, local servers parse it. What a model wrote begins with a brace even when
    it is broken, and stays.
    """
    if not isinstance(arguments, str) or not arguments.strip() or arguments.lstrip()[0] == "{":
        return arguments
    return "{}" if isinstance(parsed_arguments(arguments), str) else arguments


def arguments_text(arguments: Any) -> str:
    """Arguments of a tool call as the string the OpenAI shapes carry."""
    return arguments if isinstance(arguments, str) else dumps_text(arguments)
