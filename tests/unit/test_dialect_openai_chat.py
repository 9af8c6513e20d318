"""What is peculiar to chat completions and the servers that imitate them."""

import json

import pytest

from runtape.dialects import dialect_for
from runtape.dialects.base import REMOVED, SlotKind, Stop, ToolCall, Usage
from runtape.dialects.paths import value_at

CHAT = dialect_for("openai.chat")
CALL = {"id": "c1", "type": "function", "function": {"name": "send", "arguments": '{"to": "b"}'}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "sent"}
USER = {"role": "user", "content": "hi"}


def asking(*messages, **fields):
    return {"model": "m", "messages": list(messages), **fields}


def calling(*calls, content=None, **fields):
    return {"role": "assistant", "content": content, "tool_calls": list(calls), **fields}


def found(body):
    return [(slot.kind.value, value_at(body, slot.path)) for slot in CHAT.slots(body)]


def answer(message, finish="stop", **fields):
    choice = {"index": 0, "message": message, "finish_reason": finish}
    [reply] = CHAT.replies({"choices": [choice], **fields})
    return reply


def test_slots_of_every_kind_of_message():
    """Developer messages, parts, refusals, audio, files, custom calls, the legacy function role."""
    body = asking(
        {"role": "developer", "content": [{"type": "text", "text": "rules"}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
                {"type": "file", "file": {"file_id": "f"}},
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "no"}, {"type": "refusal", "refusal": "never"}],
            "refusal": "really",
            "reasoning_content": "thoughts",
        },
        {"role": "assistant", "content": None, "audio": {"id": "audio_1"}},
        calling({"id": "x", "type": "custom", "custom": {"name": "shell", "input": "ls"}}),
        {"role": "tool", "tool_call_id": "x", "content": [{"type": "text", "text": "files"}]},
        {"role": "assistant", "content": "", "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "function", "name": "old", "content": "done"},
        functions=[{"name": "old", "description": "An old one.", "parameters": {}}],
        tools=[{"type": "custom", "custom": {"name": "shell", "description": "A shell."}}],
    )
    media = [value for kind, value in found(body) if kind == "media"]
    assert [kind for kind, _ in found(body)].count("media") == 3
    assert media[2] == {"id": "audio_1"}
    assert [pair for pair in found(body) if pair[0] != "media"] == [
        ("system", "rules"),
        ("user", "look"),
        ("assistant", "no"),
        ("assistant", "never"),
        ("assistant", "really"),
        ("tool_call", "ls"),
        ("tool_result", "files"),
        ("tool_call", "{}"),
        ("tool_result", "done"),
        ("tool_definition", "A shell."),
        ("tool_definition", "An old one."),
    ]
    names = [s.name for s in CHAT.slots(body) if s.kind is SlotKind.TOOL_RESULT]
    assert names == ["shell", "old"]
    assert CHAT.tool_calls(body) == [ToolCall("shell", "ls", "x"), ToolCall("old", {})]


def test_results_are_named_by_the_latest_call_of_their_id():
    """Local servers number calls from zero in every turn."""
    other = {**CALL, "function": {"name": "look", "arguments": "{}"}}
    body = asking(USER, calling(CALL), RESULT, calling(other), RESULT)
    results = [s for s in CHAT.slots(body) if s.kind is SlotKind.TOOL_RESULT]
    assert [slot.name for slot in results] == ["send", "look"]
    assert CHAT.repaired(body) is body


def test_schema_descriptions():
    """Descriptions at any depth are found, values and parameters of that name are not mistaken."""
    schema = {
        "type": "object",
        "description": "top",
        "properties": {
            "description": {"type": "string", "description": "named so"},
            "mode": {"enum": ["a"], "default": {"description": "a value"}, "description": "mode"},
            "list": {"type": "array", "items": {"anyOf": [{"description": "deep"}]}},
        },
        "$defs": {"X": {"description": "shared"}},
    }
    function = {"name": "f", "parameters": schema}
    body = asking(USER, tools=[{"type": "function", "function": function}])
    assert [v for _, v in found(body)[1:]] == ["top", "named so", "mode", "deep", "shared"]


