"""Putting one text in place of another wherever it stands, however its surroundings spell it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from runtape.context.edits import Substitution
from runtape.context.json_spans import documents, skip
from runtape.dialects.base import Dialect, SlotKind
from runtape.dialects.paths import replaced_at, value_at
from runtape.errors import InvalidEdit
from runtape.jsonio import Json

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_LAYERS = 3
_SHOWN = 60


def substituted(body: Json, dialect: Dialect, edit: Substitution) -> Json:
    """The body with a text put in place of another in all its slots.

    In JSON that stands in a string, also in JSON inside of that, strings are read and written as
    JSON spells them. Raises InvalidEdit when the text stands nowhere.
    """
    found = False
    for slot in dialect.slots(body):
        if slot.kind is SlotKind.MEDIA:
            continue
        value = value_at(body, slot.path)
        changed = _exchanged(value, edit)
        if changed != value:
            found = True
            body = replaced_at(body, slot.path, changed)
    if not found:
        raise InvalidEdit(
            f"“{_short(edit.old)}” stands nowhere in the context",
            hint="copy it from `runtape context`, with its capitals and spaces",
        )
    return body


def _exchanged(value: Any, edit: Substitution) -> Any:
    if isinstance(value, str):
        return _in_text(value, edit) if any(s in value for s in _spellings(edit.old)) else value
    if isinstance(value, dict):
        return {key: _exchanged(inner, edit) for key, inner in value.items()}
    if isinstance(value, list):
        return [_exchanged(inner, edit) for inner in value]
    return value


def _in_text(text: str, edit: Substitution) -> str:
    """The text changed inside the strings of its JSON; as it stands where that changes nothing."""
    if text.lstrip()[:1] in ("{", "[", '"') and documents(text, skip(text, 0)):
        changed = _STRING.sub(lambda literal: _in_literal(literal.group(), edit), text)
        if changed != text:
            return changed
    return text.replace(edit.old, edit.new)


def _in_literal(literal: str, edit: Substitution) -> str:
    spelled = json.loads(literal, strict=False)
    changed = _exchanged(spelled, edit)
    return literal if changed == spelled else json.dumps(changed, ensure_ascii=False)


def _spellings(text: str) -> Iterator[str]:
    """How a text can be spelled in JSON, some layers deep; nothing for an empty one."""
    spellings = {text} if text else set()
    for _ in range(_LAYERS):
        yield from spellings
        spellings = {
            json.dumps(spelling, ensure_ascii=ascii_only)[1:-1]
            for spelling in spellings
            for ascii_only in (False, True)
        }


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
