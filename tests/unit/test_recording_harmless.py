"""Recording never hurts the agent: full disks, odd values, threads, finalisers, its own faults."""

from __future__ import annotations

import errno
import gc
import os
import threading
import warnings

import pytest

from runtape.dialects.base import Reply
from runtape.jsonio import dumps
from runtape.recording import RecordingWarning, record
from runtape.tape.reader import Tape
from tests.support.recorded import calls_on, events_on, payloads_on, sent_on
from tests.support.talk import ANSWER, BODY, CHAT, talk


def test_a_full_disk(tmp_path, monkeypatch):
    """When nothing can be written any more the agent goes on; one warning, all faults counted."""
    recorder = record(dir=tmp_path)

    @recorder.tool
    def work():
        return 7

    def full(*_):
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.warns(RecordingWarning, match="no space"):
            recorder.note("lost")
        assert work() == 7
        talk(recorder)
    recorder.note("room again")
    recorder.close()
    assert [p["text"] for p in payloads_on(recorder.path, "note")] == ["room again"]
    assert recorder.faults >= 3


def test_where_warnings_are_errors(tmp_path):
    """A program that turns warnings into errors does not get ours."""
    recorder = record(dir=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recorder.log_llm_response(12345, {})
    recorder.close()
    assert recorder.faults == 1
    [fault] = payloads_on(recorder.path, "record_error")
    assert fault["doing"] == "a logged response"


def test_many_faults_are_counted_and_not_all_written(tmp_path):
    """A fault in every call does not flood the tape."""
    with record(dir=tmp_path) as recorder:
        with pytest.warns(RecordingWarning):
            recorder.log_llm_response(1000, {})
        for n in range(1, 300):
            recorder.log_llm_response(1000 + n, {})
    assert recorder.faults == 300
    assert len(payloads_on(recorder.path, "record_error")) == 100
    assert payloads_on(recorder.path, "run_end")[0]["faults"] == 300


@pytest.mark.parametrize(
    "value",
    ["\ud83d", float("nan"), 10**400, {1: {(2, 3): b"x"}}, object(), [[]] * 3, {"a": {"b": ...}}],
    ids=["surrogate", "nan", "huge", "keys", "object", "shared", "ellipsis"],
)
def test_values_json_does_not_know(value, tmp_path):
    """Whatever is recorded, the tape stays readable and nothing is a fault."""
    with record(dir=tmp_path, tags={"v": value}) as recorder:
        recorder.state("v", value)
        recorder.note(str(value))
        recorder.log_tool("t", {"v": value}, value)
        recorder.log_llm_response(recorder.log_llm_request({"v": value}), {"v": value})
    assert recorder.faults == 0
    assert Tape.open(recorder.path).verify() == []


@pytest.mark.parametrize("depth", [300, 900, 1000, 3000])
def test_replies_that_nest_deeply(depth, tmp_path):
    """Arguments nested deeper than JSON writers go: the text of the reply is there all the same."""
    answer = CHAT.render(ANSWER, BODY)
    text = dumps(answer).decode().replace('{\\"at\\":\\"yard\\"}', "[" * depth + "]" * depth)
    with warnings.catch_warnings(), record(dir=tmp_path) as recorder:
        warnings.simplefilter("ignore", RecordingWarning)
        recorder.log_llm_response(recorder.log_llm_request(BODY), text)
        recorder.note("on")
    [(_, response)] = calls_on(recorder.path)
    assert response.payload["body"] == text
    assert "[" * depth in text
    assert payloads_on(recorder.path, "note") == [{"text": "on"}]


def test_a_finaliser_may_record_in_the_middle_of_a_write(tmp_path):
    """What the garbage collector runs while an event is written waits for its turn."""

    class Leaving:
        def __init__(self):
            self.me = self

        def __del__(self):
            recorder.note("gone")

    def redact(event):
        if event["type"] == "state":
            Leaving()
            gc.collect()
        return event

    recorder = record(dir=tmp_path, redact=redact)
    recorder.state("k", 1)
    recorder.close()
    assert [event.type for event in events_on(recorder.path)] == ["state", "note"]
    assert Tape.open(recorder.path).verify() == []


def test_threads_write_whole_lines(tmp_path):
    """Events of many threads do not mix, ids ascend, every call has its own response."""
    with record(dir=tmp_path) as recorder:

        def work(n):
            for k in range(20):
                body = {**BODY, "user": f"{n}.{k}"}
                talk(recorder, body, Reply(f"{n}.{k}"))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    tape = Tape.open(recorder.path)
    assert not tape.problems
    assert [event.id for event in tape] == list(range(len(tape)))
    calls = calls_on(recorder.path)
    assert len(calls) == 120
    for (_, response), body in zip(calls, sent_on(recorder.path), strict=True):
        [reply] = response.payload["derived"]["replies"]
        assert f'"user":"{reply["text"]}"'.encode() in body


def test_two_runs_at_once(tmp_path):
    """Recorders in one process keep their runs apart."""
    with record("a", tmp_path) as first, record("b", tmp_path) as second:
        first.note("to a")
        second.note("to b")
    assert payloads_on(first.path, "note") == [{"text": "to a"}]
    assert payloads_on(second.path, "note") == [{"text": "to b"}]
