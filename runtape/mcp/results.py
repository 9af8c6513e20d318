"""Results of tools: words for a reader, and the same as a document whose shape is declared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from mcp.types import CallToolResult, TextContent

from runtape.jsonio import Json, dumps, loads
from runtape.reports.sheet import Line

COLUMNS = 100
MOST_CHARACTERS = 40_000
"""Of the words of one result: a model reads them all."""
_LONGEST = 4_000
"""Characters of one string in a document."""
_MOST_BYTES = 200_000
"""Of a document; above it the strings are cut shorter, down to _SHORTEST."""
_SHORTEST = 80
_SURROGATE = re.compile("[\ud800-\udfff]")


def result(lines: Iterable[Line] | str, document: Json, longest: int = _LONGEST) -> CallToolResult:
    """Words and document of one answer; both are cut to a size that a model can read.

    Args:
        lines: visible text, from a sheet; or text that is made visible already.
        document: plain JSON.
        longest: characters kept of each string in the document.
    """
    text = lines if isinstance(lines, str) else "\n".join(line.plain for line in lines)
    short = brief(document, longest)
    while longest > _SHORTEST and len(dumps(short)) > _MOST_BYTES:
        longest //= 4
        short = brief(document, longest)
    return CallToolResult(
        content=[TextContent(type="text", text=shortened(text, MOST_CHARACTERS))],
        structured_content=short,
    )


def shortened(text: str, limit: int) -> str:
    """The beginning of a text, and how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n… {len(text) - limit:,} more characters"


def brief(value: Any, longest: int) -> Any:
    """A document with no string longer than `longest`, and none that UTF-8 cannot write."""
    if isinstance(value, str):
        return _SURROGATE.sub(lambda found: f"<U+{ord(found[0]):04X}>", shortened(value, longest))
    if isinstance(value, dict):
        return {brief(str(key), longest): brief(item, longest) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [brief(item, longest) for item in value]
    return value


def _object(schema: str, **properties: Json) -> Json:
    """The shape of a document: its ``schema``, and the properties it always has."""
    fields = {"schema": {"const": schema}, **properties}
    return {"type": "object", "required": list(fields), "properties": fields}


def _from_file(name: str) -> Json:
    schemas = files("runtape.reports").joinpath("schemas")
    shape: Json = loads(schemas.joinpath(f"{name}.schema.json").read_text("utf-8"))
    return shape


_TEXT: Json = {"type": "string"}
_WHOLE: Json = {"type": "integer"}
_ROWS: Json = {"type": "array", "items": {"type": "object"}}
_DISTRIBUTION = _from_file("distribution-1")

SHAPES: dict[str, Json] = {
    "list_traces": _object("runtape.ls/1", traces=_ROWS),
    "summary": _object("runtape.summary/1"),
    "timeline": _object("runtape.timeline/1", events=_ROWS, total=_WHOLE),
    "show": _object("runtape.event/1", id=_WHOLE, type=_TEXT),
    "context": _object("runtape.context/1", request=_WHOLE, pieces=_ROWS),
    "grep": _object("runtape.grep/1", pattern=_TEXT, hits=_ROWS),
    "diff": _object("runtape.diff/1", old=_TEXT, new=_TEXT, changes=_ROWS),
    "why": _from_file("why-1"),
    "why_dry": _object("runtape.plan/1", calls=_WHOLE, most=_WHOLE, pieces=_ROWS),
    "rerun": _DISTRIBUTION,
    "odds": _DISTRIBUTION,
    "fix": _object("runtape.fix/1", end=_TEXT, remedies=_ROWS, decisions=_ROWS),
}
"""JSON Schema of the document that each tool returns."""
