"""What is peculiar to the Responses API: its items, its server-held state, its events."""

import json

import pytest

from runtape.dialects import dialect_for
from runtape.dialects.base import REMOVED, SlotKind, Stop, ToolCall, Usage
from runtape.dialects.paths import value_at

RESPONSES = dialect_for("openai.responses")
USER = {"role": "user", "content": "hi"}
CALL = {"type": "function_call", "call_id": "c1", "name": "send", "arguments": '{"to": "b"}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "sent"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}


def asking(*items, **fields):
    return {"model": "m", "input": list(items), **fields}


def found(body):
    return [(slot.kind.value, value_at(body, slot.path)) for slot in RESPONSES.slots(body)]


def answer(*output, **fields):
    [reply] = RESPONSES.replies({"object": "response", "output": list(output), **fields})
    return reply


def says(text, kind="output_text"):
    key = "refusal" if kind == "refusal" else "text"
    return {"type": "message", "role": "assistant", "content": [{"type": kind, key: text}]}


def test_plain_string_input():
    """A plain string is the one user message; emptied it is filled, for the API wants input."""
    body = {"model": "m", "input": "hi", "instructions": "be brief"}
    assert found(body) == [("system", "be brief"), ("user", "hi")]
    assert RESPONSES.slots(body)[1].message == 0
    assert RESPONSES.without(body, ("input",))["input"] == REMOVED


def test_slots_of_every_kind_of_item():
    """Messages, results in all their shapes, calls of MCP servers; nothing of reasoning."""
    body = asking(
        {
            "type": "message",
            "role": "developer",
            "content": [{"type": "input_text", "text": "rules"}],
        },
        {"role": "user", "content": [{"type": "input_file", "file_id": "f"}]},
        REASONING,
        says("hello"),
        says("never", "refusal"),
        {"type": "custom_tool_call", "call_id": "x", "name": "sql", "input": "select 1"},
        {
            "type": "custom_tool_call_output",
            "call_id": "x",
            "output": [{"type": "input_text", "text": "1"}],
        },
        {"type": "mcp_call", "id": "m", "name": "lookup", "arguments": "{}1", "output": "page"},
        {"type": "file_search_call", "id": "s", "queries": ["q"], "results": [{"text": "hit"}]},
        {"type": "code_interpreter_call", "id": "i", "code": "1", "outputs": [{"logs": "log"}]},
        {"type": "shell_call", "call_id": "sh", "action": {"commands": ["ls"]}},
        {
            "type": "shell_call_output",
            "call_id": "sh",
            "output": [{"stdout": "out", "stderr": "err"}],
        },
        {"type": "local_shell_call", "call_id": "ls", "action": {"command": ["ls"]}},
        {"type": "local_shell_call_output", "id": "ls", "output": "files"},
        {"type": "apply_patch_call_output", "call_id": "p", "output": "patched"},
        {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot"}},
        {"type": "image_generation_call", "id": "g", "result": "iVBO"},
        {"type": "program_output", "call_id": "po", "result": "42"},
        {"type": "compaction", "encrypted_content": "gAAA"},
    )
    assert [pair for pair in found(body) if pair[0] != "media"] == [
        ("system", "rules"),
        ("assistant", "hello"),
        ("assistant", "never"),
        ("tool_call", "select 1"),
        ("tool_result", "1"),
        ("tool_call", "{}1"),
        ("tool_result", "page"),
        ("tool_result", "hit"),
        ("tool_result", "log"),
        ("tool_result", "out"),
        ("tool_result", "err"),
        ("tool_result", "files"),
        ("tool_result", "patched"),
        ("tool_result", "42"),
    ]
    media = [slot.path for slot in RESPONSES.slots(body) if slot.kind is SlotKind.MEDIA]
    assert media == [("input", 1, "content", 0), ("input", 16)]
    names = [s.name for s in RESPONSES.slots(body) if s.kind is SlotKind.TOOL_RESULT]
    assert names[:2] == ["sql", "lookup"]
    assert "shell" in names
    assert "local_shell" in names


def test_tool_definitions_wherever_they_stand():
    """Functions, custom tools, namespaces and MCP servers, in `tools` and among the items."""
    listed = {"name": "lookup", "description": "Looks up.", "input_schema": {"description": "top"}}
    function = {"type": "function", "name": "f", "description": "F.", "parameters": None}
    namespace = {"type": "namespace", "name": "crm", "description": "CRM.", "tools": [function]}
    body = asking(
        {"type": "mcp_list_tools", "id": "l", "server_label": "docs", "tools": [listed]},
        {"type": "additional_tools", "role": "developer", "tools": [function]},
        {"type": "tool_search_output", "call_id": "t", "tools": [namespace]},
        USER,
        tools=[
            {"type": "custom", "name": "sql", "description": "SQL."},
            {
                "type": "mcp",
                "server_label": "docs",
                "server_description": "Docs.",
                "server_url": "u",
            },
            namespace,
            {"type": "web_search"},
        ],
    )
    texts = [v for kind, v in found(body) if kind == "tool_definition"]
    assert texts == ["Looks up.", "top", "F.", "CRM.", "F.", "SQL.", "Docs.", "CRM.", "F."]
    names = [s.name for s in RESPONSES.slots(body) if s.kind is SlotKind.TOOL_DEFINITION]
    assert names == ["lookup", "lookup", "f", "crm", "f", "sql", "docs", "crm", "f"]
    assert RESPONSES.repaired(body) is body


def test_calls_of_every_kind():
    """Every call of the model is listed, also those that the server ran."""
    body = asking(
        CALL,
        {"type": "custom_tool_call", "call_id": "x", "name": "sql", "input": "1"},
        {"type": "mcp_call", "id": "m", "name": "lookup", "arguments": '{"q": 1}'},
        {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "q"}},
        {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}},
    )
    assert RESPONSES.tool_calls(body) == [
        ToolCall("send", {"to": "b"}, "c1"),
        ToolCall("sql", "1", "x"),
        ToolCall("lookup", {"q": 1}, "m"),
        ToolCall("web_search", {"type": "search", "query": "q"}, "w"),
        ToolCall("shell", {"commands": ["ls"]}, "s"),
    ]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (asking(USER, previous_response_id="resp_1"), "previous_response_id"),
        (asking(USER, conversation={"id": "conv_1"}), "conversation"),
        (asking({"type": "item_reference", "id": "msg_1"}, USER), "item_reference"),
        (asking(USER, previous_response_id=None, store=True), None),
    ],
)
def test_server_held(body, field):
    """State that only the server has is named."""
    assert RESPONSES.server_held(body) == field