@pytest.mark.parametrize(
    "body",
    [
        asking({"role": "user", "content": ""}),
        asking(USER, {"role": "assistant", "content": ""}, USER),
        asking(USER, calling(CALL), RESULT),
        asking(USER, calling(CALL, content=""), {**RESULT, "content": ""}, USER),
        asking(USER, {"role": "assistant", "tool_calls": [CALL]}, RESULT),
        asking(USER, {"role": "assistant", "content": None, "refusal": "no"}, USER),
        asking(USER, {"role": "assistant", "content": "x", "tool_calls": None}, USER),
        asking({"role": "function", "name": "old", "content": None}),
        asking(USER, calling({**CALL, "function": {"name": "f", "arguments": '{"broken'}}), RESULT),
        asking(USER, calling({**CALL, "function": {"name": "f", "arguments": ""}}), RESULT),
        {"model": "m", "prompt": "not a chat"},
    ],
)
def test_valid_oddities_are_left_alone(body):
    """What agents really send is not touched."""
    assert CHAT.repaired(body) is body


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [
        (asking(), asking({"role": "user", "content": REMOVED})),
        (asking({"role": "user", "content": []}), asking({"role": "user", "content": REMOVED})),
        (asking({"role": "user", "content": None}), asking({"role": "user", "content": REMOVED})),
        (
            asking({"role": "user", "content": [{"type": "text", "text": ""}, {"type": "file"}]}),
            asking({"role": "user", "content": [{"type": "file"}]}),
        ),
        (
            asking(USER, {"role": "assistant", "content": None}),
            asking(USER, {"role": "assistant", "content": REMOVED}),
        ),
        (
            asking(USER, calling(CALL, content=[{"type": "text", "text": ""}]), RESULT),
            asking(USER, calling(CALL), RESULT),
        ),
        (asking(USER, calling(content="x")), asking(USER, {"role": "assistant", "content": "x"})),
        (asking(USER, RESULT), asking(USER)),
        (
            asking(USER, calling(CALL), USER),
            asking(USER, calling(CALL), {**RESULT, "content": REMOVED}, USER),
        ),
    ],
)
def test_repairs(broken, repaired):
    """Empty content is dropped or filled, pairs are made whole."""
    assert CHAT.repaired(broken) == repaired


def test_deleted_call_takes_its_result_along():
    """A call deleted from its message leaves no result behind; its sibling keeps its own."""
    second = {**CALL, "id": "c2"}
    body = asking(USER, calling(CALL, second), RESULT, {**RESULT, "tool_call_id": "c2"})
    shorter = CHAT.without(body, ("messages", 1, "tool_calls", 0))
    assert shorter == asking(USER, calling(second), {**RESULT, "tool_call_id": "c2"})
    alone = CHAT.without(asking(USER, calling(CALL), RESULT), ("messages", 1, "tool_calls", 0))
    assert alone == asking(USER, {"role": "assistant", "content": REMOVED})


def test_reruns_are_not_stored():
    """Without `store` OpenAI refuses `metadata`; a seed goes too, `n` is what was asked for."""
    body = asking(USER, store=True, metadata={"a": "b"}, top_p=1, seed=7, n=4)
    assert CHAT.rerun_body(body) == asking(USER, top_p=1)
    assert CHAT.rerun_body(body, n=2) == asking(USER, top_p=1, n=2)
    assert CHAT.rerun_body(asking(USER, metadata={"a": "b"})) == asking(USER, metadata={"a": "b"})
    assert CHAT.rerun_body(asking(USER, stream=True)) == asking(USER, stream=False)


def test_later_system_messages_stay():
    """Only the system messages before all others are the system prompt."""
    body = asking({"role": "system", "content": "a"}, USER, {"role": "system", "content": "b"})
    new = CHAT.with_system(body, "c", append=False)
    assert [m["content"] for m in new["messages"]] == ["c", "hi", "b"]


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", Stop.END),
        ("eos", Stop.END),
        ("length", Stop.LENGTH),
        ("content_filter", Stop.REFUSAL),
        ("tool_calls", Stop.END),
        ("insufficient_system_resource", Stop.OTHER),
        (None, Stop.OTHER),
    ],
)
def test_finish_reasons(finish, stop):
    """Finish reasons are mapped; "tool_calls" without a call is none."""
    assert answer({"role": "assistant", "content": "x"}, finish).stop is stop


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "function_call", "weird"])
def test_calls_whatever_the_finish_reason(finish):
    """A reply with whole calls calls, however the server words its end."""
    assert answer(calling(CALL), finish).stop is Stop.TOOL_CALLS


def test_cut_calls_stay_cut():
    """Calls cut by the token limit are no calls to count; a null reason means unknown."""
    assert answer(calling(CALL), "length").stop is Stop.LENGTH
    assert answer(calling(CALL), None).stop is Stop.OTHER


