"""Folded streams against the official SDKs: the same bytes through their own stream helpers."""

import json
from contextlib import contextmanager

import httpx2
import pytest
from anthropic import Anthropic
from openai import ContentFilterFinishReasonError, LengthFinishReasonError, OpenAI

from runtape.dialects import dialect_for

TOOLS = [
    {
        "type": "function",
        "function": {"name": "send", "parameters": {"type": "object", "properties": {}}},
    }
]


def sse(*events, done=False, named=False):
    """The wire text of events; `named`: with an ``event:`` line from their type."""
    parts = [
        (f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n"
        for event in events
    ]
    return "".join(parts) + ("data: [DONE]\n\n" if done else "")


@contextmanager
def transport(text):
    """An http client whose every answer is this event stream, in odd little chunks."""
    raw = text.encode()

    def answer(_request):
        chunks = (raw[i : i + 7] for i in range(0, len(raw), 7))
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=chunks)

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as client:
        yield client


INVENTED = {"parsed", "parsed_arguments", "parsed_output", "output_text"}


def plain(value):
    """A document without what the SDKs add: empty fields and their parsed forms."""
    if isinstance(value, dict):
        return {
            key: plain(item)
            for key, item in value.items()
            if item is not None and key not in INVENTED
        }
    return [plain(item) for item in value] if isinstance(value, list) else value


# ---------------------------------------------------------------- chat completions


def chunk(*choices, **fields):
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1750000000,
        "model": "gpt-x-2026",
        "service_tier": "default",
        "system_fingerprint": "fp_1",
        "choices": list(choices),
        **fields,
    }


def choice(delta, index=0, finish=None, **fields):
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish, **fields}


def call(index, arguments, **fields):
    function = {"arguments": arguments}
    if "name" in fields:
        function["name"] = fields.pop("name")
    return {"tool_calls": [{"index": index, "function": function, **fields}]}


def token(text):
    return {"token": text, "logprob": -0.5, "bytes": list(text.encode()), "top_logprobs": []}


USAGE = {
    "prompt_tokens": 9,
    "completion_tokens": 4,
    "total_tokens": 13,
    "prompt_tokens_details": {"cached_tokens": 2},
}

CHAT = {
    "text and usage": [
        chunk(choice({"role": "assistant", "content": "", "refusal": None}), usage=None),
        chunk(choice({"content": "Grüß"}), usage=None),
        chunk(choice({"content": " Gott 😀\u2028"}), usage=None),
        chunk(choice({}, finish="stop"), usage=None),
        chunk(usage=USAGE),
    ],
    "obfuscated": [
        chunk(choice({"role": "assistant", "content": "a"}), obfuscation="x7"),
        chunk(choice({"content": "b"}), obfuscation="kk9"),
        chunk(choice({}, finish="length"), obfuscation=""),
    ],
    "parallel calls, split arguments": [
        chunk(choice({"role": "assistant", "content": None})),
        chunk(choice(call(0, "", id="call_a", type="function", name="send"))),
        chunk(choice(call(0, '{"to": "b'))),
        chunk(choice(call(0, 'ob"}'))),
        chunk(choice(call(1, "", id="call_b", type="function", name="send"))),
        chunk(choice(call(1, "{}"))),
        chunk(choice({}, finish="tool_calls")),
    ],
    "two fragments of one call in a chunk": [
        chunk(
            choice(
                {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": "call_a",
                            "type": "function",
                            "function": {"name": "send", "arguments": '{"a"'},
                        },
                        {"index": 0, "function": {"arguments": ": 1}"}},
                    ],
                }
            )
        ),
        chunk(choice({}, finish="tool_calls")),
    ],
    "two choices": [
        chunk(choice({"role": "assistant", "content": "x"}, index=0)),
        chunk(choice({"role": "assistant", "content": "y"}, index=1)),
        chunk(choice({"content": "2"}, index=1)),
        chunk(choice({"content": "1"}, index=0)),
        chunk(choice({}, index=1, finish="stop")),
        chunk(choice({}, index=0, finish="length")),
    ],
    "refusal": [
        chunk(choice({"role": "assistant", "content": None, "refusal": ""})),
        chunk(choice({"refusal": "I can"})),
        chunk(choice({"refusal": "not."})),
        chunk(choice({}, finish="stop")),
    ],
    "logprobs": [
        chunk(choice({"role": "assistant", "content": ""})),
        chunk(
            choice({"content": "H"}, logprobs={"content": [token("H")], "refusal": None}),
        ),
        chunk(
            choice({"content": "i"}, logprobs={"content": [token("i")], "refusal": None}),
        ),
        chunk(choice({}, finish="stop")),
    ],
    "legacy function call": [
        chunk(
            choice({"role": "assistant", "function_call": {"name": "send", "arguments": ""}}),
        ),
        chunk(choice({"function_call": {"arguments": '{"a":'}})),
        chunk(choice({"function_call": {"arguments": "1}"}})),
        chunk(choice({}, finish="function_call")),
    ],
    "reasoning of other servers": [
        chunk(choice({"role": "assistant", "content": None, "reasoning_content": "Hm"})),
        chunk(choice({"reasoning_content": "m."})),
        chunk(choice({"content": "Yes"})),
        chunk(choice({}, finish="stop")),
    ],
    "audio": [
        chunk(choice({"role": "assistant", "audio": {"id": "audio_1", "transcript": "He"}})),
        chunk(choice({"audio": {"transcript": "llo"}})),
        chunk(choice({"audio": {"data": "AAAA"}})),
        chunk(choice({"audio": {"expires_at": 1760000000}}, finish="stop")),
    ],
    "azure": [
        chunk(id="", object="", created=0, model="", prompt_filter_results=[{"prompt_index": 0}]),
        chunk(choice({"role": "assistant", "content": "ok"}, content_filter_results={})),
        chunk(choice({}, finish="content_filter", content_filter_results={})),
    ],
}


