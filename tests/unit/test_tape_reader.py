from __future__ import annotations

import errno
import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtape.errors import (
    EventNotFound,
    IncompleteContext,
    NotADecision,
    TraceCorrupt,
    TraceNotFound,
    TraceUnreadable,
)
from runtape.tape.events import Span
from runtape.tape.reader import Tape
from runtape.tape.writer import TapeWriter
from tests.support.tapes import event, line, open_lines, start, write_lines


def request(id: int, **payload: object) -> dict[str, object]:  # noqa: A002
    """A request event with this payload."""
    return event(id, "llm_request", payload=payload)


def what(tape: Tape) -> list[tuple[int, str]]:
    """Line and description of each problem."""
    return [(problem.line, problem.what) for problem in tape.problems]


# Opening


def test_missing_file_is_not_found(tmp_path: Path) -> None:
    """A path without a file says so, names it and hints at the list."""
    with pytest.raises(TraceNotFound) as caught:
        Tape.open(tmp_path / "no.jsonl")
    assert caught.value.path == str(tmp_path / "no.jsonl")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "empty"),
        (b"\x00\x01\x02ELF" * 100, "binary"),
        (b"just text\nand more\n", "not a tape"),
        (b'{"type":"user","uuid":"x"}\n', "not a tape"),
        (b'[1, 2]\n{"id": "1", "type": "note"}\n', "not a tape"),
        (b'{"id":0,"ts":1.0,"type":"run_sta', "not a tape"),
        (b"rubbish\n" * 5000, "not a tape"),
    ],
)
def test_file_without_events_is_unreadable(tmp_path: Path, content: bytes, word: str) -> None:
    """Empty, binary and foreign files are refused with what they are and a hint."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(TraceUnreadable, match=word) as caught:
        Tape.open(path)
    assert caught.value.hint


def test_folder_is_unreadable(tmp_path: Path) -> None:
    """A folder is no tape."""
    with pytest.raises(TraceUnreadable):
        Tape.open(tmp_path)


def test_disk_error_while_reading_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An input/output error names the file and what the system said."""
    path = write_lines(tmp_path / "t.jsonl", [start()])

    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pread", fail)
    with pytest.raises(TraceUnreadable, match="Input/output error"):
        Tape.open(path)


def test_run_is_described_by_its_start(tmp_path: Path) -> None:
    """Name, id and version come from run_start, the end from run_end."""
    tape = open_lines(tmp_path, start(version=1, name="bot", run_id="abc"), event(1, "run_end"))
    assert (tape.name, tape.run_id, tape.version, tape.ended) == ("bot", "abc", 1, True)


def test_run_without_its_start_still_opens(tmp_path: Path) -> None:
    """With run_start lost the file's name stands in and the run has not ended."""
    tape = open_lines(tmp_path, event(4))
    assert (tape.name, tape.run_id, tape.version, tape.ended) == ("made", "", 2, False)


# What stands on it


def test_unknown_types_and_fields_are_kept(tmp_path: Path) -> None:
    """Types, payload fields and envelope fields of a later version are read as they stand."""
    later = event(1, "hologram", payload={"depth": 3}, shard="b", meta={"x": [1]})
    tape = open_lines(tmp_path, start(), later)
    read = tape[1]
    assert (read.type, read.payload, read.meta) == ("hologram", {"depth": 3}, {"x": [1]})
    assert read.extra == {"shard": "b"}


def test_only_id_and_type_are_needed(tmp_path: Path) -> None:
    """Missing or odd optional envelope fields read as neutral values."""
    odd = {"id": 3, "type": "note", "ts": "noon", "parent": "2", "meta": 5}
    tape = open_lines(tmp_path, start(), {"type": "note", "id": 2, "ts": 7}, odd)
    assert (tape[2].ts, tape[2].parent, tape[2].payload, tape[2].meta) == (7.0, None, {}, {})
    assert (tape[3].ts, tape[3].parent, tape[3].payload, tape[3].meta) == (0.0, None, {}, {})


def test_keys_may_stand_in_any_order(tmp_path: Path) -> None:
    """A line with other key order and spaces is the same event."""
    tape = open_lines(tmp_path, b'  {"payload": {"text": "x"}, "type": "note", "id": 5}\r\n')
    assert tape[5].payload == {"text": "x"}
    assert not tape.problems


