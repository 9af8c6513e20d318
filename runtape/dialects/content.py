"""What content looks like in every shape: strings, lists of typed parts, JSON Schema with descriptions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from runtape.dialects.base import JsonPath, Slot, SlotKind
from runtape.dialects.paths import changed, entries, text_of
from runtape.jsonio import Json, dumps_text, loads

_MEDIA = frozenset(
    {
        "image_url", "input_audio", "file", "video_url", "audio_url",  # openai.chat and its kin
        "input_image", "input_file", "input_video",  # openai.responses
        "image", "audio", "video", "document", "container_upload",  # anthropic.messages
    }
)  # fmt: skip

_TEXT_KEYS = ("text", "refusal")

_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})

_NO_SCHEMA = frozenset({"default", "examples", "example", "enum", "const", "required"})


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
            yield from part_slots(part, here)


def part_slots(part: Json, base: Slot) -> Iterator[Slot]:
    """Slots of one typed part that stands at ``base.path``."""
    if part.get("type") in _MEDIA:
        yield replace(base, kind=SlotKind.MEDIA)
    else:
        yield from (
            replace(base, path=(*base.path, key)) for key in _TEXT_KEYS if text_of(part.get(key))
        )


def content_text(content: Any) -> str | None:
    """The readable text of a content value, parts joined; None when there is none."""
    if isinstance(content, str):
        return content or None
    parts = [part.get("text") for _, part in entries(content) if part.get("type") != "thinking"]
    return "".join(part for part in parts if isinstance(part, str)) or None


def definition_slots(
    tool: Json, path: JsonPath, keys: DefinitionKeys, base: Slot
) -> Iterator[Slot]:
    """Description slots of one tool definition that stands at `path`: its own, then its parameters'."""
    named = replace(base, kind=SlotKind.TOOL_DEFINITION, name=text_of(tool.get(keys[0])))
    if text_of(tool.get(keys[1])):
        yield replace(named, path=(*path, keys[1]))
    for inner in _description_paths(tool.get(keys[2])):
        yield replace(named, path=(*path, keys[2], *inner))


DefinitionKeys = tuple[str, str, str]
"""Keys of a tool's name, its description, and the JSON Schema of its parameters."""


def _description_paths(schema: Any) -> Iterator[JsonPath]:
    """Paths of all descriptions in a JSON Schema, in document order (a loop: schemas can be very deep)."""
    pending: list[tuple[JsonPath, Any]] = [((), schema)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            yield path
        elif isinstance(value, list):
            pending.extend(((*path, i), v) for i, v in reversed(list(entries(value))))
        elif isinstance(value, dict):
            pending.extend(
                ((*path, key), inner)
                for key, inner in reversed(value.items())
                if isinstance(inner, (dict, list))
                and not (key in _NO_SCHEMA and path[-1:] != ("properties",))
                or (key == "description" and text_of(inner))
            )


def parsed_arguments(arguments: Any) -> Any:
    """Arguments of a tool call as JSON; the raw text when it is not JSON, ``{}`` when there are none."""
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    if not arguments.strip():
        return {}
    try:
        return loads(arguments)
    except ValueError:
        return arguments


def arguments_text(arguments: Any) -> str:
    """Arguments of a tool call as the string the OpenAI shapes carry."""
    return arguments if isinstance(arguments, str) else dumps_text(arguments)


def appended(content: Any, text: str, part_type: str) -> Any:
    """Content (a string or parts) with `text` as a last passage of its own."""
    if isinstance(content, list):
        return [*content, {"type": part_type, "text": text}]
    old = content if isinstance(content, str) else ""
    return f"{old}\n\n{text}" if old.strip() else text


def without_empty_parts(parts: list[Any]) -> list[Any]:
    """The parts without text parts that hold nothing; the same list when there are none."""
    return changed(parts, lambda part: None if _is_empty(part) else part)


def _is_empty(part: Json) -> bool:
    return part.get("type") in _TEXT_TYPES and part.get("text") == ""
