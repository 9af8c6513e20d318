"""Server-sent events as text: a tolerant reader and a plain writer.

The format is the "event stream" of the WHATWG HTML standard. Beyond it, an event that the end of
the text cuts off before its blank line is still reported: it counts when its data is whole JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from runtape.jsonio import Json, dumps_text, loads

DONE = "[DONE]"
"""Data of the OpenAI end marker."""

# str.splitlines also breaks at U+2028 and friends, which may stand inside the JSON.
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name (None when it has none) and its data, lines joined by newlines."""

    name: str | None
    data: str

    @property
    def done(self) -> bool:
        """Whether it is the OpenAI end marker."""
        return self.data.strip() == DONE

    @property
    def document(self) -> Json | None:
        """The JSON object in the data; None when it is none, or cut."""
        try:
            value = loads(self.data)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None


def read_events(stream: str) -> Iterator[ServerEvent]:
    """All events with data of the text of a stream, in order; the last one may be cut."""
    name: str | None = None
    data: list[str] = []
    for line in _LINE_END.split(stream.removeprefix("\ufeff")):
        if not line:
            if data:
                yield ServerEvent(name, "\n".join(data))
            name, data = None, []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value or None
        elif field == "data":
            data.append(value)
    if data:
        yield ServerEvent(name, "\n".join(data))


def write_event(document: Any, name: str | None = None) -> str:
    """The text of one event, blank line included: a string as it is, anything else as JSON."""
    data = document if isinstance(document, str) else dumps_text(document)
    return f"event: {name}\ndata: {data}\n\n" if name else f"data: {data}\n\n"


class Growing:
    """Text that arrives in pieces, joined once: adding strings costs the square of the length."""

    __slots__ = ("_pieces",)

    def __init__(self, start: str) -> None:
        self._pieces = [start]

    def add(self, piece: str) -> None:
        """Put `piece` behind what is there."""
        self._pieces.append(piece)

    def __str__(self) -> str:
        return "".join(self._pieces)


def grow(holder: dict[str, Any], key: str, piece: str) -> None:
    """Add `piece` to the text of ``holder[key]``, which :func:`settle` turns back into a string."""
    old = holder.get(key)
    if isinstance(old, Growing):
        old.add(piece)
    elif isinstance(old, str) and old:
        holder[key] = Growing(old)
        holder[key].add(piece)
    else:
        holder[key] = Growing(piece)


def settle(document: Json) -> Json:
    """The folded document with its growing texts joined, in place (a loop: answers nest deeply)."""
    pending: list[Any] = [document]
    while pending:
        container = pending.pop()
        for key, value in (
            container.items() if isinstance(container, dict) else enumerate(container)
        ):
            if isinstance(value, Growing):
                container[key] = str(value)
            elif isinstance(value, (dict, list)):
                pending.append(value)
    return document


def split_text(text: str, size: int = 12) -> list[str]:
    """Pieces of at most `size` characters, as a model's deltas would bring them."""
    return [text[i : i + size] for i in range(0, len(text), size)]