def test_events_are_found_by_type_and_parent(tmp_path: Path) -> None:
    """Heads by type and by parent come in file order."""
    tape = open_lines(
        tmp_path,
        start(),
        event(1, "tool_call"),
        event(2, "tool_call"),
        event(3, "tool_result", parent=1),
        event(4, "note", parent=1),
    )
    assert [h.id for h in tape.of_type("tool_call")] == [1, 2]
    assert [h.id for h in tape.of_type("tool_result", "tool_call")] == [1, 2, 3]
    assert [h.id for h in tape.of_type("no such type")] == []
    assert [h.id for h in tape.children(1)] == [3, 4]
    assert [h.id for h in tape.children(99)] == []
    assert json.loads(tape.line(tape.heads[3]))["id"] == 3


def test_missing_event_names_the_last_one(tmp_path: Path) -> None:
    """An id that is not there raises EventNotFound with the id and what there is."""
    tape = open_lines(tmp_path, start(), event(7))
    with pytest.raises(EventNotFound, match="no event 3") as caught:
        tape[3]
    assert caught.value.event == 3
    assert "7" in caught.value.hint


def test_last_response_counts(tmp_path: Path) -> None:
    """The response to a request is the last one that names it; None without any."""
    tape = open_lines(
        tmp_path,
        start(),
        request(1, body="{}"),
        event(2, "llm_response", parent=1, payload={"n": 1}),
        event(3, "note", parent=1),
        event(4, "llm_response", parent=1, payload={"n": 2}),
        request(5, body="{}"),
    )
    answer = tape.response_to(1)
    assert answer is not None
    assert answer.payload == {"n": 2}
    assert tape.response_to(5) is None


def test_events_may_nest_deeply_and_hold_strange_numbers(tmp_path: Path) -> None:
    """JSON that only the standard library reads (NaN, big integers, surrogates) is read."""
    strange = b'{"id":1,"ts":1.0,"type":"note","payload":{"a":NaN,"b":1%s,"c":"\\ud800"}}\n'
    tape = open_lines(tmp_path, start(), strange % (b"0" * 30))
    assert tape[1].payload["b"] == 10**30
    assert tape[1].payload["c"] == "\ud800"


# Damage


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        (b'{"id":2,"ts":1.0,"type":"note","payl\n', "not JSON"),
        (b"\n\n", None),
        (b'{"id":2,"ts":1.0,"type":"note","payload":{"text":"\xff\xfe"}}\n', "not UTF-8"),
        (b"\0" * 4096 + b"\n", "NUL bytes"),
        (b'{"id":2,"type":"note","payload":{"text":"a\0b"}}\n', "NUL bytes"),
        (b'"text"\n', "not a JSON object"),
        (b'{"ts":1.0,"type":"note"}\n', "no event: id or type is missing"),
        (b'{"id":true,"type":"note"}\n', "no event: id or type is missing"),
        (b'{"id":2,"type":"note","payload":[]}\n', "no event: payload is not an object"),
        (b'{"id":2,"type":"note","payload":' + b"[" * 100_000 + b"\n", "not JSON"),
    ],
)
def test_damaged_line_is_skipped_and_reported(
    tmp_path: Path, damage: bytes, word: str | None
) -> None:
    """A broken line in the middle costs itself; line and offset say where it is."""
    before = line(start()) + line(event(1))
    tape = open_lines(tmp_path, before, damage, event(3))
    assert [read.id for read in tape] == [0, 1, 3]
    if word is None:
        assert not tape.problems
    else:
        (problem,) = tape.problems
        assert (problem.line, problem.offset, problem.what) == (3, len(before), word)


def test_event_behind_nul_bytes_is_kept(tmp_path: Path) -> None:
    """A block of NUL before an event (a crashed machine) is reported, the event is read."""
    tape = open_lines(tmp_path, start(), b"\0" * 512 + line(event(1, payload={"text": "x"})))
    assert tape[1].payload == {"text": "x"}
    assert what(tape) == [(2, "NUL bytes around an event")]


def test_duplicate_ids_are_reported_and_the_first_counts(tmp_path: Path) -> None:
    """All events are listed; the id belongs to the first."""
    tape = open_lines(
        tmp_path, start(), event(1, payload={"n": 1}), event(1, payload={"n": 2}), event(2)
    )
    assert tape[1].payload == {"n": 1}
    assert [read.payload.get("n") for read in tape] == [None, 1, 2, None]
    assert what(tape) == [(3, "duplicate event id 1")]


