"""The Anthropic SDK recorded: every way to call a model, sync and async, against a real server."""

from __future__ import annotations

import pytest

from runtape.dialects.base import Reply, ToolCall
from runtape.recording import record
from tests.support import call_shapes as shapes
from tests.support.call_checks import ANSWER, check_error, check_shape
from tests.support.call_shapes import settled
from tests.support.loopback import Fault, Loopback, Wire
from tests.support.recorded import calls_on, events_on, sent_on, with_client

both = pytest.mark.parametrize("kind", ["anthropic", "anthropic-async"])


@both
@pytest.mark.parametrize("shape", shapes.ANTHROPIC, ids=lambda shape: shape.__name__)
def test_shapes(kind, shape, tmp_path):
    """Whatever the SDK offers gives the same with a recorder, and all of it is on the tape."""
    check_shape(kind, shape, tmp_path)


@both
@pytest.mark.parametrize(
    "wire",
    [Wire(gzip=True), Wire(chunk=1), Wire(crlf=True), Wire(gzip=True, chunk=7)],
    ids=["gzip", "single bytes", "crlf", "gzip in pieces"],
)
@pytest.mark.parametrize("shape", [shapes.messages_create, shapes.messages_create_streamed])
def test_ways_of_travel(kind, shape, wire, tmp_path):
    """Compression, chunk sizes and line ends change nothing, and the tape holds readable text."""
    check_shape(kind, shape, tmp_path, wire)


@both
def test_versions_are_recorded_and_keys_are_not(kind, tmp_path):
    """Of the headers and the query only what the API itself reads is on the tape."""

    async def call(client):
        await settled(
            client.beta.messages.create(
                **shapes.MESSAGES,
                betas=["a-1", "b-2"],
                extra_headers={"x-tenant": "tenant-secret-77", "authorization": "Bearer zz"},
                extra_query={"beta": "true", "sig": "signature-secret-88"},
            )
        )

    with Loopback(lambda *_: ANSWER) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, kind, call, recorder)
    [(request, _)] = calls_on(recorder.path)
    assert request.payload["headers"] == {
        "anthropic-version": server.requests[0].headers["anthropic-version"],
        "anthropic-beta": "a-1,b-2",
    }
    assert request.payload["query"] == {"beta": "true"}
    written = recorder.path.read_bytes()
    assert b"tenant-secret" not in written
    assert b"signature-secret" not in written


@both
@pytest.mark.parametrize(
    ("fault", "end"),
    [
        (Fault(status=400), "eof"),
        (Fault(status=529), "eof"),
        (Fault(hang=True), "error"),
        (Fault(reply=ANSWER, cut=40), "error"),
    ],
    ids=["refused", "overloaded", "timeout", "cut"],
)
def test_errors(kind, fault, end, tmp_path):
    """Errors are the same exceptions with a recorder; the tape says how the call ended."""
    check_error(kind, shapes.messages_create, tmp_path, fault, end)


@both
def test_an_error_event_within_a_stream(kind, tmp_path):
    """An error that a stream reports is raised by the SDK as ever, and named on the tape."""
    error = {"type": "overloaded_error", "message": "busy"}
    fault = Fault(reply=ANSWER, error_event={"type": "error", "error": error})
    _, response = check_error(kind, shapes.messages_create_streamed, tmp_path, fault, "closed eof")
    assert response.payload["error"] == error


@both
def test_a_tool_runner(kind, tmp_path):
    """The SDK's own loop over tools: its calls, and the tools it runs, are recorded and joined."""
    from anthropic import beta_async_tool, beta_tool  # noqa: PLC0415 - beside what it is for

    answers = [ANSWER, Reply("It is cool now.")]
    with Loopback(lambda _a, _b, n: answers[n]) as server, record(dir=tmp_path) as recorder:

        def look_up(query: str, limit: int = 1) -> str:
            """Look something up.

            Args:
                query: what.
                limit: how much.
            """
            return f"{limit} × {query}"

        @recorder.tool(name="look_up")
        async def look_up_async(query: str, limit: int = 1) -> str:
            """Look something up.

            Args:
                query: what.
                limit: how much.
            """
            return f"{limit} × {query}"

        if kind == "anthropic":
            tool = beta_tool(recorder.tool(look_up))
        else:
            tool = beta_async_tool(look_up_async, name="look_up")

        async def call(client):
            runner = client.beta.messages.tool_runner(**shapes.MESSAGES, tools=[tool])
            return shapes.plain(await settled(runner.until_done()))

        final = with_client(server.url, kind, call, recorder)
    assert "It is cool now." in str(final)
    [called] = events_on(recorder.path, "tool_call")
    assert called.payload["arguments"] == {"query": "kiln", "limit": 3}
    assert called.payload["call_id"] == ANSWER.tool_calls[0].id
    [result] = events_on(recorder.path, "tool_result")
    assert result.payload["result"] == "3 × kiln"
    assert len(sent_on(recorder.path)) == 2


@both
def test_counting_tokens_is_no_model_call(kind, tmp_path):
    """A path below the messages endpoint is not taken for it."""

    async def count(client):
        await settled(client.messages.count_tokens(model="m", messages=[]))

    with Loopback(lambda *_: {"input_tokens": 3}) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, kind, count, recorder)
    assert events_on(recorder.path) == []


@both
def test_usage_that_is_not_reported_is_unknown(kind, tmp_path):
    """Tokens nobody reported are absent, never zero."""
    document = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}],
        "stop_reason": "tool_use",
    }
    with Loopback(lambda *_: document) as server, record(dir=tmp_path) as recorder:
        with_client(server.url, kind, shapes.messages_create, recorder)
    [(_, response)] = calls_on(recorder.path)
    assert response.meta["tokens"] == {}
    [reply] = response.payload["derived"]["replies"]
    assert Reply.from_json(reply).tool_calls == (ToolCall("f", {}, "t1"),)
    assert set(reply["usage"].values()) == {None}
