"""LangGraph agents are recorded whole: bytes from the wire, structure from LangChain."""

from __future__ import annotations

import json
from functools import cache

import pytest

from runtape.playback import Replayer
from runtape.recording import record
from runtape.tape.events import LLM_REQUEST, TOOL_CALL, TOOL_RESULT
from runtape.tape.reader import Tape
from tests.support.agents import NOWHERE, Bench, gardener, run
from tests.support.loopback import Loopback
from tests.support.recorded import API_KEY, calls_on, events_on, sent_on

pytest.importorskip("langgraph", reason="langgraph is not installed")
pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")

from tests.support import graphs


def case(name):
    """A case's agent; skipped where its model's package is missing."""
    if name.endswith("anthropic"):
        pytest.importorskip("langchain_anthropic", reason="langchain-anthropic is not installed")
    return graphs.CASES[name]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Records a case, once: what the agent returned, the tape, what arrived at the server."""

    @cache
    def record_case(name):
        with Loopback(gardener) as server, record(dir=tmp_path_factory.mktemp(name)) as recorder:
            result = run(case(name), Bench(server.url, recorder))
        assert recorder.faults == 0
        return result, recorder.path, [request.raw for request in server.requests]

    return record_case


def place(event):
    """Where in LangChain an event belongs."""
    return event.payload["scope"]["langchain"]


@pytest.mark.parametrize("name", graphs.CASES)
def test_an_agent_runs_as_if_nobody_listened(name, recorded):
    """Its result is the same, and each call that reached the wire is on the tape once, exactly."""
    agent = case(name)
    with Loopback(gardener) as server:
        alone = run(agent, Bench(server.url))
    result, path, arrived = recorded(name)
    assert result == alone
    assert sorted(sent_on(path)) == sorted(arrived)
    calls = calls_on(path)
    assert {request.payload["fidelity"] == {} for request, _ in calls} == {True}
    assert {response.payload["terminal"] for _, response in calls} == {True}
    assert len({place(request)["run_id"] for request, _ in calls}) == len(calls)
    assert API_KEY.encode() not in path.read_bytes()


@pytest.mark.parametrize("name", graphs.CASES)
def test_an_agent_is_replayed(name, recorded):
    """From the tape alone, where no server is, the agent comes to the same result."""
    result, path, _ = recorded(name)
    with Replayer(Tape.open(path)) as replayer:
        assert run(case(name), Bench(NOWHERE, replayer)) == result
    assert replayer.unused == []


@pytest.mark.parametrize("name", [n for n in graphs.CASES if n not in ("nested", "delegating")])
def test_nodes_and_steps(name, recorded):
    """Each model call and each tool call knows its node, its step and the run it is part of."""
    _, path, _ = recorded(name)
    for event in events_on(path, LLM_REQUEST, TOOL_CALL):
        where = place(event)
        is_model = event.type == LLM_REQUEST
        assert where["node"] == ("agent" if is_model else "tools")
        assert where["step"] % 2 == (1 if is_model else 0)
        assert where["root_run_id"] != where["parent_run_id"] != where["run_id"]


@pytest.mark.parametrize("name", graphs.CASES)
def test_tools_by_the_models_ids(name, recorded):
    """Each call the model asked for is on the tape once, under its id, with its result."""
    _, path, _ = recorded(name)
    asked = {}
    for _, response in calls_on(path):
        for call in response.payload["derived"]["replies"][0]["tool_calls"]:
            asked[call["id"]] = (call["name"], call["arguments"])
    calls = {e.payload["call_id"]: e for e in events_on(path, TOOL_CALL)}
    made = {
        call_id: (
            e.payload["name"],
            {k: v for k, v in e.payload["arguments"].items() if k != "minutes"},
        )
        for call_id, e in calls.items()
        if call_id != "call_out"
    }
    assert made == asked
    assert len(calls) == len(events_on(path, TOOL_CALL))
    results = events_on(path, TOOL_RESULT)
    assert sorted(e.parent for e in results) == sorted(e.id for e in calls.values())
    assert all(e.meta["latency_ms"] >= 0 for e in results)


@pytest.mark.parametrize("name", ["batch", "gather"])
def test_agents_at_once_are_told_apart(name, recorded):
    """Three runs of one graph at once: what belongs to a run has its root id, and only that."""
    _, path, _ = recorded(name)
    beds = {}
    for event in events_on(path, TOOL_CALL):
        beds.setdefault(place(event)["root_run_id"], set()).add(event.payload["arguments"]["bed"])
    assert sorted(map(sorted, beds.values())) == [["a", "b"], ["c", "d"], ["e", "f"]]
    texts = {}
    for (request, _), sent in zip(calls_on(path), sent_on(path), strict=True):
        task = json.loads(sent)["messages"][1]["content"]
        texts.setdefault(place(request)["root_run_id"], set()).add(task)
    assert [len(tasks) for tasks in texts.values()] == [1, 1, 1]
    assert texts.keys() == beds.keys()


def test_a_graph_in_a_graph(recorded):
    """Calls of the inner graph know the path to it; a plain SDK call in a node knows its node."""
    _, path, _ = recorded("nested")
    first, *others = [place(request) for request, _ in calls_on(path)]
    assert first["node"] == first["name"] == "ponder"
    assert {where["node"] for where in others} == {"agent"}
    assert all(where["checkpoint_ns"].startswith("garden:") for where in others)
    assert {where["root_run_id"] for where in others} == {first["root_run_id"]}


def test_an_agent_as_a_tool(recorded):
    """What happens within a tool call has that call for its parent; the rest has the run."""
    _, path, _ = recorded("delegating")
    outer, *inner = events_on(path, TOOL_CALL)
    assert outer.payload["name"] == "look_after"
    assert outer.parent == 0
    assert {event.parent for event in inner} == {outer.id}
    assert {request.parent for request, _ in calls_on(path)} == {outer.id}
    assert {place(request)["tool_call_id"] for request, _ in calls_on(path)} == {"call_out"}
    last = events_on(path, TOOL_RESULT)[-1]
    assert (last.parent, last.payload["result"]) == (
        outer.id,
        "Watered bed b — the others are fine.",
    )


def test_a_tool_that_fails(recorded):
    """The exception stands on the result, and once: the graph dealt with it."""
    _, path, _ = recorded("failing")
    errors = [e.payload["error"] for e in events_on(path, TOOL_RESULT) if e.payload["error"]]
    assert [(error["type"], error["message"]) for error in errors] == [
        ("RuntimeError", "the valve is stuck")
    ]
    assert events_on(path, "error") == []


@pytest.mark.parametrize("name", ["tapped", "tapped-async"])
def test_a_tool_that_records_itself(name, recorded):
    """One call, one event: arguments as the function got them, and its own result, restorable."""
    _, path, _ = recorded(name)
    calls = {e.id: e for e in events_on(path, TOOL_CALL)}
    [watered] = [e for e in events_on(path, TOOL_RESULT) if e.payload["name"] == "open_valve"]
    assert watered.payload["result"] == {"bed": "b", "litres": 10}
    call = calls[watered.parent]
    assert call.payload["arguments"] == {"bed": "b", "minutes": 5}
    assert call.payload["call_id"] == place(call)["tool_call_id"] == "call_water_b"
