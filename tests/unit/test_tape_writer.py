from __future__ import annotations

import errno
import os
import random
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runtape.errors import RecordingError, StorageError
from runtape.tape import writer as writer_module
from runtape.tape.events import LLM_REQUEST, NOTE, RUN_END, RUN_START
from runtape.tape.reader import Tape
from runtape.tape.writer import Durability, TapeWriter

NAME = re.compile(r"\d{8}-\d{6}-my-run-[0-9a-f]{12}\.jsonl")


def forking(test: Callable[..., None]) -> Callable[..., None]:
    """A test that forks: where that is possible, and whatever newer Pythons say about threads."""
    quiet = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
    return pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")(quiet(test))


def test_file_is_named_after_time_name_and_run(tmp_path: Path) -> None:
    """The file is YYYYMMDD-HHMMSS-name-<id>.jsonl, in a folder made for it, private to its user."""
    writer = TapeWriter.create(tmp_path / "deep" / "traces", "my run")
    writer.close()
    assert NAME.fullmatch(writer.path.name)
    assert writer.path.stem.endswith(writer.run_id)
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o600
    assert writer.path.read_bytes() == b""


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a/b\0c", "ü" * 500, "\ud800", ".hidden"])
def test_any_name_makes_a_file_in_its_folder(tmp_path: Path, name: str) -> None:
    """Names with separators, nothing, control characters or too much still make a file there."""
    writer = TapeWriter.create(tmp_path, name)
    writer.append(RUN_START, {})
    writer.close()
    assert writer.path.parent == tmp_path
    assert Tape.open(writer.path).run_id == writer.run_id


def test_events_come_back_as_written(tmp_path: Path) -> None:
    """Ids ascend from 0, parent, meta and a given time are kept, run_start tells the format."""
    writer = TapeWriter.create(tmp_path, "my run")
    assert writer.append(RUN_START, {"tags": {"a": 1}}) == 0
    assert writer.append("tool_call", {"name": "f"}, parent=0, meta={"latency_ms": 2}, ts=5.25) == 1
    assert writer.append(RUN_END, {"status": "ok"}) == 2
    writer.close()
    tape = Tape.open(writer.path)
    first, call, _ = tape
    assert first.payload == {
        "format": "runtape",
        "version": 2,
        "run_id": writer.run_id,
        "name": "my run",
        "tags": {"a": 1},
    }
    assert abs(first.ts - time.time()) < 60
    assert (call.type, call.parent, call.ts) == ("tool_call", 0, 5.25)
    assert call.meta == {"latency_ms": 2}
    assert tape.ended
    assert not tape.verify()


def test_existing_path_is_never_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the name is taken already the writer refuses and the old file is as it was."""
    monkeypatch.setattr(writer_module.secrets, "token_hex", lambda _: "0" * 12)
    monkeypatch.setattr(writer_module.time, "strftime", lambda _: "20260101-000000")
    first = TapeWriter.create(tmp_path, "run")
    first.append(NOTE, {"text": "kept"})
    before = first.path.read_bytes()
    with pytest.raises(StorageError) as caught:
        TapeWriter.create(tmp_path, "run")
    first.close()
    assert caught.value.hint
    assert first.path.read_bytes() == before


def test_folder_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    """A file where the folder should be is reported as StorageError with its path."""
    (tmp_path / "traces").write_text("in the way")
    with pytest.raises(StorageError) as caught:
        TapeWriter.create(tmp_path / "traces", "run")
    assert str(tmp_path / "traces") in (caught.value.path or "")


def test_one_write_per_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each event is one write of one whole line."""
    written: list[bytes] = []
    write = os.write
    monkeypatch.setattr(
        os, "write", lambda fd, data: written.append(bytes(data)) or write(fd, data)
    )
    writer = TapeWriter.create(tmp_path, "run")
    for n in range(5):
        writer.append(NOTE, {"text": "line\nbreaks\n", "n": n})
    writer.close()
    assert len(written) == 5
    assert all(data.endswith(b"\n") and data.count(b"\n") == 1 for data in written)


