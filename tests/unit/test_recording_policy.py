"""What of a run is kept: secrets, redact, and content off."""

from __future__ import annotations

import pytest

from runtape.dialects.base import Reply, ToolCall, Usage
from runtape.jsonio import dumps
from runtape.recording import RecordingWarning, record
from tests.support.recorded import calls_on, events_on, payloads_on, sent_on
from tests.support.talk import BODY, CHAT, talk


def test_secrets_of_every_kind_of_event(tmp_path):
    """No event lets a key through, wherever it stands; the marks tell that it was the same one."""
    key = "sk-live-0123456789-kiln"
    with record(dir=tmp_path, tags={"key": key}) as recorder:
        recorder.note(f"using {key}")
        recorder.state("key", key)
        recorder.log_tool("sign_in", {"key": key}, {"api_key": "a1b2c3d4e5"}, error=None)
        recorder.log_tool("sign_in", error=ValueError(f"bad key {key}"))
        talk(recorder, {**BODY, "user": key, "note": f"\n{key}\n"}, Reply(f"Your key is\n{key}."))
        with pytest.raises(RuntimeError), recorder:
            raise RuntimeError(key)
    written = recorder.path.read_bytes()
    assert key.encode() not in written
    assert b"a1b2c3d4e5" not in written
    [(request, _)] = calls_on(recorder.path)
    assert request.payload["redacted"] is True
    assert b"[$secret sha256:" in sent_on(recorder.path)[0]
    assert set(payloads_on(recorder.path, "state")[0]["value"]) == {"$secret"}


def test_a_secret_streamed_in_pieces(tmp_path):
    """A key that no chunk holds whole is not put together by the record."""
    key = "sk-live-0123456789-kiln-in-pieces"
    body = {**BODY, "stream": True}
    stream = "".join(CHAT.render_stream(Reply(f"It is {key}, I think."), body))
    assert key not in stream
    with record(dir=tmp_path) as recorder:
        recorder.log_llm_response(recorder.log_llm_request(body), stream)
    [(_, response)] = calls_on(recorder.path)
    assert key.encode() not in recorder.path.read_bytes()
    assert response.payload["body"] is None
    assert response.payload["fidelity"] == {"body": "withheld"}
    assert response.payload["derived"]["replies"][0]["text"].startswith("It is [$secret")


def test_without_the_built_in_redaction(tmp_path):
    """It can be turned off."""
    with record(dir=tmp_path, redact_defaults=False) as recorder:
        recorder.note("sk-live-0123456789-kiln")
    assert b"sk-live-0123456789-kiln" in recorder.path.read_bytes()


def test_redact_sees_every_event_and_changes_it(tmp_path):
    """The user's function has the last word on payloads, request bodies included."""
    seen = []

    def redact(event):
        seen.append(event["type"])
        payload = event["payload"]
        if isinstance(payload.get("body"), str):
            payload["body"] = payload["body"].replace("kiln", "****")
        payload.pop("text", None)
        return event

    with record(dir=tmp_path, redact=redact) as recorder:
        recorder.note("kiln")
        talk(recorder)
        talk(recorder, {**BODY, "temperature": 0})
    assert seen == [
        *("run_start", "note", "llm_request", "llm_response", "llm_request", "llm_response"),
        "run_end",
    ]
    assert payloads_on(recorder.path, "note") == [{}]
    assert b"kiln" not in sent_on(recorder.path)[0]
    first, second = (request for request, _ in calls_on(recorder.path))
    assert first.payload["redacted"] is True
    assert second.payload["base"] == first.id
    assert second.payload["model"] == "m"


@pytest.mark.parametrize(
    "redact",
    [
        lambda _: 1 / 0,
        lambda _: None,
        lambda _: {"payload": 3},
        lambda e: {**e, "payload": {1: set()}},
    ],
    ids=["raises", "forgets to return", "wrong type", "no JSON"],
)
def test_a_redact_that_fails_drops_the_content(redact, tmp_path):
    """Rather nothing than too much: the event stays, its content goes, and one warning tells."""
    with pytest.warns(RecordingWarning, match="redacting run_start"):
        recorder = record(dir=tmp_path, redact=redact, tags={"keep": "tag"})
    recorder.note("kiln")
    talk(recorder)
    recorder.log_tool("look", {"at": "kiln"}, "kiln")
    recorder.close()
    written = recorder.path.read_bytes()
    assert b"kiln" not in written
    assert b"yard" not in written
    kinds = [event.type for event in events_on(recorder.path) if event.type != "record_error"]
    assert kinds == ["note", "llm_request", "llm_response", "tool_call", "tool_result"]
    assert recorder.faults >= 5
    assert payloads_on(recorder.path, "run_end")[0]["faults"] == recorder.faults - 1


def test_a_redact_that_records(tmp_path):
    """A redact function may use the recorder: its notes come after the event it looks at."""
    notes = []

    def redact(event):
        if event["type"] == "state":
            recorder.note("seen")
            notes.append(recorder.log_llm_request(BODY))
        return event

    recorder = record(dir=tmp_path, redact=redact)
    recorder.state("k", 1)
    recorder.close()
    assert [event.type for event in events_on(recorder.path)] == ["state", "note"]
    assert notes == [None]


def test_without_content(tmp_path):
    """With content off: ids, names, sizes, hashes, tokens and times; no text, no arguments."""
    with record(dir=tmp_path, content="off") as recorder:
        recorder.note("kiln")
        recorder.state("kiln_heat", "very hot kiln")
        talk(recorder)
        talk(recorder)
        recorder.log_tool("look", {"at": "kiln"}, "kiln", call_id="call_1")
        recorder.log_tool("look", error=LookupError("kiln"))
    written = recorder.path.read_bytes()
    assert b"Where" not in written
    assert b"yard" not in written
    assert b"very hot" not in written
    (request, response), _ = calls_on(recorder.path)
    assert request.payload["model"] == "m"
    assert request.payload["bytes"] == len(dumps(BODY))
    assert len(request.payload["sha256"]) == 64
    [reply] = response.payload["derived"]["replies"]
    said = Reply.from_json(reply)
    assert said.text is None
    assert said.tool_calls == (ToolCall("look", None, "call_1"),)
    assert said.usage == Usage(9, 4)
    assert response.payload["withheld"]["body"]["bytes"] > 0
    assert payloads_on(recorder.path, "tool_call")[0]["name"] == "look"
    assert payloads_on(recorder.path, "tool_result")[1]["error"]["type"] == "LookupError"
