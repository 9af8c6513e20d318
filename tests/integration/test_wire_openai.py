"""The OpenAI SDK recorded: every way to call a model, sync and async, against a real server."""

from __future__ import annotations

import httpx
import pytest

from runtape.dialects.base import Reply
from runtape.jsonio import loads
from runtape.recording import record
from tests.support import call_shapes as shapes
from tests.support.call_checks import ANSWER, check_error, check_shape
from tests.support.call_shapes import settled
from tests.support.loopback import Fault, Loopback, Wire
from tests.support.recorded import calls_on, events_on, with_client

KINDS = ("openai", "openai-async")
both = pytest.mark.parametrize("kind", KINDS)


@both
@pytest.mark.parametrize("shape", shapes.OPENAI, ids=lambda shape: shape.__name__)
def test_shapes(kind, shape, tmp_path):
    """Whatever the SDK offers gives the same with a recorder, and all of it is on the tape."""
    check_shape(kind, shape, tmp_path)


@both
@pytest.mark.parametrize(
    "wire",
    [Wire(gzip=True), Wire(chunk=1), Wire(crlf=True), Wire(gzip=True, chunk=7)],
    ids=["gzip", "single bytes", "crlf", "gzip in pieces"],
)
@pytest.mark.parametrize("shape", [shapes.chat_create, shapes.chat_create_streamed])
def test_ways_of_travel(kind, shape, wire, tmp_path):
    """Compression, chunk sizes and line ends change nothing, and the tape holds readable text."""
    check_shape(kind, shape, tmp_path, wire)


@both
def test_chunks_are_those_of_the_wire(kind, tmp_path):
    """The response event has one entry per chunk, of its size, in the order of arrival."""
    with Loopback(lambda *_: ANSWER, Wire(chunk=100)) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, kind, shapes.chat_create_streamed, recorder)
    [(_, response)] = calls_on(recorder.path)
    sizes = [size for size, _ in response.payload["chunks"]]
    times = [at for _, at in response.payload["chunks"]]
    assert sum(sizes) == len(response.payload["body"].encode())
    assert times == sorted(times)
    assert response.payload["first_byte_ms"] == times[0]


@both
@pytest.mark.parametrize(
    ("fault", "end"),
    [
        (Fault(status=400), "eof"),
        (Fault(status=401, body={"error": {"message": "no such key"}}), "eof"),
        (Fault(status=500, body=b"<html>oops</html>"), "eof"),
        (Fault(hang=True), "error"),
        (Fault(reply=ANSWER, cut=40), "error"),
    ],
    ids=["refused", "unauthorized", "not json", "timeout", "cut"],
)
def test_errors(kind, fault, end, tmp_path):
    """Errors are the same exceptions with a recorder; the tape says how the call ended."""
    _, response = check_error(kind, shapes.chat_create, tmp_path, fault, end)
    assert response.payload["derived"]["replies"] == []
    assert (response.payload["error"] is not None) is (end == "error")


@both
@pytest.mark.parametrize("cut", [1, 150, 400])
def test_a_stream_cut_by_the_server(kind, cut, tmp_path):
    """A stream that breaks off is recorded as far as it came."""
    fault = Fault(reply=ANSWER, cut=cut)
    _, response = check_error(kind, shapes.chat_create_streamed, tmp_path, fault, "error")
    assert len(response.payload["body"].encode()) == cut
    assert response.payload["terminal"] is False


@both
def test_an_error_event_within_a_stream(kind, tmp_path):
    """An error that a stream reports is raised by the SDK as ever, and named on the tape."""
    fault = Fault(reply=ANSWER, error_event={"error": {"type": "overloaded", "message": "busy"}})
    _, response = check_error(kind, shapes.chat_create_streamed, tmp_path, fault, "closed eof")
    assert response.payload["error"] == {"type": "overloaded", "message": "busy"}


