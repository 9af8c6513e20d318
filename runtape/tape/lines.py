"""One line of a tape and back: the only place that knows the envelope."""

from __future__ import annotations

from dataclasses import dataclass

from runtape.jsonio import Json, dumps, loads
from runtape.tape.events import Event

_ENVELOPE = frozenset(("id", "ts", "type", "parent", "payload", "meta"))


@dataclass(frozen=True, slots=True)
class Envelope:
    """What stands around a payload.

    Attributes:
        id: event id.
        ts: Unix time, seconds.
        type: event type.
        parent: id of the event this one belongs to, or None.
    """

    id: int
    ts: float
    type: str
    parent: int | None


def render_line(envelope: Envelope, payload: bytes, meta: bytes) -> bytes:
    """The line, newline included; `payload` and `meta` are JSON objects already."""
    return b'{"id":%d,"ts":%b,"type":%b,"parent":%b,"payload":%b,"meta":%b}\n' % (
        envelope.id,
        dumps(envelope.ts),
        dumps(envelope.type),
        dumps(envelope.parent),
        payload,
        meta,
    )


def parse_envelope(line: bytes) -> Json:
    """The parsed line with every envelope field present and of its type.

    Raises ValueError, with the reason in a few words, for anything that is not an event.
    """
    try:
        fields = loads(line)
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except (ValueError, RecursionError):
        raise ValueError("NUL bytes" if b"\0" in line else "not JSON") from None
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - one error for "no event"
    if type(fields.get("id")) is not int or not isinstance(fields.get("type"), str):
        raise ValueError("no event: id or type is missing")
    if not isinstance(fields.setdefault("payload", {}), dict):
        raise ValueError("no event: payload is not an object")  # noqa: TRY004
    _fill(fields)
    return fields


def parse_line(line: bytes) -> Event:
    """The event on this line; raises ValueError when there is none."""
    fields = parse_envelope(line)
    extra = {key: value for key, value in fields.items() if key not in _ENVELOPE}
    return Event(
        fields["id"],
        fields["ts"],
        fields["type"],
        fields["parent"],
        fields["payload"],
        fields["meta"],
        extra,
    )


def _fill(fields: Json) -> None:
    """Put a neutral value where an optional envelope field is missing or of another type."""
    if not isinstance(fields.get("ts"), float):
        ts = fields.get("ts")
        fields["ts"] = float(ts) if type(ts) is int else 0.0
    if type(fields.get("parent")) is not int:
        fields["parent"] = None
    if not isinstance(fields.get("meta"), dict):
        fields["meta"] = {}
