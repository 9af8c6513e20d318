"""What is peculiar to Anthropic messages: blocks, turns, prefill, signed content, events."""

import json

import pytest

from runtape.dialects import dialect_for
from runtape.dialects.base import REMOVED, SlotKind, Stop, ToolCall, Usage
from runtape.dialects.paths import replaced_at, value_at

ANTHROPIC = dialect_for("anthropic.messages")
USER = {"role": "user", "content": "hi"}
CALL = {"type": "tool_use", "id": "t1", "name": "send", "input": {"to": "b"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "sent"}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "EqQB"}
IMAGE = {"type": "image", "source": {"type": "url", "url": "u"}}


def text(words, **fields):
    return {"type": "text", "text": words, **fields}


def asking(*messages, **fields):
    return {"model": "m", "max_tokens": 9, "messages": list(messages), **fields}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def found(body):
    return [(slot.kind.value, value_at(body, slot.path)) for slot in ANTHROPIC.slots(body)]


def answer(*content, **fields):
    [reply] = ANTHROPIC.replies({"type": "message", "content": list(content), **fields})
    return reply


def test_slots_of_every_kind_of_block():
    """Documents, search results, results of tools run here or there; nothing signed."""
    fetched = {
        "type": "web_fetch_result",
        "url": "u",
        "content": {"type": "document", "source": {"type": "text", "data": "fetched"}},
    }
    body = asking(
        user(
            text("words"),
            IMAGE,
            {"type": "document", "source": {"type": "base64", "data": "JVBE"}, "title": "a title"},
            {
                "type": "document",
                "source": {"type": "text", "data": "plain"},
                "context": "its context",
            },
            {"type": "document", "source": {"type": "content", "content": [text("inner"), IMAGE]}},
            {"type": "search_result", "title": "hit", "source": "s", "content": [text("found")]},
        ),
        assistant(
            THINKING,
            {"type": "redacted_thinking", "data": "E"},
            text("says"),
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s1",
                "content": [{"type": "web_search_result", "title": "t", "encrypted_content": "E"}],
            },
            {"type": "web_fetch_tool_result", "tool_use_id": "s2", "content": fetched},
            {
                "type": "bash_code_execution_tool_result",
                "tool_use_id": "s3",
                "content": {"stdout": "out", "stderr": "err", "content": []},
            },
            {
                "type": "code_execution_tool_result",
                "tool_use_id": "s4",
                "content": {"encrypted_stdout": "E", "stderr": "err2"},
            },
            {
                "type": "text_editor_code_execution_tool_result",
                "tool_use_id": "s5",
                "content": {"type": "text_editor_code_execution_view_result", "content": "file"},
            },
            {"type": "mcp_tool_use", "id": "m1", "name": "lookup", "input": {}},
            {"type": "mcp_tool_result", "tool_use_id": "m1", "content": [text("page")]},
            CALL,
        ),
        user({**RESULT, "content": [text("sent"), IMAGE]}, text("go on")),
        {"role": "system", "content": "from now on"},
    )
    assert [pair for pair in found(body) if pair[0] != "media"] == [
        ("user", "words"),
        ("user", "a title"),
        ("user", "its context"),
        ("user", "plain"),
        ("user", "inner"),
        ("user", "hit"),
        ("user", "s"),
        ("user", "found"),
        ("assistant", "says"),
        ("tool_result", "fetched"),
        ("tool_result", "out"),
        ("tool_result", "err"),
        ("tool_result", "file"),
        ("tool_result", "page"),
        ("tool_call", {"to": "b"}),
        ("tool_result", "sent"),
        ("user", "go on"),
        ("system", "from now on"),
    ]
    assert len([kind for kind, _ in found(body) if kind == "media"]) == 4
    slots = {str(value_at(body, s.path)): s for s in ANTHROPIC.slots(body)}
    assert slots["page"].name == "lookup"
    assert (slots["sent"].name, slots["sent"].block) == ("send", 0)
    assert ANTHROPIC.repaired(body) is body


def test_tool_definitions_wherever_they_stand():
    """Tools, pinned listings of MCP servers, tools added in the middle."""
    tool = {
        "name": "f",
        "description": "F.",
        "input_schema": {"properties": {"a": {"description": "A."}}},
    }
    added = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": tool}}
    body = asking(
        user(text("x"), added),
        tools=[
            tool,
            {"type": "web_search_20250305", "name": "web_search"},
            {"type": "mcp_toolset", "mcp_server_name": "docs", "tools": [tool]},
        ],
    )
    assert [v for kind, v in found(body) if kind == "tool_definition"] == ["F.", "A."] * 3


def test_system_blocks():
    """System blocks are read one by one; appending keeps cache breakpoints in place."""
    cached = text("rules", cache_control={"type": "ephemeral"})
    body = asking(USER, system=[cached, text("more")])
    assert found(body)[:2] == [("system", "rules"), ("system", "more")]
    appended = ANTHROPIC.with_system(body, "new", append=True)
    assert appended["system"] == [cached, text("more"), text("new")]
    assert ANTHROPIC.without(body, ("system", 1))["system"] == [cached]
    assert ANTHROPIC.without(asking(USER, system=[cached]), ("system", 0, "text"))["system"] == []
    assert "system" not in ANTHROPIC.without(asking(USER, system="x"), ("system",))


