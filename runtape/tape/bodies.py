"""Request bodies put together again from the splices on a tape."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from runtape.errors import EventNotFound, IncompleteContext, TraceCorrupt
from runtape.jsonio import Json
from runtape.tape.events import LLM_REQUEST, Event, Span
from runtape.tape.recent import Recent
from runtape.tape.rope import Rope, lay_out

_KEPT = 8
"""Ropes kept: walking through the requests of interleaved conversations continues from these."""


@dataclass(frozen=True, slots=True)
class Splice:
    """`head` bytes of the body of request `base`, then `insert`, then `tail` bytes of its end."""

    base: int
    head: int
    tail: int
    insert: bytes


class Bodies:
    """Resolves bodies; `event_at` looks events up by id."""

    def __init__(self, event_at: Callable[[int], Event]) -> None:
        self._event_at = event_at
        self._ropes: Recent[Rope] = Recent(_KEPT)

    def whole(self, event: Event) -> bytes:
        """The body of a request event, not compared with its digest."""
        return b"".join(data for data, _ in self._rope(event))

    def resolve(self, event: Event) -> tuple[str, tuple[Span, ...]]:
        """The body of a request event as text, and which request each part came with.

        Bytes that are not UTF-8 become lone surrogates (``surrogateescape``), so encoding them
        the same way gives the sent bytes. Raises TraceCorrupt when an earlier request it builds
        on is broken or the result is not what was sent, IncompleteContext when the content was
        not recorded.
        """
        rope = self._rope(event)
        body = b"".join(data for data, _ in rope)
        compare(event, len(body), hashlib.sha256(body).hexdigest())
        return lay_out((data.decode("utf-8", "surrogateescape"), source) for data, source in rope)

    def _rope(self, event: Event) -> Rope:
        """Walk back to a body that is whole or known, then splice forward again."""
        chain: list[tuple[int, Splice]] = []
        known = self._ropes.get(event.id)
        step = event
        while known is None:
            stored = stored_body(step)
            if isinstance(stored, bytes):
                known = Rope(stored, step.id)
                break
            chain.append((step.id, stored))
            known = self._ropes.get(stored.base)
            if known is None:
                step = earlier_request(self._event_at, event, step, stored.base)
        rope = known.copy()
        try:
            for source, splice in reversed(chain):
                rope.splice(splice.head, splice.tail, splice.insert, source)
        except ValueError as reason:
            raise corruption(event, str(reason)) from None
        self._ropes.put(event.id, rope)
        return rope


def earlier_request(
    event_at: Callable[[int], Event], event: Event, step: Event, base: object
) -> Event:
    """The request `base`, which `step` builds on, for putting `event` together.

    Raises TraceCorrupt when it is missing, no request, or not earlier: ids descend from step to
    step, so that a circle is impossible.
    """
    if type(base) is not int or base >= step.id:
        raise corruption(event, f"request {step.id} builds on {base}, which is not earlier")
    try:
        found = event_at(base)
    except EventNotFound:
        raise corruption(event, f"request {base}, which it builds on, is missing") from None
    if found.type != LLM_REQUEST:
        raise corruption(event, f"event {base}, which it builds on, is no request")
    return found


def compare(event: Event, size: int, sha256: str) -> None:
    """Raise TraceCorrupt when a body of `size` bytes with this digest is not the one recorded."""
    recorded_size, recorded_sha256 = event.payload.get("bytes"), event.payload.get("sha256")
    if isinstance(recorded_size, int) and recorded_size != size:
        raise corruption(event, f"its body has {size} bytes instead of {recorded_size}")
    if isinstance(recorded_sha256, str) and recorded_sha256 != sha256:
        raise corruption(event, "its body does not match its SHA-256")


def stored_body(event: Event) -> bytes | Splice:
    """What the event itself holds of its body; raises TraceCorrupt or IncompleteContext."""
    payload = event.payload
    if isinstance(payload.get("body"), str):
        return _encoded(payload["body"])
    if isinstance(payload.get("body_base64"), str):
        try:
            return base64.b64decode(payload["body_base64"], validate=True)
        except ValueError:
            raise corruption(event, "its body is no base64") from None
    if "splice" in payload or "base" in payload:
        return _splice_of(event, payload)
    raise IncompleteContext(
        f"request {event.id} was recorded without its content",
        hint='record with content="on" to see and rerun what the model saw',
        event=event.id,
    )


def _splice_of(event: Event, payload: Json) -> Splice:
    base, splice = payload.get("base"), payload.get("splice")
    if type(base) is int and isinstance(splice, dict):
        head, tail, insert = splice.get("head"), splice.get("tail"), splice.get("insert")
        if type(head) is int and type(tail) is int and isinstance(insert, str):
            return Splice(base, head, tail, _encoded(insert))
    raise corruption(event, "its splice is malformed")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def corruption(event: Event, why: str) -> TraceCorrupt:
    """The error for a request that cannot be trusted."""
    return TraceCorrupt(
        f"request {event.id} cannot be put together: {why}",
        hint="`runtape check` lists everything that is damaged; requests before it still open",
        event=event.id,
    )