def test_endless_rubbish_is_not_listed_endlessly(tmp_path: Path) -> None:
    """A thousand problems are listed, then no more."""
    tape = open_lines(tmp_path, start(), b"rubbish\n" * 3000, event(1))
    assert len(tape) == 2
    assert len(tape.problems) == 1000


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a small real tape."""
    writer = TapeWriter.create(tmp_path_factory.mktemp("traces"), "run")
    writer.append("run_start", {})
    body = b'{"messages":["' + "héllo ".encode() * 40
    for n in range(6):
        body += b"more %d" % n
        writer.append_request({"api": "openai.chat"}, writer.delta(body), parent=0)
        writer.append("note", {"text": "\N{SNOWMAN}\n\0"})
    writer.close()
    return writer.path.read_bytes()


def test_tape_torn_anywhere_is_a_prefix(tmp_path: Path, recorded: bytes) -> None:
    """Cut after any byte, the file gives a prefix of its events and at most one problem."""
    path = tmp_path / "torn.jsonl"
    path.write_bytes(recorded)
    whole = list(Tape.open(path))
    for size in range(1, len(recorded)):
        path.write_bytes(recorded[:size])
        try:
            tape = Tape.open(path)
        except TraceUnreadable:
            assert b"\n" not in recorded[: size + 1]
            continue
        assert list(tape) == whole[: len(tape)]
        assert len(tape) >= recorded[:size].count(b"\n")
        assert len(tape.verify()) <= 1


@given(st.data())
@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_damaged_bytes_never_raise(tmp_path: Path, recorded: bytes, data: st.DataObject) -> None:
    """Whatever happens to the bytes, opening, iterating and verifying do not raise."""
    start_ = data.draw(st.integers(0, len(recorded)))
    end = data.draw(st.integers(start_, min(len(recorded), start_ + 300)))
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(recorded[:start_] + data.draw(st.binary(max_size=300)) + recorded[end:])
    try:
        tape = Tape.open(path)
    except TraceUnreadable:
        return
    assert len(list(tape)) == len(tape)
    tape.verify()


# Following


def test_growing_file_is_followed(tmp_path: Path) -> None:
    """What was added is read and counted; an unfinished line waits for its end."""
    path = write_lines(tmp_path / "t.jsonl", [start()])
    tape = Tape.open(path)
    assert tape.refresh() == 0
    added = line(event(1)) + line(event(2, "run_end"))
    with path.open("ab", buffering=0) as file:
        file.write(added[:-5])
        assert tape.refresh() == 1
        assert what(tape) == [(3, "torn last line")]
        assert not tape.ended
        file.write(added[-5:])
    assert tape.refresh() == 1
    assert [read.id for read in tape] == [0, 1, 2]
    assert tape.ended
    assert not tape.problems


@given(st.lists(st.integers(1, 200), max_size=30))
@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_following_in_any_steps_reads_the_same(
    tmp_path: Path, recorded: bytes, steps: list[int]
) -> None:
    """However the bytes arrive, the followed tape ends as the one opened at once."""
    path = tmp_path / "t.jsonl"
    broken = recorded.replace(b'"parent":0', b'"parent":', 1)
    first = broken.index(b"\n") + 1
    path.write_bytes(broken[:first])
    tape, written, seen = Tape.open(path), first, 1
    with path.open("ab", buffering=0) as file:
        for step in [*steps, len(broken)]:
            written += file.write(broken[written : written + step])
            seen += tape.refresh()
    at_once = Tape.open(path)
    assert seen == len(tape) == len(at_once)
    assert tape.heads == at_once.heads
    assert tape.problems == at_once.problems
    assert len(tape.problems) == 1


def test_event_without_its_newline_counts_once(tmp_path: Path) -> None:
    """A whole last event without newline is read, and line numbers behind it stay right."""
    path = write_lines(tmp_path / "t.jsonl", [start(), line(event(1))[:-1]])
    tape = Tape.open(path)
    assert len(tape) == 2
    with path.open("ab") as file:
        file.write(b"\nrubbish\n" + line(event(2)))
    assert tape.refresh() == 1
    assert what(tape) == [(3, "not JSON")]


def test_truncated_file_is_noticed(tmp_path: Path) -> None:
    """A file cut back is read anew."""
    path = write_lines(tmp_path / "t.jsonl", [start(), *(event(n) for n in range(1, 50))])
    tape = Tape.open(path)
    os.truncate(path, tape.heads[20].offset)
    assert tape.refresh() == 20
    with path.open("ab") as file:
        file.write(line(event(77)))
    assert tape.refresh() == 1
    assert [read.id for read in tape] == [*range(20), 77]


def test_replaced_file_is_noticed(tmp_path: Path) -> None:
    """Another file under the same name is read anew, even when it is longer."""
    path = write_lines(tmp_path / "t.jsonl", [start(), event(1)])
    tape = Tape.open(path)
    other = write_lines(tmp_path / "o.jsonl", [start(name="other"), event(1), event(2), event(3)])
    other.replace(path)
    assert tape.refresh() == 4
    assert tape.name == "other"


def test_rewritten_file_is_noticed(tmp_path: Path) -> None:
    """A run written over another in place is told by its first line."""
    path = write_lines(tmp_path / "t.jsonl", [start(run_id="a" * 12), event(1)])
    tape = Tape.open(path)
    write_lines(path, [start(run_id="b" * 12), event(1), event(2)])
    assert tape.refresh() == 3
    assert tape.run_id == "b" * 12


def test_deleted_file_stays_readable(tmp_path: Path) -> None:
    """An open tape survives the deletion of its file."""
    path = write_lines(tmp_path / "t.jsonl", [start(), event(1)])
    tape = Tape.open(path)
    path.unlink()
    assert tape.refresh() == 0
    assert tape[1].id == 1


def test_emptied_file_keeps_what_was_read(tmp_path: Path) -> None:
    """When the file is suddenly no tape, refresh says so and the index stands."""
    path = write_lines(tmp_path / "t.jsonl", [start(), event(1)])
    tape = Tape.open(path)
    os.truncate(path, 0)
    with pytest.raises(TraceUnreadable):
        tape.refresh()
    assert len(tape) == 2
    with pytest.raises(TraceCorrupt):
        tape[1]


def test_tape_is_read_by_many_threads_while_it_grows(tmp_path: Path) -> None:
    """Threads that refresh, iterate and resolve one tape see whole events only."""
    writer = TapeWriter.create(tmp_path, "run")
    writer.append("run_start", {})
    tape = Tape.open(writer.path)
    bodies: dict[int, bytes] = {}
    failures: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(30):
                tape.refresh()
                for head in tape.of_type("llm_request")[-5:]:
                    assert tape.request(head.id).text.encode() == bodies[head.id]
        except BaseException as error:  # noqa: BLE001 - handed to the main thread
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    body = b'{"messages":["' + b"x" * 300
    for n in range(200):
        body += b"%d" % n
        bodies[n + 1] = body
        assert writer.append_request({}, writer.delta(body)) == n + 1
    for reader in readers:
        reader.join()
    writer.close()
    tape.refresh()
    assert not failures
    assert [head.id for head in tape.heads] == list(range(201))


# Requests


def test_request_has_all_that_was_recorded(tmp_path: Path) -> None:
    """A request event's fields and body become a Request; odd values read as unknown."""
    payload = {
        "api": "openai.chat",
        "provider": "openai",
        "origin": "https://api.example",
        "path": "/v1/chat/completions",
        "headers": {"openai-beta": "x"},
        "query": {"v": "1"},
        "stream": True,
        "fidelity": {"tools": "assumed"},
        "body": '{"model":"é"}',
    }
    tape = open_lines(tmp_path, start(), request(1, **payload), request(2, body="{}", origin=5))
    read = tape.request(1)
    assert (read.event, read.api, read.provider) == (1, "openai.chat", "openai")
    assert (read.origin, read.path) == ("https://api.example", "/v1/chat/completions")
    assert (read.headers, read.query) == ({"openai-beta": "x"}, {"v": "1"})
    assert (read.stream, read.fidelity) == (True, {"tools": "assumed"})
    assert (read.text, read.body) == ('{"model":"é"}', {"model": "é"})
    assert read.spans == (Span(0, 13, 1),)
    assert tape.request(2).origin is None


