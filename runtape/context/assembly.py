"""Putting a request together: its own body, or a stateless one where the server held earlier turns.

The chain is folded when it is read: each earlier response named by the request is found on the same
tape, with the request it answered, and their turns are put in front.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from runtape.context.origins import Entrances
from runtape.dialects.base import Dialect, JsonPath
from runtape.dialects.paths import entries, without_keys
from runtape.errors import IncompleteContext
from runtape.jsonio import Json, loads
from runtape.tape.events import LLM_RESPONSE, Event, Request
from runtape.tape.reader import Tape

_MOST_TURNS = 10_000


@dataclass(frozen=True, slots=True)
class Assembled:
    """A body with, for each place in it, the event it first stood in."""

    body: Json
    entered: Callable[[JsonPath], int]


def assemble(tape: Tape, request: Request, dialect: Dialect) -> Assembled:
    """The body a model call can be repeated with.

    Raises IncompleteContext when the recorded body is no JSON object, or when the server held
    something that the tape does not have.
    """
    body = _body(request)
    entrances = Entrances(request)
    held = dialect.server_held(body)
    if held is None:
        return Assembled(body, entrances.event)
    return _Chain(tape, request).folded(body, held)


def _body(request: Request) -> Json:
    try:
        body = request.body
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise IncompleteContext(
            f"the body of request {request.event} is no JSON object",
            hint="it was recorded damaged, or is no model call",
            event=request.event,
        )
    return body


@dataclass(frozen=True, slots=True)
class _Turns:
    """Messages (or input items) with the event each first came with."""

    items: tuple[Any, ...] = ()
    events: tuple[int, ...] = ()

    def plus(self, items: list[Any], event: int) -> _Turns:
        """These, and further ones that came with `event`."""
        return _Turns((*self.items, *items), (*self.events, *[event] * len(items)))


class _Chain:
    """Earlier turns that one request leans on."""

    def __init__(self, tape: Tape, request: Request) -> None:
        self._tape = tape
        self._request = request

    def folded(self, body: Json, held: str) -> Assembled:
        """The stateless request for `body`, which leans on what stands in its field `held`."""
        key = "messages" if held == "thread" else "input"
        turns = self._before(body, held).plus(_items(body, key), self._request.event)
        if key == "input":
            turns = self._referenced(turns)
        events = turns.events

        def entered(path: JsonPath) -> int:
            inside = len(path) > 1 and path[0] == key and isinstance(path[1], int)
            return events[int(path[1])] if inside else self._request.event

        return Assembled({**without_keys(body, held), key: list(turns.items)}, entered)

    def _before(self, body: Json, held: str) -> _Turns:
        """The turns in front of a request, the oldest first."""
        if held == "item_reference":
            return _Turns()
        if held not in ("previous_response_id", "thread"):
            raise self._incomplete(f"{held} {_name(body[held])}", self._request.event)
        links: list[tuple[Json, Event]] = []
        event = self._request.event
        while response_id := _link(body, held):
            answer = self._responses.get(response_id)
            if answer is None or len(links) > _MOST_TURNS:
                raise self._incomplete(f"response {response_id}", event)
            event = answer.parent or 0
            body = _body(self._tape.request(event))
            links.append((body, answer))
        turns = _Turns()
        key = "messages" if held == "thread" else "input"
        for earlier, answer in reversed(links):
            turns = turns.plus(_items(earlier, key), answer.parent or 0)
            turns = turns.plus(_answer_items(_document(answer) or {}, held), answer.id)
        return turns

    def _referenced(self, turns: _Turns) -> _Turns:
        """References to items that the server keeps, replaced by the items."""
        items = []
        for item in turns.items:
            if isinstance(item, dict) and item.get("type") == "item_reference":
                known = self._outputs.get(str(item.get("id")))
                if known is None:
                    raise self._incomplete(f"item {item.get('id')}", self._request.event)
                items.append(known)
            else:
                items.append(item)
        return _Turns(tuple(items), turns.events)

    @cached_property
    def _responses(self) -> dict[str, Event]:
        """Responses before the request, by the id the provider gave them."""
        heads = self._tape.of_type(LLM_RESPONSE)
        events = (self._tape.event(head) for head in heads if head.id < self._request.event)
        found = ((event, _document(event)) for event in events)
        return {str(doc["id"]): event for event, doc in found if doc and doc.get("id")}

    @cached_property
    def _outputs(self) -> dict[str, Json]:
        """Output items of those responses, by id."""
        documents = filter(None, map(_document, self._responses.values()))
        items = (item for document in documents for _, item in entries(document.get("output")))
        return {str(item["id"]): item for item in items if item.get("id")}

    def _incomplete(self, what: str, event: int) -> IncompleteContext:
        return IncompleteContext(
            f"request {event} leans on {what}, which the server holds and this tape does not have",
            hint="record the run from its first call, or send the history with each request",
            event=event,
        )


def _link(body: Json, held: str) -> str | None:
    """Id of the response that a request goes on from."""
    value = body.get(held)
    if held == "thread":
        value = value.get("previous_message_id") if isinstance(value, dict) else None
    return value if isinstance(value, str) and value else None


def _items(body: Json, key: str) -> list[Any]:
    value = body.get(key)
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return value if isinstance(value, list) else []


def _answer_items(document: Json, held: str) -> list[Any]:
    """What a response adds to the history."""
    if held == "thread":
        return [{"role": "assistant", "content": document.get("content") or []}]
    return [item for _, item in entries(document.get("output")) if _can_be_sent(item)]


def _can_be_sent(item: Json) -> bool:
    """Reasoning that only the server's store has cannot be sent back without it."""
    return item.get("type") != "reasoning" or bool(item.get("encrypted_content"))


def _document(event: Event) -> Json | None:
    """The response document: as received, as folded from its stream, or as version 1 kept it."""
    payload = event.payload
    derived = payload.get("derived")
    document = derived.get("response") if isinstance(derived, dict) else None
    if document is None:
        document = payload.get("raw")
    if document is None and isinstance(payload.get("body"), str):
        document = _parsed(payload["body"])
    return document if isinstance(document, dict) else None


def _parsed(text: str) -> Any:
    try:
        return loads(text)
    except ValueError:
        return None


def _name(value: Any) -> str:
    return str(value.get("id", value)) if isinstance(value, dict) else str(value)
