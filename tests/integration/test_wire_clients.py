"""Recorded clients: given back as they were, shared, derived, dropped, mocked, home-made."""

from __future__ import annotations

import asyncio
import gc
import weakref

import httpx2
import pytest
from openai import OpenAI

from runtape.recording import record
from tests.support import call_shapes as shapes
from tests.support.call_checks import ANSWER
from tests.support.call_shapes import settled
from tests.support.loopback import Loopback
from tests.support.recorded import API_KEY, CLIENTS, calls_on, client_at, events_on

everyone = pytest.mark.parametrize("kind", list(CLIENTS))


@everyone
def test_the_client_gets_its_own_http_client_back(kind, tmp_path):
    """Wrapping returns the same object, of the same type; close() leaves no trace of us in it."""
    client = client_at("http://127.0.0.1:9", kind)
    before = client._client
    recorder = record(dir=tmp_path)
    assert recorder.wrap(client) is client
    assert recorder.wrap(client) is client
    assert isinstance(client._client, type(before))
    assert type(client._client).__name__ == type(before).__name__
    derived = client.with_options(timeout=3)
    assert derived._client is client._client
    recorder.close()
    assert client._client is before
    asyncio.run(settled_close(client))
    assert before.is_closed
    assert derived.is_closed()


async def settled_close(client):
    """Close a client of either kind."""
    await settled(client.close())


@everyone
def test_closing_a_wrapped_client_closes_the_original(kind, tmp_path):
    """The twin and the original are one client: closed together."""
    client = client_at("http://127.0.0.1:9", kind)
    before = client._client
    with record(dir=tmp_path) as recorder:
        asyncio.run(settled_close(recorder.wrap(client)))
        assert before.is_closed
        assert client.is_closed()


def test_after_close_calls_go_through_unrecorded(tmp_path):
    """A derived client may outlive the recorder: it works on, and nothing more is written."""
    with (
        Loopback(lambda *_: ANSWER) as server,
        OpenAI(api_key=API_KEY, base_url=f"{server.url}/v1") as client,
    ):
        recorder = record(dir=tmp_path)
        recorder.wrap(client)
        derived = client.with_options(timeout=9)
        recorder.close()
        size = recorder.path.stat().st_size
        for one in (client, derived):
            assert one.chat.completions.create(**shapes.CHAT).choices[0].message.content
        assert len(server.requests) == 2
    assert recorder.path.stat().st_size == size
    assert events_on(recorder.path) == []


def test_two_recorders_on_one_client(tmp_path):
    """Both record; each can be closed first, and the client ends with its own http client."""
    for first_out in (0, 1):
        with (
            Loopback(lambda *_: ANSWER) as server,
            OpenAI(api_key=API_KEY, base_url=f"{server.url}/v1") as client,
        ):
            before = client._client
            recorders = [record(dir=tmp_path), record(dir=tmp_path)]
            for recorder in recorders:
                recorder.wrap(client)
            client.chat.completions.create(**shapes.CHAT)
            recorders[first_out].close()
            client.chat.completions.create(**shapes.CHAT)
            recorders[1 - first_out].close()
            client.chat.completions.create(**shapes.CHAT)
            assert client._client is before
        counts = [len(calls_on(recorder.path)) for recorder in recorders]
        assert sorted(counts) == [1, 2]
        assert counts[first_out] == 1


def test_a_dropped_client_is_freed(tmp_path):
    """Recording keeps neither the SDK client nor its connections alive."""
    with record(dir=tmp_path) as recorder:
        client = OpenAI(api_key=API_KEY, base_url="http://127.0.0.1:9")
        http = client._client
        gone = weakref.ref(http)
        recorder.wrap(client)
        del client, http
        gc.collect()
        assert gone() is None


class Signing(httpx2.Client):
    """A user's own http client."""

    def send(self, request, **options):
        request.headers["x-signed"] = "yes"
        return super().send(request, **options)


def test_a_users_own_http_client(tmp_path):
    """A subclass with its own send works inside the recording one, hooks included."""
    seen = []
    http = Signing(event_hooks={"response": [lambda response: seen.append(response.read())]})
    with (
        Loopback(lambda *_: ANSWER) as server,
        OpenAI(api_key=API_KEY, base_url=f"{server.url}/v1", http_client=http) as client,
        record(dir=tmp_path) as recorder,
    ):
        recorder.wrap(client).chat.completions.create(**shapes.CHAT)
        assert server.requests[0].headers["x-signed"] == "yes"
    [(_, response)] = calls_on(recorder.path)
    assert response.payload["body"].encode() == seen[0]
    assert response.payload["derived"]["replies"][0]["text"] == ANSWER.text


@pytest.mark.parametrize("streamed", [False, True])
def test_a_mock_transport(streamed, tmp_path):
    """Responses that never saw a wire are recorded as well."""
    document = {"choices": [{"message": {"role": "assistant", "content": "mocked"}}]}
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"mocked"}}]}\n\ndata: [DONE]\n\n'

    def answer(_request):
        if streamed:
            return httpx2.Response(
                200, headers={"content-type": "text/event-stream"}, content=chunk
            )
        return httpx2.Response(200, json=document)

    http = httpx2.Client(transport=httpx2.MockTransport(answer))
    with (
        OpenAI(api_key=API_KEY, base_url="http://mock/v1", http_client=http) as client,
        record(dir=tmp_path) as recorder,
    ):
        made = recorder.wrap(client).chat.completions.create(**shapes.CHAT, stream=streamed)
        assert "mocked" in str(list(made))
    [(_, response)] = calls_on(recorder.path)
    assert response.payload["derived"]["replies"][0]["text"] == "mocked"


def test_an_http_client_by_itself(tmp_path):
    """Without any SDK: the recording twin of an httpx client records what is posted through it."""
    with (
        Loopback(lambda *_: ANSWER) as server,
        httpx2.Client() as http,
        record(dir=tmp_path) as recorder,
    ):
        twin = recorder.wrap(http)
        assert recorder.wrap(twin) is twin
        answer = twin.post(f"{server.url}/v1/chat/completions", json=shapes.CHAT)
        with twin.stream("POST", f"{server.url}/v1/chat/completions", json=shapes.CHAT) as response:
            response.read()
        assert answer.elapsed.total_seconds() > 0
        assert http.post(f"{server.url}/v1/chat/completions", json=shapes.CHAT).status_code == 200
    assert [r.payload["end"] for _, r in calls_on(recorder.path)] == ["eof", "eof"]


def test_a_request_body_that_can_be_read_once(tmp_path):
    """A body from an iterator is left to the wire; the tape says that it is missing."""
    with (
        Loopback(lambda *_: ANSWER) as server,
        httpx2.Client() as http,
        record(dir=tmp_path) as recorder,
    ):
        parts = [b'{"model":"m",', b'"messages":[]}']
        headers = {"content-length": str(sum(map(len, parts)))}
        url = f"{server.url}/v1/chat/completions"
        recorder.wrap(http).post(url, content=iter(parts), headers=headers)
        assert server.requests[0].raw == b"".join(parts)
    [(request, response)] = calls_on(recorder.path)
    assert request.payload["fidelity"] == {"body": "missing"}
    assert response.payload["terminal"] is True