def without_positions(document):
    """The SDK leaves each call's position in the final message; whole responses have none."""
    for entry in document.get("choices", ()):
        for item in entry["message"].get("tool_calls", ()):
            item.pop("index", None)
    return document


def sdk_completion(text):
    with transport(text) as http:
        client = OpenAI(api_key="x", base_url="http://t/v1", http_client=http)
        messages = [{"role": "user", "content": "hi"}]
        with client.chat.completions.stream(model="m", messages=messages) as stream:
            try:
                return stream.get_final_completion()
            except (LengthFinishReasonError, ContentFilterFinishReasonError) as cut:
                return cut.completion


@pytest.mark.parametrize("name", CHAT)
def test_chat_completion(name):
    """A folded chat stream is the completion the SDK's stream helper ends with."""
    text = sse(*CHAT[name], done=True)
    final = sdk_completion(text)
    expected = without_positions(plain(final.model_dump(mode="json", warnings=False)))
    folded = dialect_for("openai.chat").fold(text)
    assert folded.terminal
    assert folded.error is None
    got = plain(folded.response)
    if name == "azure":  # the helper drops the filter chunk that has no `object`
        assert got.pop("prompt_filter_results") == [{"prompt_index": 0}]
    assert got == expected


# ---------------------------------------------------------------- responses


def response(status, output, **fields):
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1750000000,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": "gpt-x-2026",
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
        **fields,
    }


def part(kind, text):
    if kind == "refusal":
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def message(*parts, status="completed"):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": list(parts),
    }


def function(arguments, status="completed"):
    return {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "call_a",
        "name": "send",
        "arguments": arguments,
        "status": status,
    }


def reasoning(*summary):
    parts = [{"type": "summary_text", "text": text} for text in summary]
    return {"id": "rs_1", "type": "reasoning", "summary": parts, "encrypted_content": "gAAA"}


def event(kind, **fields):
    return {"type": f"response.{kind}", **fields}


def text_events(at, kind, *deltas):
    name = "refusal" if kind == "refusal" else "output_text"
    key = "refusal" if kind == "refusal" else "text"
    where = {"item_id": "msg_1", "output_index": at, "content_index": 0}
    whole = "".join(deltas)
    extra = {} if kind == "refusal" else {"logprobs": []}
    return [
        event("output_item.added", output_index=at, item=message(status="in_progress")),
        event("content_part.added", **where, part=part(kind, "")),
        *(event(f"{name}.delta", **where, delta=delta, **extra) for delta in deltas),
        event(f"{name}.done", **where, **{key: whole}, **extra),
        event("content_part.done", **where, part=part(kind, whole)),
        event("output_item.done", output_index=at, item=message(part(kind, whole))),
    ]


def function_events(at, *deltas):
    where = {"item_id": "fc_1", "output_index": at}
    whole = "".join(deltas)
    return [
        event("output_item.added", output_index=at, item=function("", "in_progress")),
        *(event("function_call_arguments.delta", **where, delta=delta) for delta in deltas),
        event("function_call_arguments.done", **where, arguments=whole, name="send"),
        event("output_item.done", output_index=at, item=function(whole)),
    ]


