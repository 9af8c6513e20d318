"""What recording costs the agent: CPU with a recorder less CPU without, no network.

Aims: 100 µs a call at a 1 kB body, growing with what is new and not with the history; about 1 µs a
chunk while a stream runs. The agent's own cost (httpx2 alone) is printed beside it.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator

import httpx2

from runtape.dialects import dialect_for
from runtape.dialects.base import Reply, ToolCall, Usage
from runtape.jsonio import dumps
from runtape.recording import record

URL = "https://api.openai.com/v1/chat/completions"
HEADERS = {
    "accept": "application/json",
    "content-type": "application/json",
    "user-agent": "OpenAI/Python 3.57.0",
    "authorization": "Bearer sk-benchmark-0123456789abcdef",
    "x-stainless-lang": "python",
    "x-stainless-package-version": "3.57.0",
    "x-stainless-os": "Linux",
    "x-stainless-arch": "x64",
    "x-stainless-runtime": "CPython",
    "x-stainless-runtime-version": "3.12.0",
    "x-stainless-async": "false",
    "x-stainless-retry-count": "0",
    "x-stainless-read-timeout": "600",
}
REPLY = Reply(
    "I will look that up for you.",
    (ToolCall("look_up", {"query": "kiln temperature", "limit": 5}, "call_0123456789"),),
    usage=Usage(1200, 40, 1024),
)
MESSAGE = "The kiln in the yard was fired on Monday and cooled until Wednesday noon. "
CALLS = 40
REPEATS = 15
CHUNKS = 1_000


class Stream(httpx2.SyncByteStream):
    """The chunks of an answer."""

    def __init__(self, chunks: list[bytes]) -> None:
        self.chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.chunks)


class Transport(httpx2.BaseTransport):
    """Answers every request at once with the same chunks."""

    def __init__(self, content_type: str, chunks: list[bytes]) -> None:
        self.headers = {"content-type": content_type, "x-request-id": "req_1"}
        self.chunks = chunks

    def handle_request(self, _request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers=self.headers, stream=Stream(self.chunks))


def rows() -> list[str]:
    """Printable figures."""
    return [*_call_rows(), "", *_stream_rows()]


def _call_rows() -> Iterator[str]:
    answer = dumps(dialect_for("openai.chat").render(REPLY, {"model": "m"}))
    transport = Transport("application/json", [answer])
    yield f"{'a call: body, messages':<32}{'alone':>10}{'recording adds':>18}"
    for kilobytes, messages in ((1, 1), (10, 10), (100, 100), (1_000, 1_000)):
        bodies = [_body(messages + more) for more in range(CALLS)]
        alone, added = _compare(transport, lambda client, bodies=bodies: _calls(client, bodies))
        yield (
            f"{kilobytes:>8,} kB {messages:>6,} messages"
            f"{alone / CALLS * 1e6:>15.0f} µs{added / CALLS * 1e6:>15.0f} µs"
        )


def _stream_rows() -> Iterator[str]:
    events = dialect_for("openai.chat").render_stream(
        Reply("word " * CHUNKS, usage=Usage(1, CHUNKS)), {"model": "m", "stream": True}
    )
    event = max(events, key=len)
    one = event.replace("word " * CHUNKS, "word ") if len(event) > CHUNKS else event
    chunks = [one.encode()] * CHUNKS + [b"data: [DONE]\n\n"]
    transport = Transport("text/event-stream", chunks)
    body = dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]})
    alone, added = _compare(transport, lambda client: _read(client, body, len(chunks)))
    yield f"a stream of {CHUNKS:,} chunks of {len(one)} bytes"
    each, more = (seconds / CHUNKS * 1e6 for seconds in (alone, added))
    yield f"  each chunk while it runs      {each:>10.2f} µs{more:>15.2f} µs"
    alone, added = _compare(transport, lambda client: _read_out(client, body))
    yield f"  all of it, folded at the end  {alone * 1e3:>10.2f} ms{added * 1e3:>15.2f} ms"


def _body(messages: int) -> bytes:
    text = (MESSAGE * 14)[:930]
    talk = [{"role": "user", "content": f"{n} {text}"} for n in range(messages)]
    return dumps({"messages": talk, "model": "gpt-4o-mini", "temperature": 0})


def _compare(transport: Transport, work: Callable[[httpx2.Client], float]) -> tuple[float, float]:
    """CPU seconds of `work` alone, and what a recorder adds: the least of alternating runs."""
    alone, recorded = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(REPEATS):
            gc.collect()
            with httpx2.Client(transport=transport) as client:
                alone.append(work(client))
            gc.collect()
            with httpx2.Client(transport=transport) as client, record(dir=folder) as recorder:
                recorded.append(work(recorder.wrap(client)))
    return min(alone), min(recorded) - min(alone)


def _calls(client: httpx2.Client, bodies: list[bytes]) -> float:
    """CPU seconds of these calls; the first one, which has no history yet, is not counted."""
    client.send(_request(client, bodies[0]))
    began = time.process_time()
    for body in bodies:
        client.send(_request(client, body))
    return time.process_time() - began


def _read(client: httpx2.Client, body: bytes, chunks: int) -> float:
    """CPU seconds of reading a stream up to its last chunk, its end not included."""
    response = client.send(_request(client, body), stream=True)
    pieces = response.iter_raw()
    began = time.process_time()
    for _ in range(chunks):
        next(pieces)
    spent = time.process_time() - began
    response.close()
    return spent


def _read_out(client: httpx2.Client, body: bytes) -> float:
    began = time.process_time()
    client.send(_request(client, body))
    return time.process_time() - began


def _request(client: httpx2.Client, body: bytes) -> httpx2.Request:
    return client.build_request("POST", URL, content=body, headers=HEADERS)
