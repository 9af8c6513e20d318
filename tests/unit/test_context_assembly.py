"""Bodies put together: what the server held is found on the tape, or the context is incomplete."""

from __future__ import annotations

import pytest

from runtape.context import recorded_reply, remove
from runtape.dialects.base import Reply, Stop, ToolCall, Usage
from runtape.errors import IncompleteContext, NotADecision
from runtape.tape.events import LLM_RESPONSE, NOTE, Event
from tests.support.contexts import Run, chat, read

CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "It is due. Pay now."}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
SEALED = {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "x"}


def said(text):
    """An output message."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": content}


def answer(id, *output):  # noqa: A002 - responses have an id
    """A response document."""
    return {"id": id, "object": "response", "status": "completed", "output": list(output)}


def test_previous_responses_are_folded_into_one_stateless_request(tmp_path):
    """Inputs and outputs of the chain stand in order; thoughts only the server has are left out."""
    run = Run(tmp_path, "openai.responses")
    first = run.request({"model": "m", "input": "Read it.", "instructions": "Be kind."})
    one = run.response(first, answer("resp_1", THOUGHT, SEALED, CALL))
    second = run.request({"model": "m", "previous_response_id": "resp_1", "input": [RESULT]})
    two = run.response(second, answer("resp_2", said("It says pay.")))
    third = run.request({"model": "m", "previous_response_id": "resp_2", "input": "And now?"})
    context = run.context(third)
    assert context.body == {
        "model": "m",
        "input": [
            {"role": "user", "content": "Read it."},
            SEALED,
            CALL,
            RESULT,
            said("It says pay."),
            {"role": "user", "content": "And now?"},
        ],
    }
    assert [(piece.ref, piece.kind.value) for piece in context.roots] == [
        (f"{first}", "user"),
        (f"{second}", "tool_result"),
        (f"{two}", "assistant"),
        (f"{third}", "user"),
    ]
    assert one < second
    edited = context.edited([remove(context.piece(f"{second} sentence 2"))])
    assert edited["input"][3]["output"] == "It is due."


def test_a_thread_is_folded(tmp_path):
    """Anthropic's server-held threads go the same way."""
    run = Run(tmp_path, "anthropic.messages")
    hello = {"role": "user", "content": "Hello."}
    first = run.request({"model": "m", "messages": [hello], "thread": {"type": "create"}})
    text = {"type": "text", "text": "Hi there."}
    document = {"id": "msg_1", "type": "message", "role": "assistant", "content": [text]}
    run.response(first, {**document, "stop_reason": "end_turn", "model": "m"})
    thread = {"type": "continue", "previous_message_id": "msg_1"}
    bye = {"role": "user", "content": "Bye."}
    context = run.context(run.request({"model": "m", "messages": [bye], "thread": thread}))
    assert context.body == {
        "model": "m",
        "messages": [hello, {"role": "assistant", "content": [text]}, bye],
    }


def test_referenced_items_are_put_in(tmp_path):
    """An item_reference becomes the output item it names."""
    run = Run(tmp_path, "openai.responses")
    run.response(run.request({"model": "m", "input": "Read."}), answer("resp_1", CALL))
    reference = {"type": "item_reference", "id": "fc_1"}
    context = run.context(run.request({"model": "m", "input": [reference, RESULT]}))
    assert context.body["input"] == [CALL, RESULT]


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ({"previous_response_id": "resp_9", "input": "Go on."}, "response resp_9"),
        ({"conversation": {"id": "conv_9"}, "input": "Go on."}, "conversation conv_9"),
        ({"input": [{"type": "item_reference", "id": "rs_9"}]}, "item rs_9"),
    ],
)
def test_a_missing_link_is_named(tmp_path, body, missing):
    """What only the server holds makes the context incomplete, and is named."""
    run = Run(tmp_path, "openai.responses")
    event = run.request({"model": "m", **body})
    with pytest.raises(IncompleteContext, match=missing) as caught:
        run.context(event)
    assert caught.value.event == event


def test_a_link_missing_further_back_names_its_event(tmp_path):
    """The event of the error is the request whose link is missing."""
    run = Run(tmp_path, "openai.responses")
    middle = run.request({"model": "m", "previous_response_id": "resp_0", "input": "A."})
    run.response(middle, answer("resp_1", said("B.")))
    last = run.request({"model": "m", "previous_response_id": "resp_1", "input": "C."})
    with pytest.raises(IncompleteContext, match="resp_0") as caught:
        run.context(last)
    assert caught.value.event == middle


def test_only_requests_have_a_context(tmp_path):
    """Another event is refused by the tape."""
    run = Run(tmp_path)
    request = run.request(chat(*read("x")))
    choice = {"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
    response = run.response(request, {"choices": [choice], "model": "m"})
    with pytest.raises(NotADecision):
        run.context(response)


def test_replies_of_both_versions_are_read():
    """A v2 response holds its reply, a v1 response its parts; other events hold none."""
    reply = Reply("Hi.", (ToolCall("f", {"a": 1}, "c1"),), Stop.TOOL_CALLS, usage=Usage(3, 4))
    new = Event(2, 0.0, LLM_RESPONSE, 1, {"derived": {"replies": [reply.to_json()]}})
    assert recorded_reply(new) == reply
    calls = [{"id": "c1", "name": "f", "arguments": {"a": 1}}]
    payload = {"text": "Hi.", "tool_calls": calls, "stop_reason": "tool_calls", "raw": None}
    old = Event(2, 0.0, LLM_RESPONSE, 1, payload, {"tokens": {"input": 3, "output": 4}})
    assert recorded_reply(old) == reply
    assert recorded_reply(Event(3, 0.0, NOTE)) is None


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"derived": {"replies": []}},
        {"derived": {"replies": [{"text": 1}]}},
        {"derived": {"replies": "x"}},
        {"status": 500, "error": {"type": "E", "message": "m"}, "derived": None},
        {"error": {"type": "E"}, "stop_reason": None, "tool_calls": []},
    ],
)
def test_failed_or_damaged_responses_hold_no_reply(payload):
    """None, never an exception."""
    assert recorded_reply(Event(2, 0.0, LLM_RESPONSE, 1, payload)) is None
