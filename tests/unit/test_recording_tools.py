"""Recorded tools: the same functions to everybody else, and every call on the tape."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from runtape.dialects import dialect_for
from runtape.dialects.base import Reply, ToolCall
from runtape.errors import RecordingError
from runtape.recording import record
from runtape.recording.values import restored
from tests.support.recorded import events_on, payloads_on


@pytest.fixture
def recorder(tmp_path):
    """A recorder that is closed in the end."""
    with record(dir=tmp_path) as made:
        yield made


def ask(recorder, *calls):
    """Have the model ask for these tool calls."""
    body = {"model": "m", "messages": []}
    request = recorder.log_llm_request(body)
    reply = dialect_for("openai.chat").render(Reply(None, calls), body)
    recorder.log_llm_response(request, reply)


@dataclass
class Pot:
    """Something a tool returns."""

    size: int


def test_a_call_and_its_result(recorder):
    """Arguments by name, result with what restores it, latency, one under the other."""

    @recorder.tool
    def make(size: int, *extra: str, colour: str = "blue", **more: int) -> Pot:
        """Make a pot."""
        return Pot(size + len(extra) + len(more) + len(colour))

    assert make(1, "lid", handle=2) == Pot(7)
    [call] = events_on(recorder.path, "tool_call")
    assert call.payload["name"] == "make"
    assert call.payload["arguments"] == {"size": 1, "extra": ["lid"], "handle": 2}
    assert call.payload["call_id"] is None
    [result] = events_on(recorder.path, "tool_result")
    assert result.parent == call.id
    assert result.payload["error"] is None
    assert restored(result.payload["result"], result.payload["restore"]) == Pot(7)
    assert result.meta["latency_ms"] >= 0


def test_the_function_stays_what_it_was(recorder):
    """Name, signature, documentation and kind are those of the undecorated function."""

    def plain(a, b=2):
        """Plain."""

    async def coroutine(a):
        """Coroutine."""

    def generator(a):
        """Generator."""
        yield a

    async def async_generator(a):
        """Async generator."""
        yield a

    checks = (
        inspect.isfunction,
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
    )
    for function in (plain, coroutine, generator, async_generator):
        tool = recorder.tool(function)
        assert tool.__name__ == function.__name__
        assert tool.__doc__ == function.__doc__
        assert inspect.signature(tool) == inspect.signature(function)
        assert [check(tool) for check in checks] == [check(function) for check in checks]


def test_names_and_kinds_of_callables(recorder):
    """A name of one's own; methods of all kinds, partials, objects that are called, builtins."""

    class Oven:
        def __call__(self, heat):
            return heat

        @recorder.tool
        def bake(self, heat):
            return heat + 1

        @recorder.tool(name="fire")
        @staticmethod
        def burn(heat):
            return heat + 2

        @recorder.tool
        @classmethod
        def cool(cls, heat):
            return heat + 3

    oven = Oven()
    assert oven.bake(1) == 2
    assert oven.burn(1) == Oven.burn(1) == 3
    assert Oven.cool(1) == 4
    assert recorder.tool(oven)(5) == 5
    assert recorder.tool(functools.partial(oven.bake, heat=8), name="preset")() == 9
    assert recorder.tool(len)([1, 2]) == 2
    calls = [(p["name"], p["arguments"]) for p in payloads_on(recorder.path, "tool_call")]
    assert calls == [
        ("bake", {"heat": 1}),
        ("fire", {"heat": 1}),
        ("fire", {"heat": 1}),
        ("cool", {"heat": 1}),
        ("Oven", {"heat": 5}),
        ("preset", {}),
        ("bake", {"heat": 8}),
        ("len", {"obj": [1, 2]}),
    ]
    with pytest.raises(RecordingError, match="cannot be called"):
        recorder.tool(7)


def test_errors_are_raised_and_recorded(recorder):
    """The tool's exception, and the one for arguments that do not fit, reach the caller."""

    @recorder.tool
    def break_down(why):
        raise LookupError(why)

    with pytest.raises(LookupError, match="clay"):
        break_down("clay")
    with pytest.raises(TypeError, match="missing"):
        break_down()
    first, second = payloads_on(recorder.path, "tool_result")
    assert first["error"] == {
        "type": "LookupError",
        "message": "clay",
        "class": "builtins:LookupError",
    }
    assert first["result"] is None
    assert second["error"]["type"] == "TypeError"
    assert payloads_on(recorder.path, "tool_call")[1]["arguments"] == {}


def test_coroutines(recorder):
    """Coroutine tools are recorded when they are awaited; cancelling them is recorded, too."""

    @recorder.tool
    async def wait(seconds):
        await asyncio.sleep(seconds)
        return "done"

    async def main():
        assert await wait(0) == "done"
        task = asyncio.create_task(wait(60))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    first, second = payloads_on(recorder.path, "tool_result")
    assert first["result"] == "done"
    assert second["error"]["type"] == "CancelledError"


def test_results_that_can_be_read_once(recorder):
    """A tool that returns a generator, or a coroutine, returns it untouched."""

    @recorder.tool
    def lazy():
        return (n for n in range(3))

    assert list(lazy()) == [0, 1, 2]
    [result] = payloads_on(recorder.path, "tool_result")
    assert "generator" in result["result"]


