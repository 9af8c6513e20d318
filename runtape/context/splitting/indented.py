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
    if not lines:
        return []
    indents = [_indent(text, *line) for line in lines]
    # A value after "- " begins in the middle of a line: its own indentation is that of its
    # brothers.
    first = min(indents[1:], default=indents[0])
    base = first if indents[0] == 0 and _begins(text, lines, indents, first) else indents[0]
    found: list[_Entry] = []
    for number, ((start, end), indent) in enumerate(zip(lines, indents, strict=True)):
        if number and indent > base:
            continue
        entry = _entry(text, start + indent, end)
        if entry is None or (number and indent < base):
            return []
        if found and found[0].name is not None and entry.name is None:
            continue  # a list under a member may stand at the member's own indentation
        if found and (found[0].name is None) != (entry.name is None):
            return []
        found.append(entry)
    return [
        _Entry(entry.start, trimmed(text, entry.start, stop)[1], entry.value, entry.name)
        for entry, stop in zip(
            found, [*(entry.start for entry in found[1:]), len(text)], strict=True
        )
    ]


def _begins(text: str, lines: list[Span], indents: list[int], base: int) -> bool:
    """Whether all lines at an indentation begin something."""
    return base > 0 and all(
        _entry(text, start + indent, end) is not None
        for (start, end), indent in list(zip(lines, indents, strict=True))[1:]
        if indent == base
    )


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
    value = text[entry.value : entry.end]
    return bool(
        _BLOCK_SCALAR.match(value)
        or (value[:1] in ("'", '"') and len(value) > 1 and value[-1] == value[0])
        or ("\n" in value and _entries(value if entry.name is None else value.lstrip("\n")))
    )


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
    inner, codec, shape = _value(text, entry, (start, end))
    return Part(step, entry.start, entry.end, inner, PieceKind.ITEM, codec, shape)


def _value(text: str, entry: _Entry, span: Span) -> tuple[Span, Codec | None, Shape]:
    """What a value's text is, how it is spelled and how it goes on."""
    start, end = span
    if block := _BLOCK_SCALAR.match(text, start, end):
        first = trimmed(text, block.end(), end)[0]
        indent = first - (text.rfind("\n", 0, first) + 1)
        return (first, end), yaml_block(indent, folded=block["style"] == ">"), Shape.TEXT
    if end - start > 1 and text[start] == text[end - 1] and text[start] in "'\"":
        codec = YAML_DOUBLE if text[start] == '"' else YAML_SINGLE
        return (start + 1, end - 1), codec, Shape.TEXT
    line_start = text.rfind("\n", 0, start) + 1
    nested = (line_start, end) if line_start > entry.value else (start, end)
    if _entries(text[slice(*nested)]):
        return nested, None, Shape.INDENTED
    return (start, end), YAML_PLAIN if "\n" in text[start:end] else None, Shape.TEXT