def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes three bytes at a time still gets every event."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:3]))
    writer = TapeWriter.create(tmp_path, "run")
    for n in range(5):
        writer.append(NOTE, {"n": n})
    writer.close()
    tape = Tape.open(writer.path)
    assert [event.payload["n"] for event in tape] == [0, 1, 2, 3, 4]
    assert not tape.problems


@pytest.mark.parametrize("accepted", [0, 1, 30, 10_000])
def test_full_disk_costs_one_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accepted: int
) -> None:
    """ENOSPC in the middle of a line is a StorageError; the next event is whole again."""
    writer = TapeWriter.create(tmp_path, "run")
    writer.append(NOTE, {"text": "before"})
    write, room = os.write, [accepted]

    def filling(fd: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = write(fd, data[: room[0]])
        room[0] -= taken
        return taken

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", filling)
        with pytest.raises(StorageError, match="No space left"):
            writer.append(NOTE, {"text": "lost " * 3000})
    writer.append(NOTE, {"text": "after"})
    writer.close()
    tape = Tape.open(writer.path)
    assert [event.payload["text"] for event in tape] == ["before", "after"]
    assert len(tape.problems) == (1 if accepted else 0)


def test_request_that_did_not_reach_the_disk_is_no_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failed request the next one builds on what really stands on the tape."""
    writer = TapeWriter.create(tmp_path, "run")
    body = b'{"messages":["' + b"x" * 500 + b'"]}'
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda *_: 0)
        with pytest.raises(StorageError):
            writer.append_request({}, writer.delta(body))
    event = writer.append_request({}, writer.delta(body + b" "))
    writer.close()
    assert Tape.open(writer.path).request(event).text.encode() == body + b" "


def test_strange_values_are_written(tmp_path: Path) -> None:
    """Lone surrogates, integers beyond 64 bits, NaN and numeric keys do not stop the writer."""
    writer = TapeWriter.create(tmp_path, "run")
    writer.append(NOTE, {"surrogate": "\ud800", "big": 2**80, "nan": float("nan"), 5: "five"})
    writer.close()
    (event,) = Tape.open(writer.path)
    assert event.payload["surrogate"] == "\ud800"
    assert event.payload["big"] == 2**80
    assert event.payload["5"] == "five"


def test_value_without_json_form_is_refused_and_forgotten(tmp_path: Path) -> None:
    """Objects, circles and endless nesting raise RecordingError and leave nothing in the file."""
    circle: dict[str, object] = {}
    circle["self"] = circle
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    writer = TapeWriter.create(tmp_path, "run")
    for value in (object(), circle, deep):
        with pytest.raises(RecordingError):
            writer.append(NOTE, {"value": value})
    assert writer.append(NOTE, {"value": 1}) == 0
    writer.close()
    while deep:  # let go of it without recursion
        deep = deep[0]
    assert len(Tape.open(writer.path)) == 1


def test_closed_writer_refuses(tmp_path: Path) -> None:
    """After close events are refused; closing again is fine."""
    writer = TapeWriter.create(tmp_path, "run")
    writer.close()
    writer.close()
    with pytest.raises(RecordingError, match="closed"):
        writer.append(NOTE, {})


def test_fsync_happens_where_promised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FSYNC syncs run_start, responses and the end; FLUSH never does."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    for durability in Durability:
        writer = TapeWriter.create(tmp_path, "run", durability=durability)
        synced.clear()
        for type_ in (RUN_START, NOTE, LLM_REQUEST, "llm_response", "tool_call", RUN_END):
            writer.append(type_, {})
        assert len(synced) == (3 if durability is Durability.FSYNC else 0)
        writer.close()


def test_events_of_many_threads_are_all_whole(tmp_path: Path) -> None:
    """8 threads × 200 events, requests among them: every event is there once, bodies exact."""
    writer = TapeWriter.create(tmp_path, "run")
    sent: dict[int, bytes] = {}

    def work(worker: int) -> None:
        body = b'{"worker":%d,"messages":["' % worker + b"start " * 50
        for n in range(200):
            if n % 10:
                writer.append(NOTE, {"worker": worker, "n": n})
            else:
                body += b"message %d " % n
                sent[writer.append_request({}, writer.delta(body))] = body

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    tape = Tape.open(writer.path)
    assert [head.id for head in tape.heads] == list(range(1600))
    assert not tape.verify()
    assert all(tape.request(event).text.encode() == body for event, body in sent.items())
    for worker in range(8):
        mine = [e.payload["n"] for e in tape if e.payload.get("worker") == worker]
        assert mine == sorted(mine)


@forking
def test_forked_child_writes_its_own_file(tmp_path: Path) -> None:
    """A child's events go to a new file with ids going on; the parent's file has only its own."""
    writer = TapeWriter.create(tmp_path, "run")
    writer.append(RUN_START, {"tags": {"a": 1}})
    body = b'{"messages":["' + b"shared " * 100
    writer.append_request({}, writer.delta(body))
    before = writer.delta(body + b"and more")
    pid = os.fork()
    if pid == 0:
        try:
            writer.append_request({}, before)
            writer.append_request({}, writer.delta(body + b"and more still"))
            writer.close()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    writer.append(NOTE, {"text": "parent goes on"})
    writer.close()
    (other,) = set(tmp_path.iterdir()) - {writer.path}
    parent, child = Tape.open(writer.path), Tape.open(other)
    assert [event.type for event in parent] == [RUN_START, LLM_REQUEST, NOTE]
    assert [(head.id, head.type) for head in child.heads] == [
        (2, RUN_START),
        (3, LLM_REQUEST),
        (4, LLM_REQUEST),
    ]
    assert child[2].payload["forked_from"] == {"run_id": writer.run_id, "event": 1}
    assert child[2].payload["tags"] == {"a": 1}
    assert child.run_id != parent.run_id
    assert child.run_id in other.name
    assert child.request(3).text.encode() == body + b"and more"
    assert child.request(4).text.encode() == body + b"and more still"


@forking
def test_child_can_write_although_a_thread_held_the_lock(tmp_path: Path) -> None:
    """A lock held by another thread at the moment of the fork does not hang the child."""
    writer = TapeWriter.create(tmp_path, "run")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with writer._lock:
            held.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        writer.append(NOTE, {})
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    done.set()
    thread.join()
    writer.close()
    assert os.waitstatus_to_exitcode(status) == 0


KILLS = int(os.environ.get("RUNTAPE_KILLS", "3"))
"""`make matrix` asks for 50."""

ENDLESS = """
import sys
from collections.abc import Callable
from pathlib import Path
from runtape.tape.writer import TapeWriter
writer = TapeWriter.create(Path(sys.argv[1]), "run")
body = b'{"messages":["' + b"x" * 300
print(writer.path, flush=True)
for n in range(1_000_000):
    if n % 5:
        event = writer.append("note", {"text": "y" * (n % 3000)})
    else:
        body += b"%d" % n
        event = writer.append_request({}, writer.delta(body))
    print(event, flush=True)
"""


@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_process_loses_nothing_acknowledged(tmp_path: Path, seed: int) -> None:
    """After kill -9 at a random moment every event whose id was returned is on the tape."""
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        path = Path(process.stdout.readline().strip())
        acknowledged = [int(process.stdout.readline())]
        until = time.monotonic() + random.Random(seed).uniform(0.0, 0.2)
        while time.monotonic() < until:
            acknowledged.append(int(process.stdout.readline()))
        process.kill()
        rest = process.stdout.read().split("\n")
    acknowledged += [int(number) for number in rest[:-1]]
    tape = Tape.open(path)
    assert set(acknowledged) <= {head.id for head in tape.heads}
    assert len(tape.verify()) <= 1  # at most a torn last line
