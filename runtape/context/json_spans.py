"""Where the values of a JSON text stand, found by the standard library's own scanner."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

Span: TypeAlias = tuple[int, int]
"""Characters ``start:end``."""

_DECODER = json.JSONDecoder(strict=False)
_SPACE = re.compile(r"[ \t\r\n]*")


def documents(text: str, start: int) -> list[tuple[Any, Span]]:
    """All documents of the text and their spans; empty when anything else stands in it."""
    found = []
    try:
        while start < len(text):
            value, end = _DECODER.raw_decode(text, start)
            found.append((value, (start, end)))
            start = skip(text, end)
            if start < len(text) and "\n" not in text[end:start]:
                return []
    except (ValueError, RecursionError):
        return []
    return found


def array(text: str, start: int) -> Iterator[tuple[Any, Span]]:
    """Items of the array at `start` (known to be well-formed) with their spans."""
    at = skip(text, start + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield value, (at, end)
        at = _next(text, end)


def members(text: str, start: int) -> Iterator[tuple[str, Any, int, Span]]:
    """Members of the object at `start`: name, value, where the name begins, span of the value."""
    at = skip(text, start + 1)
    while text[at] != "}":
        name, end = _DECODER.raw_decode(text, at)
        begin = skip(text, skip(text, end) + 1)
        value, end = _DECODER.raw_decode(text, begin)
        yield name, value, at, (begin, end)
        at = _next(text, end)


def _next(text: str, end: int) -> int:
    """Where the next value, or the closing bracket, begins."""
    at = skip(text, end)
    return skip(text, at + 1) if text[at] == "," else at


def skip(text: str, at: int) -> int:
    """Where the white space at `at` ends."""
    match = _SPACE.match(text, at)
    return match.end() if match else at