def reasoning_events(at, *deltas):
    where = {"item_id": "rs_1", "output_index": at, "summary_index": 0}
    whole = "".join(deltas)
    summary = {"type": "summary_text", "text": whole}
    return [
        event("output_item.added", output_index=at, item=reasoning()),
        event("reasoning_summary_part.added", **where, part={**summary, "text": ""}),
        *(event("reasoning_summary_text.delta", **where, delta=delta) for delta in deltas),
        event("reasoning_summary_text.done", **where, text=whole),
        event("reasoning_summary_part.done", **where, part=summary),
        event("output_item.done", output_index=at, item=reasoning(whole)),
    ]


def numbered(*events):
    return [{**e, "sequence_number": n} for n, e in enumerate(events)]


def full(status, output, *events, **fields):
    begun = response("in_progress", [])
    return numbered(
        event("created", response=begun),
        event("in_progress", response=begun),
        *events,
        event(status, response=response(status, output, **fields)),
    )


RESPONSES = {
    "text": full(
        "completed", [message(part("text", "Grüß Gott"))], *text_events(0, "text", "Grüß", " Gott")
    ),
    "refusal": full(
        "completed", [message(part("refusal", "No."))], *text_events(0, "refusal", "N", "o.")
    ),
    "reasoning, text, call": full(
        "completed",
        [reasoning("First, look."), message(part("text", "ok")), function('{"a": 1}')],
        *reasoning_events(0, "First,", " look."),
        *text_events(1, "text", "ok"),
        *function_events(2, '{"a"', ": 1}"),
        usage={
            "input_tokens": 5,
            "input_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
            "output_tokens": 6,
            "output_tokens_details": {"reasoning_tokens": 3},
            "total_tokens": 11,
        },
    ),
    "output only in the items": full("completed", None, *text_events(0, "text", "a", "b")),
}


def sdk_response(text):
    with transport(text) as http:
        client = OpenAI(api_key="x", base_url="http://t/v1", http_client=http)
        with client.responses.stream(model="m", input="hi") as stream:
            events = list(stream)
    return events[-1]


@pytest.mark.parametrize("name", RESPONSES)
def test_response(name):
    """A folded Responses stream is the response the SDK's stream helper ends with."""
    text = sse(*RESPONSES[name], named=True)
    expected = plain(sdk_response(text).response.model_dump(mode="json", warnings=False))
    folded = dialect_for("openai.responses").fold(text)
    assert folded.terminal
    assert plain(folded.response) == expected


def test_incomplete_response():
    """A response cut by its token limit is the one its terminal event carries."""
    cut = message(part("text", "a"), status="incomplete")
    text = sse(
        *full(
            "incomplete",
            [cut],
            *text_events(0, "text", "a")[:-1],
            incomplete_details={"reason": "max_output_tokens"},
        ),
        named=True,
    )
    expected = plain(sdk_response(text).response.model_dump(mode="json", warnings=False))
    folded = dialect_for("openai.responses").fold(text)
    assert folded.terminal
    assert plain(folded.response) == expected


@pytest.mark.parametrize("name", list(RESPONSES)[:3])
def test_response_cut_before_its_terminal_event(name):
    """What the events before the terminal one build up is what the terminal one would say."""
    *events, final = RESPONSES[name]
    folded = dialect_for("openai.responses").fold(sse(*events, named=True))
    assert not folded.terminal
    assert folded.response["output"] == final["response"]["output"]


# ---------------------------------------------------------------- anthropic


def start(**fields):
    return {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-x-1",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 25,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 7,
                "output_tokens": 1,
                "service_tier": "standard",
            },
            **fields,
        },
    }


def block(index, content, *deltas):
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def end(reason, usage=None, **delta):
    return [
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None, **delta},
            "usage": usage or {"output_tokens": 15},
        },
        {"type": "message_stop"},
    ]


def text_delta(text):
    return {"type": "text_delta", "text": text}


def json_delta(text):
    return {"type": "input_json_delta", "partial_json": text}


CITATION = {
    "type": "char_location",
    "cited_text": "grass",
    "document_index": 0,
    "document_title": "T",
    "start_char_index": 0,
    "end_char_index": 5,
}
SEARCH_RESULT = {
    "type": "web_search_result",
    "url": "https://example.org/",
    "title": "Example",
    "encrypted_content": "EqAB",
    "page_age": None,
}