def test_splices_count_bytes_and_spans_characters(tmp_path: Path) -> None:
    """A hand-made chain resolves: head and tail are bytes of UTF-8, spans are characters."""
    tape = open_lines(
        tmp_path,
        start(),
        request(1, body="ééé|end"),
        request(2, base=1, splice={"head": 6, "tail": 4, "insert": "ü"}),
        request(3, base=2, splice={"head": 2, "tail": 6, "insert": "-"}),
    )
    assert tape.request(2).text == "éééü|end"
    assert tape.request(2).spans == (Span(0, 3, 1), Span(3, 4, 2), Span(4, 8, 1))
    assert tape.request(3).text == "é-ü|end"
    assert tape.request(3).spans == (Span(0, 1, 1), Span(1, 2, 3), Span(2, 3, 2), Span(3, 7, 1))


def test_only_requests_are_requests(tmp_path: Path) -> None:
    """Asking for the request of another event says what it is; a missing one is not found."""
    tape = open_lines(tmp_path, start(), event(1))
    with pytest.raises(NotADecision, match="note"):
        tape.request(1)
    with pytest.raises(EventNotFound):
        tape.request(2)


def test_request_without_content_is_incomplete(tmp_path: Path) -> None:
    """A request recorded with content off cannot be put together; verify has no complaint."""
    tape = open_lines(tmp_path, start(), request(1, sha256="0" * 64, bytes=10))
    with pytest.raises(IncompleteContext, match="without its content"):
        tape.request(1)
    assert not tape.verify()


