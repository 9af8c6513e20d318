"""A recorder from beginning to end: what a run consists of, and when it begins and ends."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from runtape.errors import RecordingError, StorageError, UsageError
from runtape.recording import record
from runtape.recording.checkout import current_commit
from runtape.tape.reader import Tape
from tests.support.recorded import events_on, payloads_on
from tests.support.talk import BODY, talk


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
