"""What must stay together: line breaks inside of it divide nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from runtape.context.json_spans import Span
from runtape.context.splitting.tags import outermost

FENCE = re.compile(
    r"^[ \t]*(?P<mark>`{3,}(?!`)|~{3,}(?!~))[^\n]*\n"
    r"(?P<inner>.*?)(?:^[ \t]*(?P=mark)[`~]*[ \t\r]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""A block of code between fences."""

_JSON_START = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_JSON_TRIES = 50


def unbroken(text: str) -> str:
    """The text with the line breaks inside of what must stay together turned into spaces."""
    for find in (_fences, _json, _elements):
        parts: list[str] = []
        done = 0
        for start, end in find(text):
            parts += (text[done:start], text[start:end].replace("\n", " "))
            done = end
        text = "".join((*parts, text[done:]))
    return text


def _fences(text: str) -> Iterator[Span]:
    if "```" in text or "~~~" in text:
        yield from (fence.span() for fence in FENCE.finditer(text))


def _elements(text: str) -> Iterator[Span]:
    for element in outermost(text):
        if text.find("\n", element.start, element.end) >= 0:
            yield element.start, element.end


def _json(text: str) -> Iterator[Span]:
    """JSON documents that begin and end with a line."""
    decoder, done = json.JSONDecoder(strict=False), 0
    for tries, line in enumerate(_JSON_START.finditer(text)):
        if tries >= _JSON_TRIES:
            return
        if line.end() < done:
            continue
        try:
            _, done = decoder.raw_decode(text, line.end())
        except (ValueError, RecursionError):
            continue
        if not text[done : text.find("\n", done) if "\n" in text[done:] else None].strip():
            yield line.end(), done