@pytest.mark.parametrize(
    ("broken", "word"),
    [
        ({"base": 9, "splice": {"head": 1, "tail": 1, "insert": ""}}, "not earlier"),
        ({"base": 2, "splice": {"head": 1, "tail": 1, "insert": ""}}, "not earlier"),
        ({"base": -1, "splice": {"head": 1, "tail": 1, "insert": ""}}, "missing"),
        ({"base": 0, "splice": {"head": 1, "tail": 1, "insert": ""}}, "no request"),
        ({"base": 1, "splice": {"head": 2, "tail": 1, "insert": ""}}, "beyond"),
        ({"base": 1, "splice": {"head": -1, "tail": 1, "insert": ""}}, "beyond"),
        ({"base": 1, "splice": {"head": "1", "tail": 1, "insert": ""}}, "malformed"),
        ({"base": 1, "splice": []}, "malformed"),
        ({"splice": {}}, "malformed"),
        ({"body_base64": "!"}, "base64"),
        ({"body": "{}", "bytes": 3}, "2 bytes instead of 3"),
        ({"body": "{}", "sha256": "0" * 64}, "SHA-256"),
    ],
)
def test_broken_request_is_refused(tmp_path: Path, broken: dict[str, object], word: str) -> None:
    """Missing bases, circles, impossible splices and wrong digests are TraceCorrupt."""
    tape = open_lines(tmp_path, start(), request(1, body="{}"), request(2, **broken))
    with pytest.raises(TraceCorrupt, match=word) as caught:
        tape.request(2)
    assert caught.value.event == 2
    (problem,) = tape.verify()
    assert word in problem.what
    assert problem.line == 3
    assert tape.request(1).text == "{}"


def test_changed_byte_is_found(tmp_path: Path, recorded: bytes) -> None:
    """Content changed by hand fails its own request and those that build on it, not others."""
    assert recorded.count(b"more 2") == 1
    path = tmp_path / "t.jsonl"
    path.write_bytes(recorded.replace(b"more 2", b"more X"))
    tape = Tape.open(path)
    requests = [head.id for head in tape.of_type("llm_request")]
    assert tape.request(requests[1])
    for id_ in requests[2:]:
        with pytest.raises(TraceCorrupt):
            tape.request(id_)
    assert len(tape.verify()) == 4


def test_requests_resolve_in_any_order(tmp_path: Path, recorded: bytes) -> None:
    """Resolving back and forth gives the same bodies as resolving once."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(recorded)
    ids = [head.id for head in Tape.open(path).of_type("llm_request")]
    once = {id_: Tape.open(path).request(id_) for id_ in ids}
    tape = Tape.open(path)
    for id_ in [*ids, *reversed(ids), ids[3], ids[0], ids[5]]:
        assert tape.request(id_) == once[id_]