def test_server_held_pairs_are_left_alone():
    """A result may answer a call that only the server remembers."""
    body = asking(OUTPUT, previous_response_id="resp_1")
    assert RESPONSES.repaired(body) is body
    assert RESPONSES.repaired(asking(previous_response_id="resp_1"))["input"] == []


@pytest.mark.parametrize(
    "body",
    [
        asking(USER, REASONING, CALL, OUTPUT),
        asking(USER, CALL, {**OUTPUT, "output": ""}),
        asking(USER, {**CALL, "arguments": ""}, OUTPUT),
        asking(USER, {**REASONING, "content": []}, says("x"), USER),
        asking({"type": "additional_tools", "role": "developer", "tools": []}, USER),
        asking(prompt={"id": "pmpt_1"}),
        {"model": "m", "input": "hi", "instructions": None},
        {"model": "m", "prompt": {"id": "pmpt_1"}},
    ],
)
def test_valid_oddities_are_left_alone(body):
    """What agents really send is not touched."""
    assert RESPONSES.repaired(body) is body


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [
        (asking(), asking({"role": "user", "content": REMOVED})),
        (asking({**USER, "content": []}), asking({**USER, "content": REMOVED})),
        (
            asking(USER, says("")),
            asking(
                USER,
                says("")
                | {"content": [{"type": "output_text", "text": REMOVED, "annotations": []}]},
            ),
        ),
        (asking(USER, OUTPUT), asking(USER)),
        (
            asking(USER, REASONING, CALL),
            asking(USER, REASONING, CALL, {**OUTPUT, "output": REMOVED}),
        ),
        (
            asking(USER, CALL, {**OUTPUT, "output": [{"type": "input_text", "text": ""}]}),
            asking(USER, CALL, {**OUTPUT, "output": REMOVED}),
        ),
    ],
)
def test_repairs(broken, repaired):
    """Empty content is filled, pairs are made whole."""
    assert RESPONSES.repaired(broken) == repaired


def test_reasoning_goes_with_the_item_it_led_to():
    """The API refuses reasoning without its following item."""
    body = asking(USER, REASONING, CALL, OUTPUT, USER)
    assert RESPONSES.without(body, ("input", 2)) == asking(USER, USER)
    parallel = asking(USER, REASONING, CALL, {**CALL, "call_id": "c2"}, {**OUTPUT, "call_id": "c2"})
    kept = RESPONSES.without(parallel, ("input", 2))
    assert kept == asking(USER, REASONING, {**CALL, "call_id": "c2"}, {**OUTPUT, "call_id": "c2"})
    with pytest.raises(LookupError):
        RESPONSES.without(body, ("input", 9))


def test_reasoning_survives_edits():
    """Reasoning and encrypted items are the same objects after any edit of other items."""
    body = asking(USER, REASONING, CALL, OUTPUT)
    for slot in RESPONSES.slots(body):
        assert RESPONSES.without(body, slot.path)["input"][1] is REASONING


