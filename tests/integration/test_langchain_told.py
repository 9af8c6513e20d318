"""What only LangChain can tell: calls that no wire shows, and tools."""

from __future__ import annotations

import asyncio
import json
import threading

import httpx2
import pytest

from runtape.dialects.base import Reply, Stop, ToolCall, Usage
from runtape.recording import record
from runtape.tape.events import TOOL_CALL, TOOL_RESULT
from tests.support.loopback import Loopback
from tests.support.recorded import calls_on, events_on, payloads_on, sent_on

pytest.importorskip("langchain_core", reason="langchain-core is not installed")
pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
pytest.importorskip("langgraph", reason="langgraph is not installed")

from langchain_core.caches import InMemoryCache
from langchain_core.language_models.fake_chat_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.language_models.llms import LLM
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import ToolException, tool

from tests.support.agents import Bench, close_sync, read_sensor
from tests.support.graphs import chat_model
from tests.support.langchain import config, echo, place


@pytest.fixture
def server():
    with Loopback(echo) as running:
        yield running


@pytest.fixture
def recorder(tmp_path):
    with record(dir=tmp_path) as running:
        yield running
    assert running.faults == 0


def test_a_model_without_a_wire(recorder):
    """A fake model's call is recorded as LangChain tells it, in the shape of a chat completion."""
    call = {"name": "look_up", "args": {"q": "kiln"}, "id": "call_1"}
    usage = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}
    answer = AIMessage("Let me see.", tool_calls=[call], usage_metadata=usage)
    model = GenericFakeChatModel(messages=iter([answer]))
    messages = [
        SystemMessage("Be brief."),
        HumanMessage([{"type": "text", "text": "What is the kiln doing?"}]),
        AIMessage("", tool_calls=[{**call, "id": "call_0"}]),
        ToolMessage("It cools.", tool_call_id="call_0"),
    ]

    def look_up(q: str) -> str:
        """Look it up."""
        return q

    model.bind(tools=[look_up], temperature=0.5).invoke(messages, config(recorder))
    recorder.close()
    [(request, response)] = calls_on(recorder.path)
    assert request.payload["fidelity"] == {"body": "callback"}
    assert request.payload["api"] == "openai.chat"
    assert request.payload["path"] is None
    [body] = map(json.loads, sent_on(recorder.path))
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][2]["tool_calls"][0]["id"] == "call_0"
    assert body["tools"][0]["function"]["name"] == "look_up"
    assert body["temperature"] == 0.5
    [reply] = response.payload["derived"]["replies"]
    assert Reply.from_json(reply) == Reply(
        "Let me see.",
        (ToolCall("look_up", {"q": "kiln"}, "call_1"),),
        Stop.TOOL_CALLS,
        usage=Usage(9, 4),
        model=Reply.from_json(reply).model,
    )
    assert response.payload["end"] == "eof"
    assert place(request)["name"] == "GenericFakeChatModel"


@pytest.mark.parametrize("way", ["invoke", "stream", "ainvoke", "astream", "batch"])
def test_each_way_to_call_a_model_without_a_wire(way, recorder):
    """One call, one request and one response, whichever way it is made."""
    model = FakeListChatModel(responses=["Twenty trays."])

    async def listed(pieces):
        return [piece async for piece in pieces]

    if way == "astream":
        asyncio.run(listed(model.astream("How many?", config(recorder))))
    elif way == "ainvoke":
        asyncio.run(model.ainvoke("How many?", config(recorder)))
    elif way == "stream":
        list(model.stream("How many?", config(recorder)))
    elif way == "batch":
        model.batch(["How many?"], config(recorder))
    else:
        model.invoke("How many?", config(recorder))
    recorder.close()
    [(request, response)] = calls_on(recorder.path)
    [reply] = response.payload["derived"]["replies"]
    assert reply["text"] == "Twenty trays."
    assert request.payload["fidelity"] == {"body": "callback"}
    assert response.meta["latency_ms"] >= 0


def test_a_stream_without_a_wire_left_early(recorder):
    """It is closed, and holds no answer it has not given."""
    stream = FakeListChatModel(responses=["Twenty trays."]).stream("How many?", config(recorder))
    next(stream)
    stream.close()
    recorder.close()
    [(_, response)] = calls_on(recorder.path)
    assert (response.payload["end"], response.payload["derived"]["replies"]) == ("closed", [])


def test_a_model_without_a_wire_that_fails(recorder):
    """The exception stands on the response."""
    model = GenericFakeChatModel(messages=iter([]))
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever LangChain makes of it
        model.invoke("Anyone?", config(recorder))
    recorder.close()
    [(_, response)] = calls_on(recorder.path)
    assert response.payload["end"] == "error"
    assert response.payload["error"]["type"]


def test_a_model_that_completes_text(recorder):
    """Old-style models have prompts: recorded as what a user said."""

    class Parrot(LLM):
        @property
        def _llm_type(self):
            return "parrot"

        def _call(self, prompt, **_):
            return prompt.upper()

    assert Parrot().invoke("hello", config(recorder)) == "HELLO"
    recorder.close()
    [(request, response)] = calls_on(recorder.path)
    assert json.loads(sent_on(recorder.path)[0])["messages"] == [
        {"role": "user", "content": "hello"}
    ]
    assert response.payload["derived"]["replies"][0]["text"] == "HELLO"
    assert place(request)["name"] == "Parrot"


