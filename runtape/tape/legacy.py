"""Requests of format version 1, which holds parsed parts instead of the sent bytes.

``system`` and ``tools`` are stated when they change and stay in force per provider; the messages
are either all there or appended to those of an earlier request (``base`` + ``messages_append``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from runtape.jsonio import Json, dumps_text
from runtape.tape.bodies import earlier_request
from runtape.tape.events import Event, Head
from runtape.tape.recent import Recent

Text: TypeAlias = tuple[str, int]
"""Text of a body and the id of the request it first came with."""

_KEPT = 8
_STICKY = ("system", "tools")
_CONTENT = ("messages", "messages_append")


@dataclass(frozen=True, slots=True)
class Shape:
    """Where a wire shape wants the parts that version 1 keeps apart."""

    api: str
    path: str
    messages: str = "messages"
    system: str = "system"


_CHAT = Shape("openai.chat", "/chat/completions")
_SHAPES = {
    "chat.completions": _CHAT,
    "responses": Shape("openai.responses", "/responses", "input", "instructions"),
    "messages": Shape("anthropic.messages", "/v1/messages"),
}


def is_legacy(payload: Json) -> bool:
    """Whether a request payload is of version 1."""
    return any(key in payload for key in _CONTENT) or (
        "base" in payload and "splice" not in payload
    )


class LegacyBodies:
    """Composes bodies; `event_at` looks events up by id, `requests` lists the request heads."""

    def __init__(
        self, event_at: Callable[[int], Event], requests: Callable[[], Sequence[Head]]
    ) -> None:
        self._event_at = event_at
        self._requests = requests
        self._messages: Recent[tuple[Text, ...]] = Recent(_KEPT)
        self._stated: dict[int, dict[str, int]] = {}
        self._in_force: dict[str, dict[str, int]] = {}
        self._walked = 0
        self._walking = threading.Lock()

    def compose(self, event: Event) -> Iterator[Text]:
        """The body in pieces, as the API of its provider takes it: one piece per message.

        Raises TraceCorrupt when an earlier request it builds on is missing.
        """
        payload, shape = event.payload, shape_of(event.payload)
        parts: list[tuple[str, list[Text]]] = []
        if payload.get("model") is not None:
            parts.append(("model", [_text(payload["model"], event.id)]))
        if system := self._sticky(event, "system"):
            parts.append((shape.system, [system]))
        messages = self._messages_of(event)
        parts.append((shape.messages, [("[", event.id), *_separated(messages), ("]", event.id)]))
        if tools := self._sticky(event, "tools"):
            parts.append(("tools", [tools]))
        taken = {key for key, _ in parts}
        params = _params(payload).items()
        parts += [(key, [_text(value, event.id)]) for key, value in params if key not in taken]
        return _object(parts, event.id)

    def _messages_of(self, event: Event) -> tuple[Text, ...]:
        """Messages of a request, oldest first, each with the request it first came with."""
        appended: list[list[Text]] = []
        step, known = event, self._messages.get(event.id)
        while known is None:
            payload = step.payload
            if isinstance(payload.get("messages"), list):
                known = tuple(_text(message, step.id) for message in payload["messages"])
                break
            appended.append([_text(m, step.id) for m in payload.get("messages_append") or ()])
            base = payload.get("base")
            known = self._messages.get(base) if type(base) is int else None
            if known is None:
                step = earlier_request(self._event_at, event, step, base)
        result = (*known, *(message for part in reversed(appended) for message in part))
        self._messages.put(event.id, result)
        return result

    def _sticky(self, event: Event, key: str) -> Text | None:
        """The system prompt or tools in force at this request, or None."""
        with self._walking:
            self._walk()
        source = self._stated.get(event.id, {}).get(key)
        if source is None:
            return None
        value = self._event_at(source).payload.get(key)
        return None if value is None or value == [] else _text(value, source)

    def _walk(self) -> None:
        """Note for each request that came since where its sticky parts were stated."""
        requests = self._requests()
        for head in requests[self._walked :]:
            payload = self._event_at(head.id).payload
            stated = {key: head.id for key in _STICKY if key in payload}
            provider = str(payload.get("provider"))
            self._in_force[provider] = {**self._in_force.get(provider, {}), **stated}
            self._stated[head.id] = self._in_force[provider]
        self._walked = len(requests)


def shape_of(payload: Json) -> Shape:
    """The wire shape a version 1 request was made for."""
    known = _SHAPES.get(str(payload.get("api")))
    if known is None and payload.get("provider") == "anthropic":
        known = _SHAPES["messages"]
    return known or _CHAT


def address_of(payload: Json) -> tuple[str | None, str | None]:
    """Origin and URL path a version 1 request went to; None where its base URL is unknown."""
    url = urlsplit(str(payload.get("endpoint") or ""))
    if not url.scheme or not url.netloc:
        return None, None
    return f"{url.scheme}://{url.netloc}", url.path.rstrip("/") + shape_of(payload).path


def _params(payload: Json) -> Json:
    params = payload.get("params")
    return params if isinstance(params, dict) else {}


def _text(value: Any, event: int) -> Text:
    return dumps_text(value), event


def _separated(messages: Iterable[Text]) -> Iterator[Text]:
    """Messages with commas between them; a comma belongs to the message it introduces."""
    for position, (text, source) in enumerate(messages):
        yield (f",{text}" if position else text), source


def _object(parts: list[tuple[str, list[Text]]], event: int) -> Iterator[Text]:
    """A JSON object in pieces."""
    yield "{", event
    for position, (key, texts) in enumerate(parts):
        yield ("," if position else "") + dumps_text(key) + ":", event
        yield from texts
    yield "}", event
