"""Opening traces by what a user types, and the facade over one."""

from __future__ import annotations

import os

import pytest

from runtape.errors import TraceNotFound, TraceUnreadable
from runtape.tape.writer import TapeWriter
from runtape.workbench import Trace, newest, open_trace, trace_files
from tests.support import greenhouse
from tests.support.tapes import start, write_lines


@pytest.fixture
def folder(tmp_path):
    """Three traces, `beta` written last."""
    for age, name in enumerate(["20260101-alpha-one", "20260103-gamma", "20260102-beta-one"]):
        path = write_lines(tmp_path / f"{name}.jsonl", [start(run=name)])
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    (tmp_path / "notes.txt").write_text("no trace")
    return tmp_path


def test_traces_are_listed_newest_first(folder):
    """By the time they were written last; other files are none."""
    assert [path.stem for path in trace_files(folder)] == [
        "20260102-beta-one",
        "20260103-gamma",
        "20260101-alpha-one",
    ]
    assert newest(folder).stem == "20260102-beta-one"


@pytest.mark.parametrize(
    ("spec", "stem"),
    [
        ("last", "20260102-beta-one"),
        ("gamma", "20260103-gamma"),
        ("ALPHA", "20260101-alpha-one"),
        ("20260103-gamma", "20260103-gamma"),
        ("20260103-gamma.jsonl", "20260103-gamma"),
    ],
)
def test_a_trace_is_found_by_a_unique_part_of_its_name(folder, spec, stem):
    """`last`, a part in any case, the stem, or the whole name."""
    assert open_trace(spec, folder=folder).path.stem == stem


def test_a_path_wins_over_a_name(folder, monkeypatch):
    """What exists as a file is opened as one, from anywhere."""
    monkeypatch.chdir(folder)
    (folder / "gamma").write_bytes((folder / "20260101-alpha-one.jsonl").read_bytes())
    assert open_trace("gamma", folder=folder).path.name == "gamma"
    assert open_trace(folder / "20260103-gamma.jsonl").path.stem == "20260103-gamma"


def test_an_exact_name_wins_over_parts(folder):
    """A name that is also part of another still means itself."""
    write_lines(folder / "20260101-alpha.jsonl", [start()])
    assert open_trace("20260101-alpha", folder=folder).path.stem == "20260101-alpha"


def test_an_ambiguous_name_lists_the_candidates(folder):
    """Several fit: all are named, none is guessed."""
    with pytest.raises(TraceNotFound, match="fits 2 traces") as raised:
        open_trace("one", folder=folder)
    assert "20260101-alpha-one" in raised.value.message
    assert "20260102-beta-one" in raised.value.message


def test_a_missing_trace_lists_what_is_there(folder):
    """Nothing fits: the newest ones are named."""
    with pytest.raises(TraceNotFound, match="20260103-gamma"):
        open_trace("delta", folder=folder)
    with pytest.raises(TraceNotFound):
        open_trace(folder / "delta.jsonl")


def test_an_empty_folder_says_how_to_get_a_trace(tmp_path):
    """No traces at all: the hint is the way to one."""
    with pytest.raises(TraceNotFound) as raised:
        open_trace("last", folder=tmp_path)
    assert "demo" in raised.value.hint
    with pytest.raises(TraceNotFound, match="no traces"):
        open_trace("x", folder=tmp_path / "nowhere")


def test_a_file_that_is_no_tape_is_refused(folder):
    """Opened by path, it is read and refused."""
    with pytest.raises(TraceUnreadable):
        open_trace(str(folder / "notes.txt"))


def test_the_facade_is_a_sequence_of_events(tmp_path):
    """Length, iteration, and events by number, from the end, or by name."""
    trace = open_trace(greenhouse.record(tmp_path))
    assert len(trace) == 14
    assert [event.id for event in trace] == list(range(14))
    assert trace[-1].type == "run_end"
    assert trace["tool:read_notes"].payload["name"] == "read_notes"
    assert (trace.name, trace.run_id) == ("greenhouse", trace.tape.run_id)
    assert "greenhouse" in repr(trace)


def test_the_facade_knows_what_the_model_saw(tmp_path):
    """The context of any event of a decision is that of its model call."""
    trace = open_trace(greenhouse.record(tmp_path))
    contexts = [trace.context(event) for event in (9, 10, 11, 12, "tool:order_seeds")]
    assert {context.request.event for context in contexts} == {9}
    assert contexts[0].body == greenhouse.body()


def test_the_facade_sums_up_and_searches(tmp_path):
    """Summary and grep are the reports' own."""
    trace = open_trace(greenhouse.record(tmp_path))
    assert trace.summary().tools["read_notes"] == 1
    hits = list(trace.grep("forty trays"))
    assert hits
    assert {hit.event for hit in hits} <= {8, 9}


def test_a_growing_file_is_followed(tmp_path):
    """What is written while the trace is open is seen."""
    writer = TapeWriter.create(tmp_path, "live")
    writer.append("run_start", {})
    trace = open_trace(writer.path)
    assert isinstance(trace, Trace)
    assert len(trace) == 1
    writer.append("note", {"text": "hello"})
    assert len(trace) == 2
    assert trace[1].payload["text"] == "hello"
    writer.append("note", {"text": "again"})
    assert [event.type for event in trace] == ["run_start", "note", "note"]
    writer.close()
