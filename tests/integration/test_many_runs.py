"""Many runs in one process, many processes in one folder: each has its own tape, and only that."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import runtape
from runtape.dialects.base import Reply, Stop, ToolCall
from runtape.jsonio import loads
from runtape.tape.events import LLM_REQUEST, TOOL_CALL, TOOL_RESULT
from runtape.tape.reader import Tape
from tests.support.call_shapes import settled
from tests.support.loopback import Loopback
from tests.support.recorded import client_at, events_on, sent_on

AGENTS = 6


def gardener(_api, body, _number):
    """Ask for the sensor of the bed that is named first, then report it."""
    bed = body["messages"][0]["content"]
    if body["messages"][-1]["role"] == "tool":
        return Reply(f"{bed} is {body['messages'][-1]['content']}")
    return Reply(None, (ToolCall("read", {"bed": bed}, f"call_{bed}"),), Stop.TOOL_CALLS)


async def work(client, tap, bed):
    """One agent: ask, call its tool, ask again."""

    async def read(bed):
        await asyncio.sleep(0)
        return f"dry ({bed})"

    tool = tap.tool(read)
    create = tap.wrap(client).chat.completions.create
    messages = [{"role": "user", "content": bed}]
    said = await settled(create(model="m", messages=messages))
    [call] = said.choices[0].message.tool_calls
    messages.append(said.choices[0].message.model_dump(exclude_none=True))
    result = await tool(**loads(call.function.arguments))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return (await settled(create(model="m", messages=messages))).choices[0].message.content


async def one(url, kind, tap, bed):
    """The agent with a client of its own."""
    client = client_at(url, kind)
    try:
        return await work(client, tap, bed)
    finally:
        await settled(client.close())


def check_own(path, bed):
    """The tape tells of this agent and of no other."""
    assert len(sent_on(path)) == 2
    assert all(loads(body)["messages"][0]["content"] == bed for body in sent_on(path))
    [call], [result] = events_on(path, TOOL_CALL), events_on(path, TOOL_RESULT)
    assert call.payload["call_id"] == f"call_{bed}"
    assert result.payload["result"] == f"dry ({bed})"


def test_agents_in_threads(tmp_path):
    """Recorded at once, replayed at once: nobody gets what belongs to another."""
    barrier = threading.Barrier(AGENTS, timeout=20)

    def record(number):
        with runtape.record(name=f"agent-{number}", dir=tmp_path) as recorder:
            barrier.wait()
            said = asyncio.run(one(server.url, "openai", recorder, f"bed {number}"))
        return recorder.path, said

    def replay(recorded):
        number, (path, said) = recorded
        with runtape.replay(path) as replayer:
            barrier.wait()
            again = asyncio.run(one("http://127.0.0.1:9", "openai", replayer, f"bed {number}"))
        return again == said

    with ThreadPoolExecutor(AGENTS) as pool:
        with Loopback(gardener) as server:
            runs = list(pool.map(record, range(AGENTS)))
        assert all(pool.map(replay, enumerate(runs)))
    for number, (path, _) in enumerate(runs):
        check_own(path, f"bed {number}")


def test_agents_in_tasks_of_one_loop(tmp_path):
    """The same with asynchronous clients, interleaved in one thread."""

    async def record():
        recorders = [runtape.record(dir=tmp_path) for _ in range(AGENTS)]
        work = (
            one(server.url, "openai-async", recorder, f"bed {number}")
            for number, recorder in enumerate(recorders)
        )
        said = await asyncio.gather(*work)
        for recorder in recorders:
            recorder.close()
        return [recorder.path for recorder in recorders], said

    async def replay():
        replayers = [runtape.replay(path) for path in paths]
        work = (
            one("http://127.0.0.1:9", "openai-async", replayer, f"bed {number}")
            for number, replayer in enumerate(replayers)
        )
        again = await asyncio.gather(*work)
        for replayer in replayers:
            replayer.close()
        return again

    with Loopback(gardener) as server:
        paths, said = asyncio.run(record())
    assert asyncio.run(replay()) == said
    for number, path in enumerate(paths):
        check_own(path, f"bed {number}")


def test_agents_on_one_recorder_and_one_client(tmp_path):
    """Interleaved in one run, and replayed in another order: each gets its own answers."""

    async def together(tap, url, numbers):
        client = client_at(url, "openai-async")
        try:
            agents = (work(client, tap, f"bed {number}") for number in numbers)
            return dict(zip(numbers, await asyncio.gather(*agents), strict=True))
        finally:
            await client.close()

    with Loopback(gardener) as server, runtape.record(dir=tmp_path) as recorder:
        said = asyncio.run(together(recorder, server.url, range(AGENTS)))
    with runtape.replay(recorder.path) as replayer:
        numbers = list(reversed(range(AGENTS)))
        assert asyncio.run(together(replayer, "http://127.0.0.1:9", numbers)) == said
    calls = {event.payload["call_id"] for event in events_on(recorder.path, TOOL_CALL)}
    assert calls == {f"call_bed {number}" for number in range(AGENTS)}


@pytest.mark.parametrize("bound", [True, False])
def test_executors_know_where_they_belong_when_bound(tmp_path, bound):
    """A call made by a tool in an executor belongs to the tool if bound; else to the run."""
    with (
        Loopback(lambda *_: Reply("fine")) as server,
        client_at(server.url, "openai") as client,
        ThreadPoolExecutor(2) as pool,
        runtape.record(dir=tmp_path) as recorder,
    ):
        recorder.wrap(client)

        def ask():
            messages = [{"role": "user", "content": "well?"}]
            client.chat.completions.create(model="m", messages=messages)

        @recorder.tool
        def delegate():
            pool.submit(recorder.bind(ask) if bound else ask).result()

        delegate()
    [call], [request] = events_on(recorder.path, TOOL_CALL), events_on(recorder.path, LLM_REQUEST)
    assert request.parent == (call.id if bound else 0)


WRITER = """
import sys
import runtape
with runtape.record(name="p", dir=sys.argv[1]) as recorder:
    for n in range(200):
        recorder.note(f"{sys.argv[2]} {n}")
"""


def test_processes_in_one_folder(tmp_path):
    """Six at once: six whole tapes."""
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    running = [subprocess.Popen([*command, str(number)]) for number in range(AGENTS)]
    assert [process.wait(60) for process in running] == [0] * AGENTS
    tapes = [Tape.open(path) for path in tmp_path.glob("*.jsonl")]
    assert len(tapes) == AGENTS
    for tape in tapes:
        assert (len(tape), tape.ended, tape.verify()) == (202, True, [])
        assert len({event.payload["text"][0] for event in tape if event.type == "note"}) == 1
