"""YAML: items and members by their indentation, scalars unfolded.

Only the block structure is read here, and only of texts that are clearly YAML; anything doubtful is
left to be split as prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from runtape.context.json_spans import Span
from runtape.context.pieces import PieceKind
from runtape.context.refs import Index, Step
from runtape.context.splitting.parts import Names, Part, Shape, Split, bears, trimmed
from runtape.context.splitting.views import YAML_DOUBLE, YAML_PLAIN, YAML_SINGLE, Codec, yaml_block

_LINE = re.compile(r"[^\n]+")
_ITEM = re.compile(r"-(?:[ ]+|[ ]*$)")
_KEY = re.compile(
    r"(?:(?P<name>[A-Za-z_$][\w.$/-]*)|(?P<quote>['\"])(?P<quoted>[^'\"\n]*)(?P=quote)):(?:[ ]+|$)"
)
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'", re.DOTALL)
_BLOCK_SCALAR = re.compile(r"(?P<style>[|>])[+-]?\d?[+-]?[ \t]*\n")
_EMPTY = frozenset({"", "null", "~", "[]", "{}", "''", '""', "Null", "NULL"})


@dataclass(frozen=True, slots=True)
class _Entry:
    """An item (`name` is None) or a member: its lines, and where its value begins."""

    start: int
    end: int
    value: int
    name: str | None


def split_indented(text: str) -> Split | None:
    """The items or members of a YAML text; None when it is not clearly one.

    Clearly: every line at the outermost indentation begins an item or member of one sort; and there
    is more to it than a bulleted list or lines such as ``Subject: …``.
    """
    entries = _entries(text)
    if not entries:
        return None
    plain = all(entry.name is not None and entry.name.islower() for entry in entries)
    if not (plain and len(entries) > 1) and not any(_structured(text, e) for e in entries):
        return None
    return Split(tuple(_parts(text, entries)))


def split_nested(text: str) -> Split | None:
    """Like :func:`split_indented` for a text that stands inside YAML: one member is enough."""
    entries = _entries(text)
    return Split(tuple(_parts(text, entries))) if entries else None


def _entries(text: str) -> list[_Entry]:
    """The entries at the outermost indentation; empty when some line there begins none."""
    lines = [line.span() for line in _LINE.finditer(text) if line.group().strip()]
    base = _indent(text, *lines[0]) if lines else 0
    found: list[_Entry] = []
    for start, end in lines:
        indent = _indent(text, start, end)
        if indent > base:
            continue
        entry = _entry(text, start + indent, end)
        if entry is None or indent < base:
            return []
        if found and found[0].name is not None and entry.name is None:
            continue  # a list under a member may stand at the member's own indentation
        if found and (found[0].name is None) != (entry.name is None):
            return []
        found.append(entry)
    stops = [*(entry.start for entry in found[1:]), len(text)][: len(found)]
    return [
        _Entry(entry.start, trimmed(text, entry.start, stop)[1], entry.value, entry.name)
        for entry, stop in zip(found, stops, strict=True)
    ]


def _indent(text: str, start: int, end: int) -> int:
    return end - start - len(text[start:end].lstrip(" "))


def _entry(text: str, at: int, end: int) -> _Entry | None:
    if item := _ITEM.match(text, at, end):
        return _Entry(at, end, item.end(), None)
    if key := _KEY.match(text, at, end):
        return _Entry(at, end, key.end(), key["name"] or key["quoted"] or "")
    return None


def _structured(text: str, entry: _Entry) -> bool:
    """Whether a value is quoted, a block scalar, or holds entries on several lines."""
    span = trimmed(text, entry.value, entry.end)
    _, codec, shape = _value(text, span)
    plain = codec in (None, YAML_PLAIN) or (
        shape is Shape.INDENTED and "\n" not in text[slice(*span)]
    )
    return not plain


def _parts(text: str, entries: list[_Entry]) -> Iterator[Part]:
    names = Names()
    for number, entry in enumerate(entries):
        step = Index(number) if entry.name is None else names.key(entry.name)
        yield _part(text, step, entry)


def _part(text: str, step: Step, entry: _Entry) -> Part:
    start, end = trimmed(text, entry.value, entry.end)
    source = text[start:end]
    if source in _EMPTY or not bears(source):
        return Part(None, entry.start, entry.end, (start, end))
    inner, codec, shape = _value(text, (start, end))
    return Part(step, entry.start, entry.end, inner, PieceKind.ITEM, codec, shape)


def _value(text: str, span: Span) -> tuple[Span, Codec | None, Shape]:
    """What a value's text is, how it is spelled and how it goes on."""
    start, end = span
    if block := _BLOCK_SCALAR.match(text, start, end):
        first = trimmed(text, block.end(), end)[0]
        indent = first - (text.rfind("\n", 0, first) + 1)
        return (first, end), yaml_block(indent, folded=block["style"] == ">"), Shape.TEXT
    if _QUOTED.fullmatch(text, start, end):
        codec = YAML_DOUBLE if text[start] == '"' else YAML_SINGLE
        return (start + 1, end - 1), codec, Shape.TEXT
    # Inside an item or member its lines stand at the column where it begins.
    column = start - (text.rfind("\n", 0, start) + 1)
    nested = yaml_block(column, folded=False)
    if _entries(nested.text(text[start:end])):
        return (start, end), nested, Shape.INDENTED
    return (start, end), YAML_PLAIN if "\n" in text[start:end] else None, Shape.TEXT