@pytest.mark.parametrize(
    "body",
    [
        asking(user(text("a")), user(text("b"))),
        asking(USER, assistant(CALL), user({"type": "tool_result", "tool_use_id": "t1"})),
        asking(USER, assistant(CALL), user({**RESULT, "content": ""}), assistant()),
        asking(USER, assistant(CALL), user({**RESULT, "content": []}), assistant()),
        asking(USER, assistant(CALL), user({**RESULT, "is_error": True}, text("x"))),
        asking(USER, assistant(THINKING, CALL), user(RESULT)),
        asking(USER, assistant(text("a")), assistant(CALL), assistant(text("b")), user(RESULT)),
        asking(
            USER,
            assistant(CALL, {**CALL, "id": "t2"}),
            user(RESULT),
            user({**RESULT, "tool_use_id": "t2"}),
        ),
        asking(USER, assistant(CALL), {"role": "system", "content": "x"}, user(RESULT)),
        asking(USER, {"role": "assistant", "content": "The answer is ("}),
        asking(USER, {"role": "assistant", "content": ""}),
        asking(USER, system=[]),
        asking(user(RESULT), thread={"type": "continue", "previous_message_id": "msg_1"}),
        {"model": "m", "prompt": "\n\nHuman: hi"},
    ],
)
def test_valid_oddities_are_left_alone(body):
    """What agents really send is not touched."""
    assert ANTHROPIC.repaired(body) is body


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [
        (asking(), asking({"role": "user", "content": REMOVED})),
        (asking({**USER, "content": " "}), asking({**USER, "content": REMOVED})),
        (asking(user()), asking(user(text(REMOVED)))),
        (asking(user(text(""), text("a"))), asking(user(text("a")))),
        (asking(user(text("\n"))), asking(user(text(REMOVED)))),
        (
            asking(USER, assistant(THINKING, text("")), USER),
            asking(USER, assistant(THINKING, text(REMOVED)), USER),
        ),
        (
            asking(USER, assistant({**CALL, "input": REMOVED}), user(RESULT)),
            asking(USER, assistant({**CALL, "input": {}}), user(RESULT)),
        ),
        (
            asking(USER, assistant(CALL), user({**RESULT, "content": [text("")]})),
            asking(USER, assistant(CALL), user({**RESULT, "content": []})),
        ),
        (
            asking(USER, assistant(CALL), user({**RESULT, "content": "", "is_error": True})),
            asking(USER, assistant(CALL), user({**RESULT, "content": REMOVED, "is_error": True})),
        ),
        (asking(user(RESULT, text("a"))), asking(user(text("a")))),
        (
            asking(USER, assistant(text("a")), user(RESULT)),
            asking(USER, assistant(text("a")), user(text(REMOVED))),
        ),
        (
            asking(USER, assistant(CALL), USER),
            asking(USER, assistant(CALL), user({**RESULT, "content": REMOVED}, text("hi"))),
        ),
        (
            asking(USER, assistant(CALL)),
            asking(USER, assistant(CALL), user({**RESULT, "content": REMOVED})),
        ),
        (
            asking(USER, assistant(CALL), assistant(text("a")), USER),
            asking(
                USER,
                assistant(CALL),
                assistant(text("a")),
                user({**RESULT, "content": REMOVED}, text("hi")),
            ),
        ),
        (asking(USER, assistant(text("So: "))), asking(USER, assistant(text("So:")))),
        (
            asking(user({"type": "document", "title": "", "source": {"type": "text", "data": ""}})),
            asking(user({"type": "document", "source": {"type": "text", "data": REMOVED}})),
        ),
        (
            asking(
                user({"type": "search_result", "title": "", "source": "s", "content": [text("")]})
            ),
            asking(
                user(
                    {
                        "type": "search_result",
                        "title": REMOVED,
                        "source": "s",
                        "content": [text(REMOVED)],
                    }
                )
            ),
        ),
        (
            asking(USER, assistant({"type": "compaction", "content": ""}), USER),
            asking(USER, assistant({"type": "compaction", "content": REMOVED}), USER),
        ),
    ],
)
def test_repairs(broken, repaired):
    """Empty content is dropped or filled, pairs are made whole, results come first."""
    assert ANTHROPIC.repaired(broken) == repaired


def test_thinking_survives_edits():
    """Signed thinking is the same object after any edit of other blocks."""
    body = asking(USER, assistant(THINKING, text("a"), CALL), user(RESULT))
    for slot in ANTHROPIC.slots(body):
        for edited in (
            ANTHROPIC.without(body, slot.path),
            ANTHROPIC.repaired(replaced_at(body, slot.path, "")),
        ):
            assert edited["messages"][1]["content"][0] is THINKING


