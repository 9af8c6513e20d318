"""From what the user typed to an event, and from an event to the call that decided it."""

from __future__ import annotations

import pytest

from runtape.attribution.options import Asking
from runtape.decision import DecisionKind
from runtape.dialects.base import ToolCall
from runtape.errors import EventNotFound, NotADecision, UsageError
from runtape.workbench import Trace, find_call, find_decision, find_event, open_trace
from tests.support import greenhouse
from tests.support.tapes import event, open_lines, start

CHAT = {
    "provider": "openai",
    "model": "m-1",
    "api": "chat.completions",
    "endpoint": "https://llm.example/v1",
    "params": {},
    "messages": [{"role": "user", "content": "hello"}],
}


def made(name, id=None, **arguments):  # noqa: A002 - the provider's word
    """A call as a reply of version 1 holds it."""
    return {"id": id, "name": name, "arguments": arguments}


def request(id, **more):  # noqa: A002
    return event(id, "llm_request", payload={**CHAT, **more})


def reply(id, parent, *calls, text=None, **more):  # noqa: A002
    payload = {"text": text, "tool_calls": list(calls), "stop_reason": "stop", **more}
    return event(id, "llm_response", parent=parent, payload=payload)


def tool(id, name, call_id=None, **arguments):  # noqa: A002
    payload = {"name": name, "arguments": arguments, "call_id": call_id}
    return event(id, "tool_call", payload=payload)


def result(id, parent, **payload):  # noqa: A002
    return event(id, "tool_result", parent=parent, payload=payload)


def trace_of(folder, *lines):
    return Trace(open_lines(folder, start(1), *lines))


@pytest.fixture
def v2(tmp_path):
    return open_trace(greenhouse.record(tmp_path))


@pytest.fixture
def v1(tmp_path):
    return open_trace(greenhouse.record_v1(tmp_path))


# ── events ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (0, 0),
        (9, 9),
        ("12", 12),
        (-1, 13),
        ("-4", 10),
        ("last", 10),
        ("tool:get_bed", 3),
        ("tool:order_seeds", 11),
    ],
)
def test_events_are_found(v2, spec, found):
    """Numbers from either end, the last reply, the last call of a tool."""
    assert find_event(v2, spec) == found


def test_a_call_that_stands_only_in_a_reply_is_found_there(v1):
    """No tool event was recorded: the reply that asks for the call is the event."""
    assert find_event(v1, "tool:order_seeds") == 10
    assert find_event(v1, "tool:read_notes") == 7


def test_the_last_call_of_a_tool_wins_wherever_it_stands(tmp_path):
    """A later reply beats an earlier tool event, and a tool event the reply that asked for it."""
    trace = trace_of(
        tmp_path,
        request(1),
        reply(2, 1, made("look", "a")),
        tool(3, "look", "a"),
        request(4),
        reply(5, 4, made("look", "b")),
    )
    assert find_event(trace, "tool:look") == 5


@pytest.mark.parametrize("spec", [99, -99, "tool:delete", "tool:", "error", "first", "tool"])
def test_what_is_not_there_is_refused_with_candidates(v2, spec):
    """Every miss says what there is instead."""
    with pytest.raises(EventNotFound) as raised:
        find_event(v2, spec)
    assert raised.value.path == str(v2.path)
    if spec == "tool:delete":
        assert "get_bed, order_seeds, read_notes" in raised.value.hint


def test_the_last_error_is_found_by_kind(tmp_path):
    """A failed tool, a failed call, or an error event; whichever is last."""
    lines = [
        request(1),
        reply(2, 1, made("look", "a")),
        tool(3, "look", "a"),
        result(4, 3, error={"type": "OSError", "message": "gone"}),
    ]
    assert find_event(trace_of(tmp_path, *lines), "error") == 4
    failed = [*lines, request(5), reply(6, 5, error={"type": "Timeout", "message": "slow"})]
    assert find_event(trace_of(tmp_path, *failed), "error") == 6
    raised = [*failed, event(7, "error", parent=6, payload={"message": "bug"}), event(8, "note")]
    assert find_event(trace_of(tmp_path, *raised), "error") == 7


def test_the_last_reply_is_one_that_says_something(tmp_path):
    """A response that failed is `last` only when there is nothing else."""
    trace = trace_of(
        tmp_path, request(1), reply(2, 1, text="hi"), request(3), reply(4, 3, error={"a": 1})
    )
    assert find_event(trace, "last") == 2
    only = trace_of(tmp_path, request(1), reply(2, 1, error={"type": "Timeout"}))
    assert find_event(only, "last") == 2
    with pytest.raises(EventNotFound, match="No model response"):
        find_event(trace_of(tmp_path, request(1)), "last")
    with pytest.raises(EventNotFound, match="No model response"):
        find_event(trace_of(tmp_path), "last")


# ── the call behind an event ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("spec", [9, 10, 11, 12, "tool:order_seeds", "last"])
def test_every_event_of_a_decision_leads_to_its_call(v2, spec):
    """Request, response, tool call and tool result of one decision have one call behind them."""
    call = find_call(v2, spec)
    assert call.request == 9
    assert call.reply is not None
    assert call.reply.tool_calls == (greenhouse.ORDER,)
    assert call.event == find_event(v2, spec)