def test_answers_from_langchains_cache(server, recorder):
    """An answer LangChain had already reaches no wire: recorded as told, and marked."""
    model = chat_model(Bench(server.url, recorder), cache=InMemoryCache())
    for _ in range(2):
        assert model.invoke("same", config(recorder)).content == "same!"
    close_sync(model)
    recorder.close()
    marks = [request.payload["fidelity"] for request, _ in calls_on(recorder.path)]
    assert marks == [{}, {"body": "callback"}]
    assert len(server.requests) == 1


def test_a_wire_nobody_knows(recorder):
    """A model that posts to an API of its own is recorded as LangChain tells it."""

    class Homemade(FakeListChatModel):
        address: str

        def _call(self, messages, *_, **__):
            with httpx2.Client() as client:
                said = client.post(self.address, json={"say": messages[-1].content}).json()
            return said["text"]

    with Loopback(lambda *_: {"text": "Moist."}) as server:
        model = Homemade(responses=[], address=f"{server.url}/v0/mumble")
        assert model.invoke("How is it?", config(recorder)).content == "Moist."
    recorder.close()
    [(request, response)] = calls_on(recorder.path)
    assert request.payload["fidelity"] == {"body": "callback"}
    assert response.payload["derived"]["replies"][0]["text"] == "Moist."


def test_tools_without_ids(recorder):
    """A tool that is run by hand has no id; one whose call the model has just asked for gets it."""
    call = {"name": "read_sensor", "args": {"bed": "b"}, "id": "call_9"}
    GenericFakeChatModel(messages=iter([AIMessage("", tool_calls=[call])])).invoke(
        "Look.", config(recorder)
    )
    made = tool(read_sensor)
    made.invoke({"bed": "b"}, config(recorder))
    made.invoke({"bed": "b"}, config(recorder))
    made.invoke("c", config(recorder))
    recorder.close()
    calls = events_on(recorder.path, TOOL_CALL)
    assert [c.payload["call_id"] for c in calls] == ["call_9", None, None]
    assert [c.payload["arguments"] for c in calls] == [{"bed": "b"}, {"bed": "b"}, {"input": "c"}]
    assert {c.parent for c in calls} == {0}


def test_an_id_is_used_once(recorder):
    """Once LangChain has made a call by its id, a like call is another one."""
    call = {"name": "read_sensor", "args": {"bed": "b"}, "id": "call_9", "type": "tool_call"}
    GenericFakeChatModel(messages=iter([AIMessage("", tool_calls=[call])])).invoke(
        "Look.", config(recorder)
    )
    tool(read_sensor).invoke(call, config(recorder))
    recorder.tool(read_sensor)("b")
    recorder.close()
    calls = events_on(recorder.path, TOOL_CALL)
    assert [c.payload["call_id"] for c in calls] == ["call_9", None]
    assert {c.parent for c in calls} == {0}


@pytest.mark.parametrize("taps_itself", [False, True])
def test_a_tool_whose_arguments_do_not_fit(recorder, taps_itself):
    """It never runs; the call and the error are on the tape all the same."""
    made = tool(recorder.tool(read_sensor) if taps_itself else read_sensor)
    with pytest.raises(Exception, match="bed"):
        made.invoke({"plot": 3}, config(recorder))
    recorder.close()
    [call] = payloads_on(recorder.path, TOOL_CALL)
    [result] = payloads_on(recorder.path, TOOL_RESULT)
    assert call["arguments"] == {"plot": 3}
    assert result["error"]["type"] == "ValidationError"


def test_a_tool_that_records_itself_and_calls_others(recorder):
    """Its event is its own; a recorded function it calls is a call within it."""

    @recorder.tool
    def measure(bed: str) -> str:
        return f"{bed}: moist"

    @tool
    @recorder.tool
    def survey(bed: str) -> dict:
        """Survey a bed."""
        return {"moisture": measure(bed)}

    survey.invoke({"bed": "a"}, config(recorder))
    recorder.close()
    outer, inner = events_on(recorder.path, TOOL_CALL)
    assert (outer.payload["name"], inner.payload["name"]) == ("survey", "measure")
    assert inner.parent == outer.id
    assert place(inner)["run_id"] == place(outer)["run_id"]


def test_a_failure_that_langchain_puts_into_words(recorder):
    """A tool error that became a message is a result that says it is one."""

    @tool
    def probe(bed: str) -> str:
        """Probe a bed."""
        raise ToolException(f"{bed} is too wet")

    probe.handle_tool_error = True
    call = {"name": "probe", "args": {"bed": "a"}, "id": "call_3", "type": "tool_call"}
    probe.invoke(call, config(recorder))
    recorder.close()
    [result] = payloads_on(recorder.path, TOOL_RESULT)
    assert result["result"] == "a is too wet"
    assert result["error"] == {"type": "error", "message": "a is too wet"}


def test_tools_in_threads_of_their_own(recorder):
    """A bare thread started in a tool belongs to the tool when it is bound, else to the run."""

    @recorder.tool
    def note_down(text: str) -> str:
        return text

    @tool
    def scribble(text: str) -> str:
        """Write it down, twice."""
        for work in (recorder.bind(note_down), note_down):
            thread = threading.Thread(target=work, args=(text,))
            thread.start()
            thread.join()
        return "done"

    scribble.invoke({"text": "hm"}, config(recorder))
    recorder.close()
    outer, bound, bare = events_on(recorder.path, TOOL_CALL)
    assert (bound.parent, bare.parent) == (outer.id, 0)