ANTHROPIC = {
    "text": [
        start(),
        {"type": "ping"},
        *block(0, {"type": "text", "text": ""}, text_delta("Grüß"), text_delta(" Gott 😀")),
        *end("end_turn"),
    ],
    "thinking, text, parallel calls": [
        start(),
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Let me"},
            {"type": "thinking_delta", "thinking": " see."},
            {"type": "signature_delta", "signature": "EqQB"},
        ),
        *block(1, {"type": "redacted_thinking", "data": "Emwx"}),
        *block(2, {"type": "text", "text": ""}, text_delta("I'll send.")),
        *block(
            3,
            {"type": "tool_use", "id": "toolu_a", "name": "send", "input": {}},
            json_delta(""),
            json_delta('{"to": "b'),
            json_delta('ob", "n": 1.5}'),
        ),
        *block(
            4, {"type": "tool_use", "id": "toolu_b", "name": "look", "input": {}}, json_delta("")
        ),
        *end("tool_use"),
    ],
    "citations": [
        start(),
        *block(
            0,
            {"type": "text", "text": "", "citations": []},
            text_delta("green"),
            {"type": "citations_delta", "citation": CITATION},
            {"type": "citations_delta", "citation": {**CITATION, "start_char_index": 2}},
        ),
        *end("end_turn"),
    ],
    "web search": [
        start(),
        *block(
            0,
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
            json_delta('{"query"'),
            json_delta(': "x"}'),
        ),
        *block(
            1,
            {
                "type": "web_search_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": [SEARCH_RESULT],
            },
        ),
        *block(2, {"type": "text", "text": ""}, text_delta("Found.")),
        *end("end_turn", {"output_tokens": 9, "server_tool_use": {"web_search_requests": 1}}),
    ],
    "refusal": [
        start(),
        *block(0, {"type": "text", "text": ""}, text_delta("Su")),
        *end(
            "refusal",
            stop_details={"type": "refusal", "category": "cyber", "explanation": "Not that."},
        ),
    ],
    "usage grows": [
        start(),
        *block(0, {"type": "text", "text": ""}, text_delta("x")),
        *end(
            "max_tokens",
            {
                "output_tokens": 40,
                "input_tokens": 30,
                "cache_read_input_tokens": 3,
                "cache_creation_input_tokens": 2,
            },
        ),
    ],
    "empty": [start(), *end("end_turn")],
}


@pytest.mark.parametrize("name", ANTHROPIC)
def test_anthropic_message(name):
    """A folded Anthropic stream is the message the SDK's stream helper ends with."""
    text = sse(*ANTHROPIC[name], named=True)
    with transport(text) as http:
        client = Anthropic(api_key="x", base_url="http://t", http_client=http)
        messages = [{"role": "user", "content": "hi"}]
        with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
            final = stream.get_final_message()
    expected = plain(final.model_dump(mode="json", warnings=False))
    folded = dialect_for("anthropic.messages").fold(text)
    assert folded.terminal
    assert plain(folded.response) == expected


BETA = {
    "mcp call and its result": [
        start(),
        *block(
            0,
            {
                "type": "mcp_tool_use",
                "id": "mcptoolu_1",
                "name": "lookup",
                "server_name": "docs",
                "input": {},
            },
            json_delta('{"q": '),
            json_delta('"x"}'),
        ),
        *block(
            1,
            {
                "type": "mcp_tool_result",
                "tool_use_id": "mcptoolu_1",
                "is_error": False,
                "content": [{"type": "text", "text": "page"}],
            },
        ),
        *block(2, {"type": "text", "text": ""}, text_delta("Found.")),
        *end("end_turn"),
    ],
    "compaction": [
        start(),
        *block(
            0,
            {"type": "compaction", "content": None},
            {"type": "compaction_delta", "content": "So far.", "encrypted_content": "EqAB"},
        ),
        *block(1, {"type": "text", "text": ""}, text_delta("Go on.")),
        *end("end_turn"),
    ],
}


@pytest.mark.parametrize("name", BETA)
def test_beta_message(name):
    """The same for what only the beta endpoints send."""
    text = sse(*BETA[name], named=True)
    with transport(text) as http:
        client = Anthropic(api_key="x", base_url="http://t", http_client=http)
        messages = [{"role": "user", "content": "hi"}]
        with client.beta.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
            final = stream.get_final_message()
    expected = plain(final.model_dump(mode="json", warnings=False))
    assert plain(dialect_for("anthropic.messages").fold(text).response) == expected
