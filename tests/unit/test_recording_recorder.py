"""A recorder from beginning to end: its events, its limits, and that it never hurts the agent."""

from __future__ import annotations

import errno
import gc
import os
import subprocess
import sys
import threading
import warnings

import pytest

from runtape.dialects import dialect_for
from runtape.dialects.base import Reply, ToolCall, Usage
from runtape.errors import RecordingError, StorageError, UsageError
from runtape.jsonio import dumps
from runtape.recording import RecordingWarning, record
from runtape.recording.checkout import current_commit
from runtape.tape.reader import Tape
from tests.support.recorded import calls_on, events_on, payloads_on, sent_on

BODY = {"model": "m", "messages": [{"role": "user", "content": "Where is the kiln? " * 20}]}
CHAT = dialect_for("openai.chat")
ANSWER = Reply("In the yard.", (ToolCall("look", {"at": "yard"}, "call_1"),), usage=Usage(9, 4))


def talk(recorder, body=None, answer=ANSWER):
    """Log one call and its answer."""
    body = body or BODY
    request = recorder.log_llm_request(body)
    recorder.log_llm_response(request, CHAT.render(answer, body))


def test_a_run_has_a_beginning_and_an_end(tmp_path):
    """The file is named for the run; run_start and run_end say what, with what, and how long."""
    with record("a kiln/run", tmp_path / "deep" / "er", tags={"case": 7}) as recorder:
        recorder.note("hello")
        recorder.state("heat", (1200, "°C"))
    tape = Tape.open(recorder.path)
    assert recorder.path.parent == tmp_path / "deep" / "er"
    assert (tape.name, tape.run_id, tape.version) == ("a kiln/run", recorder.run_id, 2)
    assert tape.ended
    start, note, state, end = tape
    assert start.payload["python"] == sys.version.split()[0]
    assert start.payload["tags"] == {"case": 7}
    assert start.payload["argv"][0] == sys.argv[0]
    assert (note.parent, note.payload) == (start.id, {"text": "hello"})
    assert state.payload["key"] == "heat"
    assert state.payload["value"] == [1200, "°C"]
    assert end.payload["status"] == "ok"
    assert end.payload["duration_ms"] >= 0
    assert "faults" not in end.payload


def test_an_exception_is_noted_and_goes_on(tmp_path):
    """Leaving by an exception records it with its traceback; leaving by sys.exit(0) is no error."""
    recorder = record(dir=tmp_path)
    with pytest.raises(LookupError), recorder:
        raise LookupError("no kiln")
    [error] = payloads_on(recorder.path, "error")
    assert (error["type"], error["message"]) == ("LookupError", "no kiln")
    assert "test_an_exception_is_noted" in error["traceback"]
    assert payloads_on(recorder.path, "run_end")[0]["status"] == "error"
    recorder = record(dir=tmp_path)
    with pytest.raises(SystemExit), recorder:
        sys.exit(0)
    assert payloads_on(recorder.path, "run_end")[0]["status"] == "ok"


def test_settings_that_make_no_sense(tmp_path):
    """Mistakes in the call of record() are told at once, with what would be right."""
    with pytest.raises(UsageError, match="'on' or 'off'"):
        record(dir=tmp_path, content="some")
    with pytest.raises(UsageError, match="'flush' or 'fsync'"):
        record(dir=tmp_path, durability="none")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        record(dir=tmp_path / "file")


def test_the_folder_from_the_environment(tmp_path, monkeypatch):
    """Without dir the folder is RUNTAPE_DIR, or traces."""
    monkeypatch.chdir(tmp_path)
    with record() as recorder:
        assert recorder.path.parent.resolve() == (tmp_path / "traces").resolve()
    monkeypatch.setenv("RUNTAPE_DIR", str(tmp_path / "else"))
    with record() as recorder:
        assert recorder.path.parent == tmp_path / "else"