def test_the_models_id_of_a_call(recorder):
    """A call that the latest reply asks for gets the model's id, equal calls one after another.

    Calls are equal whether they leave a default out or say it: frameworks fill defaults in.
    """

    @recorder.tool
    def look_up(query, limit=3):
        return f"{limit} {query}"

    ask(
        recorder,
        ToolCall("look_up", {"query": "kiln", "limit": 3}, "call_a"),
        ToolCall("look_up", {"query": "clay"}, "call_b"),
        ToolCall("look_up", {"query": "clay"}, "call_c"),
    )
    look_up("clay")
    look_up("clay", 3)
    look_up("kiln")
    look_up("kiln")
    look_up("glaze")
    ids = [payload["call_id"] for payload in payloads_on(recorder.path, "tool_call")]
    assert ids == ["call_b", "call_c", "call_a", None, None]


def test_only_the_latest_reply_counts(recorder):
    """What an older reply asked for, and nobody did, is not matched later."""

    @recorder.tool
    def look_up(query):
        return query

    ask(recorder, ToolCall("look_up", {"query": "kiln"}, "call_old"))
    ask(recorder, ToolCall("look_up", {"query": "clay"}, "call_new"))
    look_up("kiln")
    look_up("clay")
    ids = [payload["call_id"] for payload in payloads_on(recorder.path, "tool_call")]
    assert ids == [None, "call_new"]


def test_tools_in_other_threads_find_their_id(recorder):
    """A tool that runs in an executor is matched with the reply of the thread that asked."""

    @recorder.tool
    def look_up(query):
        return query

    ask(recorder, *(ToolCall("look_up", {"query": n}, f"call_{n}") for n in range(4)))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(look_up, range(4)))
    payloads = payloads_on(recorder.path, "tool_call")
    assert sorted(payload["call_id"] for payload in payloads) == [f"call_{n}" for n in range(4)]


def test_what_happens_within_a_tool_stands_under_it(recorder):
    """Notes, model calls and tools within a tool are its children, through every kind of tool."""

    @recorder.tool
    def inner():
        recorder.note("inside")

    @recorder.tool
    def outer():
        recorder.log_llm_request({"model": "m"})
        inner()
        yield 1
        inner()

    for _ in outer():
        recorder.note("between")
    start = events_on(recorder.path)[0].parent
    first, *inners = events_on(recorder.path, "tool_call")
    assert first.parent == start == 0
    assert [event.parent for event in inners] == [first.id, first.id]
    assert [event.parent for event in events_on(recorder.path, "llm_request")] == [first.id]
    assert [event.parent for event in events_on(recorder.path, "note")] == [
        inners[0].id,
        start,
        inners[1].id,
    ]


def test_tasks_keep_their_own_place(recorder):
    """Tools that run at the same time do not become each other's parents."""

    @recorder.tool
    async def work(n):
        for _ in range(3):
            await asyncio.sleep(0)
            recorder.state("n", n)

    async def main():
        await asyncio.gather(*(work(n) for n in range(5)))

    asyncio.run(main())
    calls = {
        event.id: event.payload["arguments"]["n"] for event in events_on(recorder.path, "tool_call")
    }
    for event in events_on(recorder.path, "state"):
        assert calls[event.parent] == event.payload["value"]


def test_bare_threads_and_bind(recorder):
    """A bare thread's events belong to the run; bind takes the place along, sync and async."""

    async def note_later(text):
        recorder.note(text)

    @recorder.tool
    def start():
        bound = recorder.bind(recorder.note)
        work = [
            threading.Thread(target=recorder.note, args=("bare",)),
            threading.Thread(target=bound, args=("bound",)),
            threading.Thread(target=asyncio.run, args=(recorder.bind(note_later)("async"),)),
        ]
        for thread in work:
            thread.start()
            thread.join()

    start()
    [call] = events_on(recorder.path, "tool_call")
    notes = {event.payload["text"]: event.parent for event in events_on(recorder.path, "note")}
    assert notes == {"bare": 0, "bound": call.id, "async": call.id}


def test_two_recorders_and_one_tool(tmp_path):
    """Each recorder has its own events in its own order of nesting."""
    with record(dir=tmp_path) as first, record(dir=tmp_path) as second:

        @first.tool
        @second.tool
        def work():
            first.note("a")
            second.note("b")

        work()
    for recorder in (first, second):
        [call] = events_on(recorder.path, "tool_call")
        [note] = events_on(recorder.path, "note")
        assert note.parent == call.id


def test_after_the_run_has_ended(tmp_path):
    """Tools work on when the recorder is closed, also if it was closed in their middle."""
    with record(dir=tmp_path) as recorder:

        @recorder.tool
        def work(n):
            if n == 0:
                recorder.close()
            return n

        assert work(0) == 0
    assert work(1) == 1
    assert len(events_on(recorder.path, "tool_call")) == 1


def test_arguments_are_recorded_as_they_were(recorder):
    """A tool that changes its arguments does not change what was recorded of them."""

    @recorder.tool
    def fill(shelf):
        shelf.append("pot")
        return shelf

    shelf: list[str] = []
    assert fill(shelf) is shelf
    assert payloads_on(recorder.path, "tool_call")[0]["arguments"] == {"shelf": []}
    assert payloads_on(recorder.path, "tool_result")[0]["result"] == ["pot"]
