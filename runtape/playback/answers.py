"""A recorded response, ready to be given again: status, headers, the very chunks, how it ended."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from runtape.context.recorded import recorded_reply
from runtape.dialects import dialect_for
from runtape.dialects.base import Reply
from runtape.jsonio import Json, dumps
from runtape.recording.calls import End
from runtape.tape.events import Event, Request


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes back for one recorded request.

    Attributes:
        event: id of the response event.
        status: HTTP status; None when there was no response, only `error`.
        headers: the recorded ones that still hold.
        chunks: the body, in the pieces it came in.
        end: how it ended.
        error: the exception it ended by, as the tape describes it, or None.
        seconds: how long it took then.
    """

    event: int
    status: int | None
    headers: dict[str, str]
    chunks: tuple[bytes, ...]
    end: End
    error: Json | None
    seconds: float = field(compare=False)


def answer_of(response: Event, request: Request) -> Answer | str:
    """The answer that a response event holds, or why there is none."""
    payload = response.payload
    end = _end(payload.get("end"))
    error = payload.get("error")
    error = error if isinstance(error, dict) and "class" in error else None
    status = payload.get("status")
    if status is None and "end" in payload:
        if error is None:
            return "what came back could not be recorded"
        chunks: tuple[bytes, ...] = ()
    else:
        status, found = status or 200, _chunks(response, request)
        if found is None:
            return "the content of the response was not recorded"
        chunks = found
    headers = _headers(payload, request)
    seconds = (response.meta.get("latency_ms") or 0) / 1000
    return Answer(response.id, status, headers, chunks, end, error, seconds)


def _end(value: Any) -> End:
    try:
        return End(value)
    except ValueError:
        return End.EOF


def _headers(payload: Json, request: Request) -> dict[str, str]:
    """As recorded, but for the encoding that the tape has undone."""
    headers = {str(k): str(v) for k, v in (payload.get("headers") or {}).items()}
    if payload.get("body_base64") is None:
        headers.pop("content-encoding", None)
    default = "text/event-stream" if request.stream else "application/json"
    return {"content-type": default, **headers}


def _chunks(response: Event, request: Request) -> tuple[bytes, ...] | None:
    """The body in its pieces; None when it is not on the tape and cannot be made up."""
    payload = response.payload
    sizes = [size for size, _ in payload.get("chunks") or ()]
    if isinstance(payload.get("body_base64"), str):
        return _cut(b64decode(payload["body_base64"]), sizes)
    if isinstance(payload.get("body"), str):
        return _cut(payload["body"].encode("utf-8", "surrogatepass"), sizes)
    if isinstance(payload.get("raw"), dict) and not request.stream:
        return (dumps(payload["raw"]),)  # version 1
    reply = recorded_reply(response)
    return None if reply is None or "withheld" in payload else _rendered(reply, request)


def _cut(body: bytes, sizes: list[int]) -> tuple[bytes, ...]:
    """`body` in pieces of the recorded sizes; by events when it is not the body that was measured.

    (Compressed bodies are recorded as text, and secrets in them are replaced.)
    """
    if sum(sizes) == len(body):
        ends = list(accumulate(sizes))
        return tuple(body[end - size : end] for size, end in zip(sizes, ends, strict=True))
    events = body.split(b"\n\n")
    pieces = [event + b"\n\n" for event in events[:-1]] + [events[-1]]
    return tuple(piece for piece in pieces if piece)


def _rendered(reply: Reply, request: Request) -> tuple[bytes, ...]:
    """A response that says the same: only what it said is on the tape, not its bytes."""
    dialect = dialect_for(request.api)
    if request.stream:
        return tuple(event.encode() for event in dialect.render_stream(reply, request.body))
    return (dumps(dialect.render(reply, request.body)),)
