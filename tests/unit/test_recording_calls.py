"""The parts of a recorded call: attempts, pending tool calls, what requests and replies say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.dialects import DIALECTS, dialect_for
from runtape.dialects.base import Reply, Stop, ToolCall, Usage
from runtape.jsonio import dumps
from runtape.recording import record
from runtape.recording.attempts import Attempt, Attempts, tried_again
from runtape.recording.pending import Pending
from runtape.recording.replies import read_document, read_stream
from runtape.recording.requests import Requests
from tests.support.recorded import calls_on, events_on, payloads_on, sent_on


def test_attempts_with_an_sdk_that_counts():
    """A retry is the next attempt of the failed one that the SDK's count names."""
    attempts = Attempts()
    first = attempts.start("body", 0)
    assert first == Attempt(1, 1)
    attempts.failed("body", first)
    again = attempts.start("body", 1)
    assert again == Attempt(1, 2)
    attempts.failed("body", again)
    assert attempts.start("other body", 0) == Attempt(2, 1)
    assert attempts.start("body", 2) == Attempt(1, 3)


def test_the_same_request_anew_is_another_call():
    """An agent that asks the same again after giving up has not retried."""
    attempts = Attempts()
    attempts.failed("body", attempts.start("body", 0))
    assert attempts.start("body", 0) == Attempt(2, 1)


def test_attempts_without_a_count():
    """A client that does not count has its repeated requests after failures counted for it."""
    attempts = Attempts()
    attempts.failed("body", attempts.start("body", None))
    assert attempts.start("body", None) == Attempt(1, 2)
    assert attempts.start("body", None) == Attempt(2, 1)


def test_a_retry_whose_beginning_was_not_seen():
    """Wrapped in the middle of a call, the attempt keeps the number the SDK gives it."""
    assert Attempts().start("body", 2) == Attempt(1, 3)


def test_equal_requests_at_once_are_told_apart():
    """Two equal calls that both fail are two calls with two attempts each."""
    attempts = Attempts()
    started = [attempts.start("body", 0) for _ in range(2)]
    for attempt in started:
        attempts.failed("body", attempt)
    again = {attempts.start("body", 1) for _ in range(2)}
    assert again == {Attempt(1, 2), Attempt(2, 2)}


def test_failures_do_not_pile_up():
    """A run of failures nobody retries stays small."""
    attempts = Attempts()
    for n in range(1000):
        attempts.failed(n, attempts.start(n, 0))
    assert len(attempts._failed) <= 64


@pytest.mark.parametrize(
    ("status", "expected"),
    [(None, True), (200, False), (400, False), (408, True), (429, True), (500, True), (529, True)],
)
def test_what_sdks_try_again(status, expected):
    """No response, timeouts, conflicts, rate limits and server errors."""
    assert tried_again(status) is expected


def test_pending_calls_of_several_strands():
    """The newest reply is asked first; a new reply of a strand replaces its older one."""
    pending = Pending()
    pending.replied("a", [Reply(None, (ToolCall("f", {"x": 1}, "old"),))])
    pending.replied("b", [Reply(None, (ToolCall("f", {"x": 1}, "b"),))])
    pending.replied("a", [Reply(None, (ToolCall("f", {"x": 1}, "a"), ToolCall("g", {}, None)))])
    assert pending.take("f", [{"x": 2}]) is None
    assert pending.take("f", [{"x": 2}, {"x": 1}]) == "a"
    assert pending.take("f", [{"x": 1}]) == "b"
    assert pending.take("f", [{"x": 1}]) is None
    assert pending.take("g", [{}]) is None


@given(st.sampled_from(DIALECTS), st.text(max_size=20), st.data())
def test_a_document_cut_anywhere_says_nothing_or_all(dialect, text, data):
    """Half a response is no reply, and nothing is raised over it."""
    whole = dumps(dialect.render(Reply(text or "x"), {"model": "m"})).decode()
    cut = data.draw(st.integers(0, len(whole)))
    derived = read_document(dialect, whole[:cut])
    assert derived.terminal is (cut == len(whole))
    assert [reply.text for reply in derived.replies] == ([text or "x"] if derived.terminal else [])


@given(st.sampled_from(DIALECTS), st.data())
def test_a_stream_cut_anywhere_is_read(dialect, data):
    """A stream is folded as far as it goes; only its end marker makes it whole."""
    reply = Reply(
        "some words", (ToolCall("f", {"x": 1}, "id"),), Stop.TOOL_CALLS, usage=Usage(3, 2)
    )
    stream = "".join(dialect.render_stream(reply, {"model": "m", "stream": True}))
    cut = data.draw(st.integers(0, len(stream)))
    derived = read_stream(dialect, stream[:cut])
    if cut == len(stream):
        assert derived.terminal
        assert derived.replies[0].tool_calls == reply.tool_calls


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "[]",
        "7",
        '"text"',
        "{}",
        '{"choices": null}',
        '{"content": 3}',
        "<html>",
        "",
        "[" * 9000,
    ],
    ids=lambda text: text[:12],
)
def test_answers_that_are_none(text):
    """JSON that is no response, and text that is no JSON, derive no reply."""
    for dialect in DIALECTS:
        assert read_document(dialect, text).replies == []
        assert read_stream(dialect, text).replies == []