def test_a_tool_call_is_traced_by_the_providers_id(tmp_path):
    """The id decides, even when a nearer reply makes the same call."""
    trace = trace_of(
        tmp_path,
        request(1),
        reply(2, 1, made("look", "a", at=1)),
        request(3),
        reply(4, 3, made("look", "b", at=1)),
        tool(5, "look", "a", at=1),
    )
    assert find_call(trace, 5).request == 1


def test_without_an_id_name_and_arguments_decide(tmp_path):
    """The nearest earlier reply with the same call; 1 and 1.0 are the same."""
    trace = trace_of(
        tmp_path,
        request(1),
        reply(2, 1, made("look", at=1), made("look", at=2)),
        request(3),
        reply(4, 3, made("look", at=3)),
        tool(5, "look", at=1.0),
        tool(6, "look", at=3),
    )
    assert find_call(trace, 5).request == 1
    assert find_call(trace, 5).pointed == ToolCall("look", {"at": 1})
    assert find_call(trace, 6).request == 3


def test_arguments_bound_to_a_signature_are_recognised(tmp_path):
    """A tool records its defaults too; the model's call is the one they were added to."""
    trace = trace_of(
        tmp_path,
        request(1),
        reply(2, 1, made("look", at=1)),
        request(3),
        reply(4, 3, made("look", at=2)),
        tool(5, "look", at=1, depth=3),
    )
    assert find_call(trace, 5).request == 1


def test_an_earlier_reply_is_nearer_than_a_later_one(tmp_path):
    """The same call made again later does not take over the first."""
    trace = trace_of(
        tmp_path,
        request(1),
        reply(2, 1, made("look", at=1)),
        tool(3, "look", at=1),
        request(4),
        reply(5, 4, made("look", at=1)),
    )
    assert find_call(trace, 3).request == 1


def test_an_error_event_leads_to_what_failed(tmp_path):
    """An error that belongs to a call is about that call's decision."""
    trace = trace_of(
        tmp_path,
        request(1),
        reply(2, 1, made("look", "a")),
        tool(3, "look", "a"),
        event(4, "error", parent=3, payload={"message": "gone"}),
    )
    assert find_call(trace, "error").request == 1


@pytest.mark.parametrize("spec", [0, 13])
def test_events_without_a_decision_say_where_decisions_are(v2, spec):
    """Nothing was decided there; the model's responses are listed."""
    with pytest.raises(NotADecision) as raised:
        find_call(v2, spec)
    assert "2, 6, 10" in raised.value.hint


def test_a_tool_call_nobody_asked_for_is_no_decision(tmp_path):
    """A tool the agent ran on its own was decided by no model."""
    trace = trace_of(tmp_path, request(1), reply(2, 1, made("look")), tool(3, "sweep", at=1))
    with pytest.raises(NotADecision, match="sweep"):
        find_call(trace, 3)


# ── decisions ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("spec", [9, 10, 11, 12, "tool:order_seeds", "last", -3])
def test_the_decision_is_the_recorded_call(v2, spec):
    """However it is pointed at, one call of one tool is what is explained."""
    decision = find_decision(v2, spec)
    assert (decision.request, decision.kind, decision.tool) == (9, DecisionKind.TOOL, "order_seeds")
    assert decision.calls == (greenhouse.ORDER,)


def test_a_tool_name_picks_one_of_several_calls(tmp_path):
    """`tool:NAME` says which of a reply's calls is meant."""
    trace = trace_of(tmp_path, request(1), reply(2, 1, made("look"), made("send", to="x")))
    assert find_decision(trace, 2).kind is DecisionKind.TOOLS
    picked = find_decision(trace, "tool:send")
    assert (picked.kind, picked.tool) == (DecisionKind.TOOL, "send")
    other = find_decision(trace, "tool:send", Asking(match="look"))
    assert (other.kind, other.pattern) == (DecisionKind.MATCH, "look")


def test_one_of_several_calls_of_a_tool_is_the_one_pointed_at(tmp_path):
    """Two calls of one tool in one reply: the last one is what `tool:NAME` points at."""
    trace = trace_of(
        tmp_path,
        request(1),
        reply(2, 1, made("send", "a", to="x"), made("send", "b", to="y")),
        tool(3, "send", "a", to="x"),
        tool(4, "send", "b", to="y"),
    )
    assert find_decision(trace, "tool:send").calls == (ToolCall("send", {"to": "y"}, "b"),)
    assert find_decision(trace, 3).calls == (ToolCall("send", {"to": "x"}, "a"),)


def test_a_request_without_a_reply_needs_a_name(tmp_path):
    """The trace ends with a request: only the user can say what is to be explained."""
    trace = trace_of(tmp_path, request(1))
    with pytest.raises(NotADecision) as raised:
        find_decision(trace, 1)
    assert "--tool" in raised.value.hint
    named = find_decision(trace, 1, Asking(tool="grant"))
    assert (named.request, named.tool, named.calls) == (1, "grant", ())
    assert find_decision(trace, 1, Asking(match="gr.nt")).kind is DecisionKind.MATCH


def test_words_are_a_decision_too(tmp_path):
    """An answer in words is explained as text, or by a judge."""
    trace = trace_of(tmp_path, request(1), reply(2, 1, text="No, thanks."))
    assert find_decision(trace, "last").kind is DecisionKind.TEXT
    assert find_decision(trace, "last", Asking(judge="m-2")).kind is DecisionKind.JUDGE
    with pytest.raises(UsageError):
        find_decision(trace, "last", Asking(judge="m-2", match="No"))