def test_system_messages_among_the_items():
    """Without instructions, leading system items are the system prompt."""
    body = asking({"role": "developer", "content": "a"}, USER)
    appended = RESPONSES.with_system(body, "b", append=True)
    assert appended == asking({"role": "developer", "content": "a\n\nb"}, USER)
    assert RESPONSES.with_system(body, "b", append=False) == asking(USER, instructions="b")
    assert RESPONSES.with_system({"input": "x"}, "b", append=True) == {
        "input": "x",
        "instructions": "b",
    }


def test_reruns_are_not_stored():
    """Reruns are neither stored nor in the background; what the caller wants included stays."""
    body = asking(USER, store=True, background=True, include=["reasoning.encrypted_content"])
    rerun = RESPONSES.rerun_body(body, n=3)
    assert rerun == asking(USER, store=False, include=["reasoning.encrypted_content"])
    assert RESPONSES.rerun_body(asking(USER))["store"] is False


def test_reruns_that_lean_on_the_store():
    """Reasoning known by its id alone is looked up in the store that the request must then have."""
    leaning = {"type": "reasoning", "id": "rs_1", "summary": []}
    body = asking(USER, leaning, CALL, OUTPUT)
    assert RESPONSES.rerun_body(body) == body
    assert RESPONSES.rerun_body({**body, "store": False})["store"] is False
    assert RESPONSES.rerun_body(asking(USER, REASONING, CALL, OUTPUT))["store"] is False


def test_replies():
    """Text of all messages, calls of all kinds, usage, model."""
    usage = {"input_tokens": 9, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4}}
    reply = answer(
        REASONING, says("a"), says("b"), CALL, status="completed", usage=usage, model="m"
    )
    assert (reply.text, reply.stop, reply.model) == ("ab", Stop.TOOL_CALLS, "m")
    assert reply.tool_calls == (ToolCall("send", {"to": "b"}, "c1"),)
    assert reply.usage == Usage(9, 5, 4)


@pytest.mark.parametrize(
    ("output", "fields", "stop"),
    [
        ([says("a")], {"status": "completed"}, Stop.END),
        ([says("a")], {}, Stop.END),
        ([says("no", "refusal")], {"status": "completed"}, Stop.REFUSAL),
        (
            [CALL],
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            Stop.LENGTH,
        ),
        (
            [],
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            Stop.REFUSAL,
        ),
        ([says("a")], {"status": "in_progress"}, Stop.OTHER),
        ([], {"status": "cancelled"}, Stop.OTHER),
        ([{"type": "web_search_call", "id": "w"}, says("a")], {"status": "completed"}, Stop.END),
        ([{"type": "mcp_approval_request", "name": "f"}], {"status": "completed"}, Stop.TOOL_CALLS),
    ],
)
def test_stops(output, fields, stop):
    """Why a response ended; calls that the server ran itself do not end it."""
    assert answer(*output, **fields).stop is stop


def test_failed_responses():
    """A failed response is an error, and says which."""
    failed = {"object": "response", "status": "failed", "output": [], "error": {"message": "boom"}}
    with pytest.raises(ValueError, match="boom"):
        RESPONSES.replies(failed)


# ---------------------------------------------------------------- streams


def fold(*events):
    return RESPONSES.fold("".join(f"data: {json.dumps(event)}\n\n" for event in events))


def begun(index, item):
    return {"type": "response.output_item.added", "output_index": index, "item": item}


CREATED = {"type": "response.created", "response": {"status": "in_progress", "output": []}}


def test_partial_items():
    """A cut stream keeps what was built up: custom input, annotations, reasoning text."""
    custom = {"type": "custom_tool_call", "call_id": "x", "name": "sql", "input": ""}
    text = {"type": "output_text", "text": "", "annotations": []}
    where = {"output_index": 1, "content_index": 0}
    folded = fold(
        CREATED,
        begun(0, custom),
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": "sel"},
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": "ect"},
        begun(1, {"type": "message", "role": "assistant", "content": []}),
        {"type": "response.content_part.added", **where, "part": text},
        {"type": "response.output_text.delta", **where, "delta": "so"},
        {"type": "response.output_text.annotation.added", **where, "annotation": {"url": "u"}},
        {"type": "response.output_text.delta", "output_index": 7, "delta": "nowhere"},
    )
    assert not folded.terminal
    assert folded.response["output"] == [
        {**custom, "input": "select"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{**text, "text": "so", "annotations": [{"url": "u"}]}],
        },
    ]
    [reply] = RESPONSES.replies(folded.response)
    assert (reply.text, reply.stop) == ("so", Stop.OTHER)


def test_failing_streams():
    """A failed response is terminal and carries its error; an error event is kept beside it."""
    error = {"code": "server_error", "message": "boom"}
    failed = {"status": "failed", "output": [], "error": error}
    folded = fold(CREATED, {"type": "response.failed", "response": failed})
    assert folded.terminal
    assert folded.response == failed
    event = {"type": "error", "code": "x", "message": "boom", "param": None}
    folded = fold(CREATED, event)
    assert (folded.error, folded.terminal) == (event, False)