def test_request_facts_follow_the_body(tmp_path):
    """Model and stream are right for every body, parsed again only when they may have changed."""
    with record(dir=tmp_path) as recorder:
        requests = Requests(recorder._journal)

        def facts(body):
            prepared = requests.prepare(dumps(body))
            requests.write({"api": "openai.chat"}, prepared, 0)
            return prepared.facts.model, prepared.facts.stream

        talk = [{"role": "user", "content": "kiln " * 100}]
        assert facts({"messages": talk, "model": "a"}) == ("a", False)
        talk.append({"role": "user", "content": "more"})
        assert facts({"messages": talk, "model": "a"}) == ("a", False)
        assert facts({"messages": talk, "model": "b"}) == ("b", False)
        assert facts({"messages": talk, "model": "b", "stream": True}) == ("b", True)
        talk.append({"role": "user", "content": 'say "model" and "stream"'})
        assert facts({"messages": talk, "model": "b", "stream": True}) == ("b", True)
        assert facts({"messages": talk[:1], "stream": False}) == (None, False)
        assert facts([1, 2]) == (None, False)


def test_a_secret_in_the_history_does_not_make_it_new(tmp_path):
    """With a secret far up in the talk, a later request is still searched only where it is new."""
    talk = [
        f"the key is {'sk-live-0123456789-kiln'}",
        *(f"line {n} about clay" for n in range(200)),
    ]
    with record(dir=tmp_path) as recorder:
        first = recorder.log_llm_request({"model": "m", "input": talk})
        secrets = recorder._journal.policy.secrets
        searched = []
        find = secrets.find
        secrets.find = lambda text: searched.append(len(text)) or find(text)
        recorder.log_llm_request({"model": "m", "input": [*talk, "one more"]})
    request = events_on(recorder.path, "llm_request")[1].payload
    assert (request["base"], request["redacted"]) == (first, True)
    assert len(request["splice"]["insert"]) < 20
    assert max(searched) < 1000


def test_logged_calls_of_known_shapes(tmp_path):
    """A custom loop's calls are like recorded ones: request, response, what it says, tokens."""
    dialect = dialect_for("anthropic.messages")
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 5}
    reply = Reply("hello", usage=Usage(4, 2))
    with record(dir=tmp_path) as recorder:
        request = recorder.log_llm_request(
            body, api="anthropic.messages", origin="https://here", path="/v1/messages"
        )
        recorder.log_llm_response(request, dialect.render(reply, body))
        streamed = recorder.log_llm_request({**body, "stream": True}, api="anthropic.messages")
        text = "".join(dialect.render_stream(reply, {**body, "stream": True}))
        recorder.log_llm_response(streamed, text)
    first, second = calls_on(recorder.path)
    assert sent_on(recorder.path)[0] == dumps(body)
    assert first[0].payload["provider"] == "anthropic"
    assert (first[0].payload["origin"], first[0].payload["path"]) == (
        "https://here",
        "/v1/messages",
    )
    for _, response in (first, second):
        [said] = response.payload["derived"]["replies"]
        assert said["text"] == "hello"
        assert response.payload["terminal"] is True
    assert first[1].meta["tokens"] == {"input": 4, "output": 2}


def test_logged_calls_of_unknown_shapes(tmp_path):
    """A shape nobody knows is kept as it is; odd values become something JSON can say."""
    with record(dir=tmp_path) as recorder:
        request = recorder.log_llm_request({"prompt": object(), "n": {1, 2}}, api="mine.own")
        recorder.log_llm_response(request, {"answer": 42})
        failed = recorder.log_llm_request('{"prompt": "text"}', api="mine.own", provider="me")
        recorder.log_llm_response(failed, error=TimeoutError("too slow"))
    (first, answer), (second, error) = calls_on(recorder.path)
    assert (first.payload["api"], first.payload["provider"]) == ("mine.own", "mine")
    assert second.payload["provider"] == "me"
    assert sent_on(recorder.path)[1] == b'{"prompt": "text"}'
    assert answer.payload["body"] == '{"answer":42}'
    assert answer.payload["derived"] == {"replies": []}
    assert (error.payload["end"], error.payload["status"]) == ("error", None)
    assert error.payload["error"]["message"] == "too slow"


def test_a_response_to_nothing_is_a_fault_and_no_error(tmp_path):
    """Logging a response for a request that is not open warns, and the agent goes on."""
    with record(dir=tmp_path) as recorder:
        recorder.log_llm_response(None, {"any": 1})
        with pytest.warns(match="No request 99"):
            recorder.log_llm_response(99, {"any": 1})
    assert payloads_on(recorder.path, "llm_response") == []
    assert len(events_on(recorder.path, "record_error")) == 1