def test_tolerated_answers():
    """Null calls, arguments as an object, content parts, hidden reasoning, no usage."""
    reply = answer({"role": "assistant", "content": "x", "tool_calls": None, "reasoning": "hm"})
    assert (reply.text, reply.tool_calls, reply.usage) == ("x", (), Usage())
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts = [thinking, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert answer({"role": "assistant", "content": parts}).text == "ab"
    function = {"name": "f", "arguments": {"a": 1}}
    assert answer({"tool_calls": [{"function": function}]}).tool_calls == (ToolCall("f", {"a": 1}),)
    for arguments, parsed in (("", {}), (None, {}), ("{bad", "{bad")):
        function = {"name": "f", "arguments": arguments}
        assert answer({"tool_calls": [{"function": function}]}).tool_calls[0].arguments == parsed


def test_calls_written_as_text_stay_text():
    """A call that a weak model writes into its text is not turned into one here."""
    text = '{"name": "send", "arguments": {}}'
    reply = answer({"role": "assistant", "content": text})
    assert (reply.text, reply.tool_calls, reply.stop) == (text, (), Stop.END)


def test_refusals_and_usage():
    """A refusal is its own end; cached tokens are a part of the prompt's."""
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    reply = answer({"content": None, "refusal": "No."}, usage=usage, model="gpt-x")
    assert (reply.refusal, reply.stop, reply.text) == ("No.", Stop.REFUSAL, None)
    assert (reply.usage, reply.model) == (Usage(9, 2, 4), "gpt-x")
    part = {"content": [{"type": "refusal", "refusal": "No."}]}
    assert answer(part).refusal == "No."


def test_legacy_function_call():
    """The single call of old models is a tool call without an id."""
    reply = answer({"content": None, "function_call": {"name": "f", "arguments": "{}"}})
    assert reply.tool_calls == (ToolCall("f", {}),)
    assert reply.stop is Stop.TOOL_CALLS


# ---------------------------------------------------------------- streams of other servers


def fold(*deltas, finish="stop", **fields):
    chunks = [{"choices": [{"index": 0, "delta": delta}], **fields} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], **fields})
    text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    [reply] = CHAT.replies(CHAT.fold(text).response)
    return reply


def part(name=None, arguments="", **fields):
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"tool_calls": [{"function": function, **fields}]}


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param(
            [part("f", "{", id="a"), part(arguments="}"), part("g", "{}", id="b")], id="no index"
        ),
        pytest.param(
            [part("f", "{}", index=0, id="a"), part("g", "{}", index=0, id="b")], id="0, 0"
        ),
        pytest.param(
            [
                part("f", "{", index=0, id="a"),
                part("f", "}", index=0, id="a"),
                part("g", "{}", index=1, id="b"),
            ],
            id="all repeated",
        ),
        pytest.param(
            [
                {
                    "tool_calls": part("f", "{}", id="a")["tool_calls"]
                    + part("g", "{}", id="b")["tool_calls"]
                }
            ],
            id="one chunk",
        ),
        pytest.param(
            [
                part("f", "{", index=0, id="a"),
                part("g", "{}", index=1, id="b"),
                part(arguments="}", index=0),
            ],
            id="interleaved",
        ),
        pytest.param(
            [
                part("f", "{", index=1, id="a"),
                part(arguments="}", index=1, id=""),
                part("g", "{}", index=2, id="b"),
            ],
            id="from one",
        ),
    ],
)
def test_call_deltas(deltas):
    """Calls are told apart by whatever the server gives."""
    assert fold(*deltas).tool_calls == (ToolCall("f", {}, "a"), ToolCall("g", {}, "b"))


def test_calls_without_ids():
    """Where there are neither ids nor indices a name begins a call."""
    assert fold(part("f", "{}"), part("g", '{"a"'), part(arguments=": 1}")).tool_calls == (
        ToolCall("f", {}),
        ToolCall("g", {"a": 1}),
    )


def test_whole_message_in_one_event():
    """A server that ignores `stream` but speaks SSE sends the message at once."""
    document = {
        "choices": [{"index": 0, "message": calling(CALL, content="x"), "finish_reason": "stop"}]
    }
    folded = CHAT.fold(f"data: {json.dumps(document)}\n\ndata: [DONE]\n\n")
    [reply] = CHAT.replies(folded.response)
    assert (reply.text, reply.tool_calls) == ("x", (ToolCall("send", {"to": "b"}, "c1"),))


def test_content_in_parts():
    """Deltas may bring parts between strings; reasoning among them is not the answer."""
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
    parts = [{"type": "text", "text": "b"}, {"type": "reference", "reference_ids": [1]}]
    reply = fold({"content": thinking}, {"content": "a"}, {"content": parts}, {"content": "c"})
    assert reply.text == "abc"


def test_running_usage():
    """Usage repeated in every chunk is the last one's, and null does not wipe it out."""
    chunks = [
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": n}} for n in (1, 2)
    ]
    chunks += [{"choices": [{"index": 0, "delta": {"content": "x"}}], "usage": None}]
    text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    assert CHAT.replies(CHAT.fold(text).response)[0].usage == Usage(1, 2)


def test_nothing_folds_to_nothing():
    """An empty stream has no response, and a stream without an end marker no end."""
    assert CHAT.fold("").response == {}
    assert not CHAT.fold("").terminal