def test_deleted_blocks():
    """A deleted call takes its result along, a deleted result is stood in for."""
    body = asking(USER, assistant(text("a"), CALL), user(RESULT, text("b")))
    shorter = ANTHROPIC.without(body, ("messages", 1, "content", 1))
    assert shorter == asking(USER, assistant(text("a")), user(text("b")))
    filled = ANTHROPIC.without(body, ("messages", 2, "content", 0))
    assert filled["messages"][2] == user({**RESULT, "content": REMOVED}, text("b"))


def test_several_parts_of_one_block():
    """Paths into one block, and blocks of one message, are all meant in the body as it was."""
    document = {"type": "document", "title": "t", "source": {"type": "text", "data": "d"}}
    body = asking(user(text("a"), document, text("b"), text("c")))
    at = ("messages", 0, "content")
    paths = [(*at, 0), (*at, 2, "text"), (*at, 2), (*at, 1, "title"), (*at, 1, "source", "data")]
    shorter = ANTHROPIC.without_all(body, paths)
    source = {"type": "text", "data": REMOVED}
    assert shorter == asking(user({"type": "document", "source": source}, text("c")))


def test_media_in_results():
    """A picture taken out of a result leaves a result behind."""
    body = asking(USER, assistant(CALL), user({**RESULT, "content": [IMAGE]}))
    [slot] = [slot for slot in ANTHROPIC.slots(body) if slot.kind is SlotKind.MEDIA]
    assert (slot.name, slot.call_id) == ("send", "t1")
    shorter = ANTHROPIC.without(body, slot.path)
    assert shorter["messages"][2] == user({**RESULT, "content": []})


def test_threads():
    """A thread that goes on is held by the server; a rerun begins none."""
    held = asking(USER, thread={"type": "continue", "previous_message_id": "msg_1"})
    assert ANTHROPIC.server_held(held) == "thread"
    assert ANTHROPIC.rerun_body(held) == held
    begun = asking(USER, thread={"type": "create"}, stream=True)
    assert ANTHROPIC.server_held(begun) is None
    assert ANTHROPIC.rerun_body(begun) == asking(USER, stream=False)


def test_replies():
    """Text of all text blocks, calls of all kinds, usage with the cache counted in."""
    usage = {
        "input_tokens": 5,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 2,
        "output_tokens": 7,
    }
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
    reply = answer(
        THINKING, text("a"), search, text("b"), CALL, usage=usage, stop_reason="tool_use"
    )
    assert (reply.text, reply.stop) == ("ab", Stop.TOOL_CALLS)
    assert reply.tool_calls == (
        ToolCall("web_search", {"query": "q"}, "s1"),
        ToolCall("send", {"to": "b"}, "t1"),
    )
    assert reply.usage == Usage(10, 7, 3)
    assert answer().usage == Usage()


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", Stop.END),
        ("stop_sequence", Stop.END),
        ("tool_use", Stop.TOOL_CALLS),
        ("max_tokens", Stop.LENGTH),
        ("model_context_window_exceeded", Stop.LENGTH),
        ("refusal", Stop.REFUSAL),
        ("pause_turn", Stop.OTHER),
        (None, Stop.OTHER),
    ],
)
def test_stop_reasons(reason, stop):
    """Stop reasons are mapped."""
    assert answer(text("a"), stop_reason=reason).stop is stop


def test_refusals():
    """A refusal brings its explanation along."""
    details = {"type": "refusal", "category": "cyber", "explanation": "Not that."}
    assert answer(stop_reason="refusal", stop_details=details).refusal == "Not that."
    assert answer(stop_reason="refusal", stop_details=None).refusal is None


# ---------------------------------------------------------------- streams

START = {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 1}}}


def fold(*events):
    return ANTHROPIC.fold("".join(f"data: {json.dumps(event)}\n\n" for event in events))


def begun(index, block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, kind, **fields):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def test_cut_arguments_stay_text():
    """Arguments cut in the middle are no JSON: they stay as they came."""
    folded = fold(
        START, begun(0, {**CALL, "input": {}}), delta(0, "input_json_delta", partial_json='{"a')
    )
    assert ANTHROPIC.replies(folded.response)[0].tool_calls == (ToolCall("send", '{"a', "t1"),)


def test_beta_events():
    """MCP calls, compactions, fallbacks and context edits fold too."""
    target = {"model": "claude-y"}
    edits = {"applied_edits": []}
    folded = fold(
        START,
        begun(0, {"type": "mcp_tool_use", "id": "m", "name": "lookup", "input": {}}),
        delta(0, "input_json_delta", partial_json="{}"),
        begun(1, {"type": "compaction", "content": None}),
        delta(1, "compaction_delta", content="summary", encrypted_content="E"),
        begun(2, {"type": "fallback", "from": {}, "to": target}),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 3, "input_tokens": None},
            "context_management": edits,
        },
    )
    response = folded.response
    assert response["content"][0]["input"] == {}
    assert response["content"][1] == {
        "type": "compaction",
        "content": "summary",
        "encrypted_content": "E",
    }
    assert response["model"] == "claude-y"
    assert response["context_management"] == edits
    assert response["usage"] == {"input_tokens": 1, "output_tokens": 3}
