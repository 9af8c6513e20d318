"""Model calls as the tape tells them: one request event and one response event for each attempt."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum

from runtape.dialects.base import Dialect, Reply
from runtape.jsonio import Json
from runtape.recording import scope, units
from runtape.recording.attempts import Attempt, Attempts, tried_again
from runtape.recording.journal import Journal
from runtape.recording.pending import Pending
from runtape.recording.replies import Derived, read_document, read_stream
from runtape.recording.requests import Requests
from runtape.recording.units import Kind, Unit
from runtape.recording.values import describe_error
from runtape.tape.events import LLM_REQUEST, LLM_RESPONSE

_REFUSED = 400
"""HTTP status from which a response is no answer."""


class End(Enum):
    """How a response ended for whoever consumed it."""

    EOF = "eof"
    CLOSED = "closed"
    """The consumer closed it before its end, as many do once they have seen the end marker."""
    ERROR = "error"
    ABANDONED = "abandoned"
    """It was neither read to its end nor closed before it, or the recorder, was gone."""
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Sent:
    """A model request on its way.

    Attributes:
        api: wire shape, such as ``openai.chat``.
        provider: whose model it is.
        dialect: the shape's dialect; None when the shape is not known here.
        origin: scheme, host and port, or None when unknown.
        path: URL path, or None when unknown.
        query: query parameters that may be recorded.
        headers: headers that may be recorded, lower-case names.
        body: the bytes sent, or None when they cannot be seen without consuming them.
        retries: how often the SDK has tried before, as it says itself; None when it does not say.
        sdk: name and version of the client library, or None when unknown.
        fidelity: part of the request → how it is known, where that is not from the wire.
        unit: the framework's unit it belongs to; None to look for it.
        began: when it began, by ``time.perf_counter()``; None for now.
    """

    api: str
    provider: str
    dialect: Dialect | None
    origin: str | None = None
    path: str | None = None
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    retries: int | None = None
    sdk: Json | None = None
    fidelity: dict[str, str] = field(default_factory=dict)
    unit: Unit | None = None
    began: float | None = None


class Calls:
    """The model calls of one run.

    Attributes:
        pending: tool calls the model has asked for.
    """

    def __init__(self, journal: Journal, root: int | None) -> None:
        self.pending = Pending()
        self._journal = journal
        self._root = root
        self._requests = Requests(journal)
        self._attempts = Attempts()
        self._open: dict[int, Call] = {}

    def begin(self, sent: Sent) -> Call | None:
        """Write the request event; None when that failed: the call then goes unrecorded."""
        with self._journal.guard("a model request"):
            prepared = None if sent.body is None else self._requests.prepare(sent.body)
            digest = None if prepared is None else prepared.delta.digest.sha256
            strand = scope.strand()
            key = (strand, sent.path, digest)
            attempt = self._attempts.start(key, sent.retries)
            unit = sent.unit or units.asking(self._journal, sent.body)
            payload = _request_payload(sent, attempt, units.place(self._journal, unit))
            parent = scope.enclosing(self._journal, sent.unit)
            parent = self._root if parent is None else parent
            if prepared is None:
                payload["fidelity"] = {"body": "missing"}
                event = self._journal.write(LLM_REQUEST, payload, parent=parent)
            else:
                event = self._requests.write(payload, prepared, parent)
            if event is not None:
                began = time.perf_counter() if sent.began is None else sent.began
                call = Call(self, event, sent.dialect, Trace(strand, key, attempt, began))
                self._open[event] = call
                if unit is not None and unit.kind is Kind.MODEL:
                    unit.sent.append(call)
                return call
        return None

    def open_call(self, event: int) -> Call | None:
        """The call that this request event began, unless it has ended."""
        return self._open.get(event)

    def finish(self, call: Call, end: End, error: BaseException | None) -> None:
        """Write the response event, once; whoever comes second finds the call closed."""
        if self._open.pop(call.event, None) is None:
            return
        with self._journal.guard("a model response"):
            derived = Derived()
            payload: Json = {"status": call.status, "headers": call.headers}
            try:
                text, body = call.text()
                payload.update(body)
                derived = call.derive(text)
            finally:  # even when the text cannot be read: how it ended is known
                payload.update(call.timing(), end=end.value, terminal=derived.terminal)
                call.error = derived.error if error is None else describe_error(error)
                payload["error"] = call.error
                payload["derived"] = derived.to_json()
                self._journal.write(
                    LLM_RESPONSE, payload, parent=call.event, meta=_meta(call, derived.replies)
                )
            self._settle(call, end, derived.replies)
            call.forget()

    def close(self) -> None:
        """End the calls whose response nobody has finished reading."""
        for call in list(self._open.values()):
            call.end(End.ABANDONED)

    def _settle(self, call: Call, end: End, replies: list[Reply]) -> None:
        if end is End.ERROR or tried_again(call.status):
            self._attempts.failed(call.trace.key, call.trace.attempt)
        elif replies:
            self.pending.replied(call.trace.strand, replies)


@dataclass(frozen=True, slots=True)
class Trace:
    """What ties an attempt to others: its strand, what a retry would look like, number and time."""

    strand: Hashable
    key: Hashable
    attempt: Attempt
    began: float


class Call:
    """One attempt, from the request event to the response event.

    Attributes:
        event: id of the request event.
        trace: what ties it to other attempts.
        status: HTTP status; None until there is a response.
        headers: response headers that may be recorded.
        error: what went wrong, once the call has ended.
    """

    def __init__(self, calls: Calls, event: int, dialect: Dialect | None, trace: Trace) -> None:
        self.event = event
        self.trace = trace
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self._calls = calls
        self._dialect = dialect
        self._unpack: Callable[[bytes], bytes] = bytes
        self._chunks: list[bytes] = []
        self._times: list[float] = []
        self.error: Json | None = None

    def answered(
        self, status: int, headers: dict[str, str], unpack: Callable[[bytes], bytes] = bytes
    ) -> None:
        """A response has begun; `unpack` undoes its content encoding and may raise."""
        self.status = status
        self.headers = headers
        self._unpack = unpack

    def take(self, chunk: bytes) -> None:
        """A piece of the body has arrived and is about to be handed on."""
        self._chunks.append(chunk)
        self._times.append(time.perf_counter())

    def end(self, end: End, error: BaseException | None = None) -> None:
        """The response has ended; only the first end counts. Never raises."""
        self._calls.finish(self, end, error)

    def broke(self, error: BaseException) -> None:
        """It ended by an exception: an error of the transport, or whoever waits was stopped."""
        self.end(End.ERROR if isinstance(error, Exception) else End.CANCELLED, error)

    def text(self) -> tuple[str, Json]:
        """The body as text, and the payload fields that hold it."""
        raw = b"".join(self._chunks)
        try:
            text = self._unpack(raw).decode("utf-8")
        except Exception:  # noqa: BLE001 - foreign decoders, cut or broken data: keep what came
            return "", {"body": None, "body_base64": b64encode(raw).decode("ascii")}
        return text, {"body": text}

    def derive(self, text: str) -> Derived:
        """What the text says."""
        if self._dialect is None or self.status is None or self.status >= _REFUSED:
            return Derived()
        if "event-stream" in self.headers.get("content-type", ""):
            return read_stream(self._dialect, text)
        return read_document(self._dialect, text)

    def timing(self) -> Json:
        """Sizes and arrival times of the chunks, milliseconds after the request."""
        started = self.trace.began
        arrived = [round((at - started) * 1000, 3) for at in self._times]
        sizes = map(len, self._chunks)
        return {
            "chunks": [[size, at] for size, at in zip(sizes, arrived, strict=False)],
            "first_byte_ms": arrived[0] if arrived else None,
        }

    @property
    def failed(self) -> bool:
        """Whether it was refused or broken off."""
        return self.error is not None or (self.status is not None and self.status >= _REFUSED)

    def forget(self) -> None:
        """Let go of the body: whoever still holds the response need not hold it twice."""
        self._chunks, self._times = [], []

    @property
    def latency_ms(self) -> float:
        """Milliseconds since the request."""
        return round((time.perf_counter() - self.trace.began) * 1000, 3)


def _request_payload(sent: Sent, attempt: Attempt, place: Json) -> Json:
    return {
        "api": sent.api,
        "provider": sent.provider,
        "origin": sent.origin,
        "path": sent.path,
        "query": sent.query,
        "headers": sent.headers,
        "attempt": attempt.number,
        "call": attempt.call,
        "scope": place,
        "sdk": sent.sdk,
        "fidelity": sent.fidelity,
    }


def _meta(call: Call, replies: list[Reply]) -> Json:
    """Latency, and the tokens that were reported (unreported ones are absent, never 0)."""
    meta: Json = {"latency_ms": call.latency_ms, "tokens": {}}
    if replies:
        usage = replies[0].usage
        tokens = {
            "input": usage.input_tokens,
            "output": usage.output_tokens,
            "cached": usage.cached_tokens,
        }
        meta["tokens"] = {name: count for name, count in tokens.items() if count is not None}
    return meta