@both
def test_retries_are_attempts_of_one_call(kind, tmp_path):
    """What the SDK retries is one logical call with numbered attempts; the next call is another."""
    quick = {"retry-after-ms": "1"}
    answers = [Fault(429, quick), Fault(503, quick), ANSWER, ANSWER]
    with Loopback(lambda _a, _b, n: answers[n]) as server, record(dir=tmp_path) as recorder:

        async def twice(client):
            await shapes.chat_create(client)
            await shapes.chat_create(client)

        with_client(server.url, kind, twice, recorder, max_retries=3)
    calls = calls_on(recorder.path)
    assert [(q.payload["call"], q.payload["attempt"]) for q, _ in calls] == [
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 1),
    ]
    assert [r.payload["status"] for _, r in calls] == [429, 503, 200, 200]


@both
def test_retry_after_a_timeout(kind, tmp_path):
    """A request that timed out and its retry are one call."""
    answers = [Fault(hang=True), ANSWER]
    with Loopback(lambda _a, _b, n: answers[n]) as server, record(dir=tmp_path) as recorder:
        use = shapes.chat_create
        with_client(server.url, kind, use, recorder, max_retries=1, timeout=0.4)
    calls = calls_on(recorder.path)
    assert [q.payload["attempt"] for q, _ in calls] == [1, 2]
    assert calls[0][1].payload["error"]["type"] == "ReadTimeout"


@both
def test_only_model_calls_are_recorded(kind, tmp_path):
    """Other requests of the same client pass by."""

    async def other(client):
        await settled(client.embeddings.create(model="m", input="kiln"))
        await settled(client.models.list())

    item = {"object": "embedding", "index": 0, "embedding": [0.5]}
    document = {"object": "list", "data": [item], "model": "m", "usage": {}}
    with Loopback(lambda *_: document) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, kind, other, recorder)
    assert events_on(recorder.path) == []


@both
def test_all_choices_are_derived(kind, tmp_path):
    """With n choices the tape holds n replies."""

    async def three(client):
        await settled(client.chat.completions.create(**shapes.CHAT, n=3))

    replies = [Reply(f"answer {i}") for i in range(3)]
    with Loopback(lambda *_: replies) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, kind, three, recorder)
    [(_, response)] = calls_on(recorder.path)
    texts = [reply["text"] for reply in response.payload["derived"]["replies"]]
    assert texts == ["answer 0", "answer 1", "answer 2"]


@pytest.mark.parametrize(
    ("kind", "made"), [("openai", httpx.Client), ("openai-async", httpx.AsyncClient)]
)
def test_the_older_http_library(kind, made, tmp_path):
    """A client that was given an httpx (not httpx2) client is recorded just the same."""
    with Loopback(lambda *_: ANSWER) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, kind, shapes.chat_create, recorder, http_client=made())
        with_client(server.url, kind, shapes.chat_create_streamed, recorder, http_client=made())
    calls = calls_on(recorder.path)
    assert [r.payload["terminal"] for _, r in calls] == [True, True]
    assert {r.payload["derived"]["replies"][0]["text"] for _, r in calls} == {ANSWER.text}


def test_growing_history_is_stored_as_what_is_new(tmp_path):
    """Every request of a long talk comes back byte for byte; the file grows with what is new."""
    talk = [{"role": "user", "content": "A word about kilns, please. " * 40}]

    async def chat(client):
        for n in range(12):
            await settled(client.chat.completions.create(model="m", messages=talk))
            talk.append({"role": "assistant", "content": f"Kiln number {n}, Zoë."})

    with Loopback(lambda *_: Reply("Yes.")) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, "openai", chat, recorder)
        sent = [request.raw for request in server.requests]
    requests = [request for request, _ in calls_on(recorder.path)]
    assert "body" in requests[0].payload
    assert all("splice" in request.payload for request in requests[1:])
    assert [request.payload["model"] for request in requests] == ["m"] * 12
    inserted = sum(len(r.payload["splice"]["insert"]) for r in requests[1:])
    assert inserted < len(sent[0])
    assert loads(sent[-1])["messages"] == talk[:-1]
