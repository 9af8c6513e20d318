"""A model server on 127.0.0.1 for tests: OpenAI Chat and Responses, Anthropic Messages; SSE too.

::

    with Loopback(lambda api, body, n: Reply(text="hello")) as server:
        client = OpenAI(api_key="test", base_url=f"{server.url}/v1", max_retries=0)
        ...
    server.requests[0].raw          # the bytes that really arrived

The handler gets the wire shape (``openai.chat`` …; the URL path for anything else), the parsed body
and the number of the request (from 0), and says what to answer: a :class:`Reply`, several (choices
of one response), a plain document, or a :class:`Fault`. It runs in the thread of its connection:
calls run at once. What it raises is answered with status 500 and raised again at close.
"""

from __future__ import annotations

import contextlib
import gzip
import select
import socket
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias, final

from runtape.dialects import dialect_of_path
from runtape.dialects.base import Dialect, Reply
from runtape.jsonio import Json, dumps, loads

PATIENCE = 20.0
"""Seconds after which anything that waits gives up: no test can hang on this server."""


@dataclass(frozen=True)
class Fault:
    """An answer that goes wrong.

    Attributes:
        status: HTTP status; 200 for faults in the middle of a good answer.
        headers: further headers, such as ``{"retry-after-ms": "1"}``.
        body: the error document (or bytes); None makes one in the provider's style.
        hang: accept the request and answer nothing until the client leaves or the server closes.
        reply: what to begin answering before `cut` or `error_event` strikes.
        cut: break the connection after this many bytes of the reply's body.
        error_event: with a streamed `reply`: an SSE error event in place of the last events.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json | bytes | None = None
    hang: bool = False
    reply: Reply | None = None
    cut: int | None = None
    error_event: Json | None = None


Answer: TypeAlias = "Reply | Sequence[Reply] | Json | Fault"
Handler: TypeAlias = Callable[[str, Json, int], Answer]


@dataclass(frozen=True)
class Wire:
    """How answers travel.

    Attributes:
        latency: seconds before an answer.
        gzip: compress bodies (streams: flushed at each chunk).
        chunk: bytes per chunk of a streamed body; None sends one chunk per SSE event.
        crlf: end SSE lines with CRLF.
        gate: called before each streamed chunk with its number (from 0); may wait, must return.
    """

    latency: float = 0.0
    gzip: bool = False
    chunk: int | None = None
    crlf: bool = False
    gate: Callable[[int], object] | None = None


@dataclass
class Received:
    """A request as it arrived.

    Attributes:
        method: HTTP method.
        path: URL path and query as sent.
        headers: lower-case names.
        raw: body bytes.
        api: wire shape, or the path when it is none.
        left: set once the client has gone before the answer was complete.
    """

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    api: str
    left: threading.Event = field(default_factory=threading.Event)

    @property
    def body(self) -> Any:
        """The parsed body."""
        return loads(self.raw)


@final
class Loopback:
    """The server; a context manager. `requests` grows in order of arrival."""

    def __init__(self, handler: Handler, wire: Wire | None = None) -> None:
        self.handler = handler
        self.wire = wire or Wire()
        self.requests: list[Received] = []
        self.failures: list[BaseException] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """Origin, such as ``http://127.0.0.1:40123`` (no path)."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def arrived(self, request: Received) -> int:
        """Note a request; returns its number."""
        with self._lock:
            self.requests.append(request)
            return len(self.requests) - 1

    def close(self) -> None:
        """Stop, break open connections, wait for their threads."""
        self.closing.set()
        self._server.shutdown()
        self._thread.join(PATIENCE)
        self._server.break_connections()
        self._server.server_close()

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()
        if error is None and self.failures:
            raise self.failures[0]


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # server_close joins them: nothing outlives a test
    request_queue_size = 128

    def __init__(self, loopback: Loopback) -> None:
        self.loopback = loopback
        self.open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Connection)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, *_: Any) -> None:
        """A fault of this server is a fault of the test."""
        error = sys.exc_info()[1]
        if error is not None:
            self.loopback.failures.append(error)

    def break_connections(self) -> None:
        for connection in list(self.open):
            _break(connection)


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = PATIENCE
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def handle(self) -> None:
        """Serve requests until either side closes; a client that goes away is no error."""
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def do_GET(self) -> None:
        """Answer anything read-only with an empty list."""
        self._receive()
        self._send_whole(200, dumps({"object": "list", "data": []}), {})

    def do_POST(self) -> None:
        """Ask the handler and send what it says."""
        loopback = self.server.loopback
        request, dialect = self._receive()
        number = loopback.arrived(request)
        try:
            body = loads(request.raw) if request.raw else {}
            answer = loopback.handler(request.api, body, number)
        except BaseException as error:  # noqa: BLE001 - shown to the test when the server closes
            loopback.failures.append(error)
            self._send_whole(500, dumps({"error": {"message": f"handler: {error!r}"}}), {})
            return
        if loopback.wire.latency:
            loopback.closing.wait(loopback.wire.latency)
        try:
            self._answer(request, dialect, body, answer)
        except (ConnectionError, TimeoutError):
            request.left.set()
            self.close_connection = True

    def _receive(self) -> tuple[Received, Dialect | None]:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        dialect = dialect_of_path(self.path.partition("?")[0])
        headers = {name.lower(): value for name, value in self.headers.items()}
        api = dialect.name if dialect else self.path
        return Received(self.command, self.path, headers, raw, api), dialect

    def _answer(
        self, request: Received, dialect: Dialect | None, body: Json, answer: Answer
    ) -> None:
        fault = answer if isinstance(answer, Fault) else Fault()
        if fault.hang:
            self._wait_for_end(request)
        elif isinstance(answer, Fault) and answer.reply is None:
            headers = dict(answer.headers)
            self._send_whole(answer.status, _error_body(answer, dialect), headers)
        elif isinstance(answer, dict):
            self._send_whole(200, dumps(answer), {})
        else:
            assert dialect is not None, f"{request.path} takes a document, not a reply"
            replies = _replies(answer)
            if body.get("stream"):
                events = _events(dialect, replies, body)
                if fault.error_event is not None:
                    events = [*events[: len(events) // 2], _error_event(dialect, fault.error_event)]
                self._send_stream(events, fault)
            else:
                content = dumps(_document(dialect, replies, body))
                self._send_whole(200, content, dict(fault.headers), cut=fault.cut)

    def _wait_for_end(self, request: Received) -> None:
        self.close_connection = True
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not self.server.loopback.closing.wait(0.01):
            if self._client_left():
                request.left.set()
                return

    def _client_left(self) -> bool:
        """Whether the client closed its side (it never sends ahead here)."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""

    def _send_whole(
        self, status: int, content: bytes, headers: dict[str, str], cut: int | None = None
    ) -> None:
        if self.server.loopback.wire.gzip:
            content = gzip.compress(content)
            headers = {**headers, "content-encoding": "gzip"}
        head = {"content-type": "application/json", "content-length": str(len(content)), **headers}
        # One write for head and body: two would wait for a delayed acknowledgement.
        self.wfile.write(self._head(status, head) + content[:cut])
        if cut is not None:
            self._break_off()

    def _send_stream(self, events: list[str], fault: Fault) -> None:
        wire = self.server.loopback.wire
        head = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
        if wire.gzip:
            head["content-encoding"] = "gzip"
        self.wfile.write(self._head(200, {**head, **fault.headers}))
        for number, piece in enumerate(_pieces(events, wire, fault.cut)):
            if wire.gate is not None:
                wire.gate(number)
            if self._client_left():
                raise ConnectionAbortedError
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if fault.cut is not None:
            self._break_off()
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _head(self, status: int, headers: Mapping[str, str]) -> bytes:
        lines = [
            f"HTTP/1.1 {status} Answer",
            f"x-request-id: req_{len(self.server.loopback.requests)}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"

    def _break_off(self) -> None:
        self.close_connection = True
        _break(self.connection)


def _break(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # already gone
        connection.shutdown(socket.SHUT_RDWR)


def _replies(answer: Reply | Sequence[Reply] | Fault) -> list[Reply]:
    if isinstance(answer, Fault):
        assert answer.reply is not None
        return [answer.reply]
    return [answer] if isinstance(answer, Reply) else list(answer)


def _document(dialect: Dialect, replies: list[Reply], body: Json) -> Json:
    if len(replies) == 1:
        return dialect.render(replies[0], body)
    return dialect.render_choices(replies, body)


def _events(dialect: Dialect, replies: list[Reply], body: Json) -> list[str]:
    assert len(replies) == 1, "streams carry one reply here"
    return list(dialect.render_stream(replies[0], body))


def _pieces(events: list[str], wire: Wire, cut: int | None) -> Iterator[bytes]:
    """The chunks of a streamed body, compressed and cut as asked."""
    if wire.crlf:
        events = [event.replace("\n", "\r\n") for event in events]
    parts = [event.encode() for event in events]
    if cut is not None:
        parts = [b"".join(parts)[:cut]]
    if wire.chunk is not None:
        whole = b"".join(parts)
        parts = [whole[at : at + wire.chunk] for at in range(0, len(whole), wire.chunk)]
    if not wire.gzip:
        yield from (part for part in parts if part)
        return
    packer = zlib.compressobj(wbits=31)
    for part in parts:
        yield packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH)
    if cut is None:
        yield packer.flush()


def _error_body(fault: Fault, dialect: Dialect | None) -> bytes:
    if isinstance(fault.body, bytes):
        return fault.body
    return dumps(fault.body if fault.body is not None else _error(dialect, fault.status))


def _error(dialect: Dialect | None, status: int) -> Json:
    error = {"type": "server_error" if status >= 500 else "invalid", "message": f"status {status}"}
    if dialect is not None and dialect.provider == "anthropic":
        return {"type": "error", "error": error}
    return {"error": {**error, "code": None, "param": None}}


def _error_event(dialect: Dialect, document: Json) -> str:
    name = "" if dialect.name == "openai.chat" else "event: error\n"
    return f"{name}data: {dumps(document).decode()}\n\n"
