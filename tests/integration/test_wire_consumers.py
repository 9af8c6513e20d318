"""Odd consumers of recorded streams: slow, hasty, forgetful, cancelled; and the clients they share.

No test here measures time: the server waits for events that the consumer sets.
"""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest
from openai import AsyncOpenAI

from runtape.dialects.base import Reply
from runtape.recording import record
from tests.support import call_shapes as shapes
from tests.support.call_checks import ANSWER
from tests.support.call_shapes import each, settled
from tests.support.loopback import PATIENCE, Fault, Loopback, Wire
from tests.support.recorded import (
    API_KEY,
    calls_on,
    sent_on,
    with_client,
)

KINDS = ["openai", "openai-async", "anthropic", "anthropic-async"]
everyone = pytest.mark.parametrize("kind", KINDS)


async def opened(client):
    """A stream of the client's own API, nothing read yet."""
    if hasattr(client, "chat"):
        return await settled(client.chat.completions.create(**shapes.CHAT, stream=True))
    return await settled(client.messages.create(**shapes.MESSAGES, stream=True))


class Gate:
    """Lets the server send its first chunk, and the others when it is opened."""

    def __init__(self):
        self.event = threading.Event()

    def __call__(self, number):
        if number > 0:
            assert self.event.wait(PATIENCE), "the consumer never got its first chunk"


@everyone
def test_the_first_chunk_is_not_kept_back(kind, tmp_path):
    """The consumer has the first chunk while the server still holds the second."""
    gate = Gate()

    async def read(client):
        got = []
        async for item in each(await opened(client)):
            got.append(item)
            gate.event.set()
        return len(got)

    with Loopback(lambda *_: ANSWER, Wire(gate=gate)) as server, record(dir=tmp_path) as recorder:
        assert with_client(server.url, kind, read, recorder) > 1
    [(_, response)] = calls_on(recorder.path)
    assert response.payload["terminal"] is True


@everyone
def test_closing_early_closes_at_once(kind, tmp_path):
    """A consumer that has enough closes the connection; nobody reads the rest for it."""
    gate = Gate()

    async def read_one(client):
        stream = await opened(client)
        async for _ in each(stream):
            break
        await settled(stream.close())
        gate.event.set()
        server.requests[0].left.wait(PATIENCE)

    with Loopback(lambda *_: ANSWER, Wire(gate=gate)) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, kind, read_one, recorder)
    assert server.requests[0].left.is_set()
    [(_, response)] = calls_on(recorder.path)
    assert response.payload["end"] == "closed"
    assert response.payload["terminal"] is False
    assert len(response.payload["chunks"]) == 1


@everyone
def test_a_stream_nobody_reads(kind, tmp_path):
    """A stream that is dropped unread is recorded as abandoned once it is gone."""

    async def drop(client):
        stream = await opened(client)
        del stream
        gc.collect()

    with Loopback(lambda *_: ANSWER) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, kind, drop, recorder)
    [(_, response)] = calls_on(recorder.path)
    assert response.payload["end"] in ("abandoned", "closed")
    assert response.payload["chunks"] == []
    assert response.payload["status"] == 200


@everyone
def test_a_stream_that_outlives_the_recorder(kind, tmp_path):
    """Closing the recorder in the middle of a stream ends the record, not the stream."""
    recorder = record(dir=tmp_path)

    async def read(client):
        got = 0
        async for _ in each(await opened(client)):
            got += 1
            if got == 1:
                recorder.close()
        return got

    with Loopback(lambda *_: ANSWER) as server:
        alone = with_client(server.url, kind, read)
        recorder = record(dir=tmp_path)
        assert with_client(server.url, kind, read, recorder) == alone
    [(_, response)] = calls_on(recorder.path)
    assert response.payload["end"] == "abandoned"
    assert response.payload["derived"]["replies"] != [] or response.payload["body"]


@pytest.mark.parametrize("kind", ["openai-async", "anthropic-async"])
def test_a_cancelled_consumer(kind, tmp_path):
    """Cancelling a task that waits for a chunk cancels it, and says so on the tape."""
    gate = Gate()

    async def cancelled(client):
        got = asyncio.Event()

        async def read():
            async for _ in await opened(client):
                got.set()

        task = asyncio.create_task(read())
        await got.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gate.event.set()

    with Loopback(lambda *_: ANSWER, Wire(gate=gate)) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, kind, cancelled, recorder)
    [(_, response)] = calls_on(recorder.path)
    assert response.payload["end"] == "cancelled"
    assert len(response.payload["chunks"]) == 1


@pytest.mark.parametrize("kind", ["openai-async", "anthropic-async"])
def test_cancelled_before_there_is_a_response(kind, tmp_path):
    """A call that is cancelled while it waits for its response has an end, too."""
    arrived = threading.Event()

    def hang(*_):
        arrived.set()
        return Fault(hang=True)

    async def cancelled(client):
        task = asyncio.create_task(opened(client))
        await asyncio.to_thread(arrived.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with Loopback(hang) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, kind, cancelled, recorder)
    [(_, response)] = calls_on(recorder.path)
    assert (response.payload["end"], response.payload["status"]) == ("cancelled", None)


@everyone
def test_many_calls_at_once(kind, tmp_path):
    """Calls that overlap keep to themselves: each response stands under its own request."""

    async def one(client, n):
        talk = [{"role": "user", "content": f"number {n}"}]
        if hasattr(client, "chat"):
            create, options = client.chat.completions.create, {}
        else:
            create, options = client.messages.create, {"max_tokens": 9}
        await settled(create(model="m", messages=talk, **options))

    async def many(client):
        if kind.endswith("async"):
            await asyncio.gather(*(one(client, n) for n in range(12)))
        else:
            work = [threading.Thread(target=asyncio.run, args=(one(client, n),)) for n in range(12)]
            for thread in work:
                thread.start()
            for thread in work:
                thread.join(PATIENCE)

    def echo(_api, body, _n):
        return Reply(body["messages"][0]["content"])

    with Loopback(echo) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, kind, many, recorder)
    calls = calls_on(recorder.path)
    bodies = sent_on(recorder.path)
    assert len(calls) == 12
    assert {request.payload["call"] for request, _ in calls} == set(range(1, 13))
    for (_, response), body in zip(calls, bodies, strict=True):
        [reply] = response.payload["derived"]["replies"]
        assert f'"{reply["text"]}"'.encode() in body


def test_dropped_async_stream_without_a_loop(tmp_path):
    """An async stream that is dropped after its loop has ended harms nobody."""

    async def start(client):
        return await opened(client)

    with Loopback(lambda *_: ANSWER) as server, record(dir=tmp_path) as recorder:

        async def main():
            client = AsyncOpenAI(api_key=API_KEY, base_url=f"{server.url}/v1")
            async with client:
                stream = await start(recorder.wrap(client))
                await stream.close()
            return stream

        stream = asyncio.run(main())
        del stream
        gc.collect()
    [(_, response)] = calls_on(recorder.path)
    assert response.payload["end"] == "closed"
