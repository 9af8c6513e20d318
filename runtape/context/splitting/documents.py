"""JSON documents: objects into members, arrays into items, strings into what they spell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from runtape.context.json_spans import Span, array, documents, members, skip
from runtape.context.pieces import PieceKind
from runtape.context.refs import Counted, Index, Step, Word
from runtape.context.splitting.parts import Names, Part, Shape, Split, bears
from runtape.context.splitting.views import JSON_STRING

_LITERAL = json.JSONEncoder(ensure_ascii=False).encode


def split_document(text: str) -> Split | None:
    """The members or items of a JSON document, or of several (JSON lines); None for anything else.

    The standard library finds where each value ends; a level costs two parses of its text.
    """
    start = skip(text, 0)
    if text[start : start + 1] not in ("{", "[", '"'):
        return None
    found = documents(text, start)
    if len(found) > 1 and all(isinstance(value, dict | list) for value, _ in found):
        return Split(tuple(_items(found)))
    if len(found) != 1:
        return None
    value, span = found[0]
    if isinstance(value, dict):
        return Split(tuple(_members(text, span[0])))
    if isinstance(value, list):
        return Split(tuple(_items(array(text, span[0]))))
    return Split((_part(Counted(Word.TEXT, 1), value, span[0], span),))


def _members(text: str, start: int) -> Iterator[Part]:
    names = Names()
    for name, value, begin, span in members(text, start):
        yield _part(names.key(name), value, begin, span)


def _items(values: Iterable[tuple[Any, Span]]) -> Iterator[Part]:
    for number, (value, span) in enumerate(values):
        yield _part(Index(number), value, span[0], span)


def _part(step: Step, value: Any, start: int, span: Span) -> Part:
    end = span[1]
    if not _holds(value):
        return Part(None, start, end, span)
    if isinstance(value, str):
        return Part(step, start, end, (span[0] + 1, end - 1), PieceKind.ITEM, JSON_STRING)
    shape = Shape.DOCUMENT if isinstance(value, dict | list) else Shape.LEAF
    return Part(step, start, end, span, PieceKind.ITEM, shape=shape, literal=_LITERAL)


def _holds(value: Any) -> bool:
    """Whether a value says anything: empty ones only keep their place."""
    if isinstance(value, str):
        return bears(value)
    return value not in (None, {}, [])
