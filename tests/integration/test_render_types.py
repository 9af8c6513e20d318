"""Rendered answers against the official SDKs: their types accept them, their helpers fold them."""

from contextlib import contextmanager

import httpx2
import pytest
from anthropic import Anthropic
from anthropic.types import Message, RawMessageStreamEvent
from openai import OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from runtape.dialects import dialect_for
from runtape.dialects.base import Reply, Stop, ToolCall, Usage
from runtape.dialects.sse import read_events
from tests.support.conversations import BUILDERS, MAIL

USAGE = Usage(100, 20, 40)
CALLS = (ToolCall("read_mail", {"folder": "inbox"}, "call_9"), ToolCall("read_page", {}))
REPLIES = {
    "text": Reply("Grüß Gott 😀, that is a longer answer.", usage=USAGE),
    "calls": Reply(None, CALLS, Stop.TOOL_CALLS, usage=USAGE),
    "text and calls": Reply("I look.", CALLS, Stop.TOOL_CALLS, usage=USAGE),
    "refusal": Reply(None, stop=Stop.REFUSAL, refusal="I cannot do that.", usage=USAGE),
    "filtered": Reply(None, stop=Stop.REFUSAL, usage=USAGE),
    "cut": Reply("Half of", stop=Stop.LENGTH, usage=USAGE),
}
TYPES = {
    "openai.chat": (ChatCompletion, ChatCompletionChunk),
    "openai.responses": (Response, ResponseStreamEvent),
    "anthropic.messages": (Message, RawMessageStreamEvent),
}


@pytest.fixture(params=TYPES)
def api(request):
    return request.param


def body_for(api):
    return {**BUILDERS[api](MAIL), "stream": True, "stream_options": {"include_usage": True}}


@contextmanager
def serving(content, kind):
    def answer(_request):
        return httpx2.Response(200, headers={"content-type": kind}, content=content)

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as client:
        yield client


def plain(value):
    """A document without empty fields and without what the SDKs add to it."""
    invented = ("parsed", "parsed_arguments", "parsed_output", "output_text")
    if isinstance(value, dict):
        items = value.items()
        return {k: plain(v) for k, v in items if v is not None and k not in invented}
    return [plain(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", REPLIES)
def test_documents_are_valid(api, name):
    """The SDK's strict model of a response takes the rendered document, field by field."""
    document = dialect_for(api).render(REPLIES[name], body_for(api))
    parsed = TypeAdapter(TYPES[api][0]).validate_python(document)
    assert plain(parsed.model_dump(mode="json", warnings=False)) == plain(document)


@pytest.mark.parametrize("name", REPLIES)
def test_stream_events_are_valid(api, name):
    """The SDK's strict models of stream events take every rendered event."""
    adapter = TypeAdapter(TYPES[api][1])
    events = list(
        read_events("".join(dialect_for(api).render_stream(REPLIES[name], body_for(api))))
    )
    documents = [event.document for event in events if event.document]
    for document in documents:
        if document["type" if api != "openai.chat" else "object"] != "ping":
            adapter.validate_python(document)
    assert len(documents) >= len(events) - 1


def test_several_choices_are_valid():
    """A completion of several choices is valid, and each choice is numbered."""
    document = dialect_for("openai.chat").render_choices(list(REPLIES.values()), {"n": 6})
    parsed = ChatCompletion.model_validate(document)
    assert [choice.index for choice in parsed.choices] == list(range(6))


def final_message(api, http):
    messages = [{"role": "user", "content": "hi"}]
    if api == "anthropic.messages":
        client = Anthropic(api_key="x", base_url="http://t", http_client=http)
        with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
            return stream.get_final_message()
    client = OpenAI(api_key="x", base_url="http://t/v1", http_client=http)
    if api == "openai.chat":
        with client.chat.completions.stream(model="m", messages=messages) as stream:
            return stream.get_final_completion()
    with client.responses.stream(model="m", input="hi") as stream:
        return stream.get_final_response()


@pytest.mark.parametrize("name", ["text", "calls", "text and calls"])
def test_streams_through_the_sdk(api, name):
    """The SDK's stream helper makes of the rendered stream what the rendered document says."""
    dialect, body = dialect_for(api), body_for(api)
    stream = "".join(dialect.render_stream(REPLIES[name], body))
    with serving(stream.encode(), "text/event-stream") as http:
        final = final_message(api, http).model_dump(mode="json", warnings=False)
    for choice in final.get("choices", ()):
        for call in choice["message"].get("tool_calls") or ():
            call.pop("index", None)
    expected = plain(dialect.render(REPLIES[name], body))
    got = plain(final)
    assert got.pop("created", 0) - expected.pop("created", 0) in (0, -1)
    assert got.pop("created_at", 0) - expected.pop("created_at", 0) in (0, -1)
    assert got == expected
    assert dialect.fold(stream).terminal


def test_unknown_usage_through_the_sdk(api):
    """Where nothing is known about usage the SDKs still read the answer, as unknown."""
    dialect = dialect_for(api)
    stream = "".join(dialect.render_stream(Reply("x", model="m"), {}))
    with serving(stream.encode(), "text/event-stream") as http:
        final = final_message(api, http)
    assert dialect.replies(final.model_dump(mode="json", warnings=False)) == [Reply("x", model="m")]