def test_wrong_things_to_wrap(tmp_path):
    """What holds no http client is refused with a hint, and so is a run that has ended."""
    recorder = record(dir=tmp_path)
    with pytest.raises(RecordingError, match="no http client in a dict"):
        recorder.wrap({})
    recorder.close()
    with pytest.raises(RecordingError, match="has ended"):
        recorder.wrap({})


def test_closing_twice_and_using_it_afterwards(tmp_path):
    """A closed recorder is silent: nothing raises, nothing is written."""
    recorder = record(dir=tmp_path)
    recorder.close()
    recorder.close()
    size = recorder.path.stat().st_size
    recorder.note("late")
    recorder.state("k", 1)
    recorder.log_tool("t", {}, 1)
    talk(recorder)
    assert recorder.log_llm_request(BODY) is None
    assert recorder.path.stat().st_size == size
    assert recorder.faults == 0


def test_a_program_that_ends_without_closing(tmp_path):
    """The end of the program ends the run; kill -9 loses only the end."""
    script = (
        "import os, sys; from runtape.recording import record\n"
        "rec = record(dir=sys.argv[1]); rec.note('n')\n"
        "if sys.argv[2] == 'kill': os.kill(os.getpid(), 9)\n"
    )
    for how, ended in (("exit", True), ("kill", False)):
        folder = tmp_path / how
        subprocess.run([sys.executable, "-c", script, str(folder), how], check=False, timeout=60)
        [path] = folder.iterdir()
        tape = Tape.open(path)
        assert tape.ended is ended
        assert [event.payload for event in tape if event.type == "note"] == [{"text": "n"}]
        if ended:
            assert payloads_on(path, "run_end")[0]["status"] == "exit"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_writes_a_file_of_its_own(tmp_path):
    """Parent and child never write one file, and the child leaves the parent's run alone."""
    script = (
        "import os, sys; from runtape.recording import record\n"
        "rec = record(dir=sys.argv[1]); rec.note('before')\n"
        "pid = os.fork()\n"
        "rec.note('child' if pid == 0 else 'parent')\n"
        "if pid: os.waitpid(pid, 0)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True, timeout=60)
    texts = {
        tuple(payload["text"] for payload in payloads_on(path, "note")): Tape.open(path).ended
        for path in tmp_path.iterdir()
    }
    assert texts == {("before", "parent"): True, ("child",): False}


def test_logged_tools(tmp_path):
    """Tools that are not ours to decorate are logged with result or error, id and latency."""
    with record(dir=tmp_path) as recorder:
        event = recorder.log_tool("look", {"at": 1}, (1,), call_id="call_9", latency_ms=12.5)
        recorder.log_tool("look", error=OSError("dark"))
    first, second = events_on(recorder.path, "tool_result")
    assert first.parent == event
    assert first.meta["latency_ms"] == 12.5
    assert first.payload["restore"] == [{"at": [], "as": "tuple"}]
    assert second.payload["error"]["type"] == "OSError"
    assert payloads_on(recorder.path, "tool_call")[0]["call_id"] == "call_9"


# What is kept


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


# Harmlessness


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


# The checkout


def test_the_commit_of_a_checkout(tmp_path):
    """The commit is found detached, by branch, packed, in a worktree, and from a folder within."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    git = tmp_path / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    inside = tmp_path / "src" / "deep"
    inside.mkdir(parents=True)
    assert current_commit(inside) is None
    (git / "HEAD").write_text(f"{commit}\n")
    assert current_commit(inside) == commit
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    assert current_commit(inside) is None
    (git / "packed-refs").write_text(f"# pack-refs\n{commit} refs/heads/main\n")
    assert current_commit(inside) == commit
    (git / "refs" / "heads" / "main").write_text("f" * 40)
    assert current_commit(inside) == "f" * 40
    tree = tmp_path / "tree"
    (git / "worktrees" / "t").mkdir(parents=True)
    (git / "worktrees" / "t" / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "worktrees" / "t" / "commondir").write_text("../..\n")
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {git / 'worktrees' / 't'}\n")
    assert current_commit(tree) == "f" * 40
    (git / "HEAD").write_bytes(b"\xff\xfe")
    assert current_commit(inside) is None
