"""Timeline, summary, list, context, grep, diff and check: what they say about a recorded run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runtape.context import build_context
from runtape.dialects.base import Reply, Stop, ToolCall
from runtape.errors import UsageError
from runtape.reports.check import check_json, check_sheet, check_tape
from runtape.reports.context_text import context_json, context_lines, piece_lines
from runtape.reports.difference import (
    Part,
    changes,
    context_parts,
    difference_json,
    difference_lines,
    run_parts,
)
from runtape.reports.event_text import event_json, event_sheet
from runtape.reports.grep import find, hit_lines, hits_json
from runtape.reports.listing import listed_traces, listing_json, listing_lines
from runtape.reports.summary import summarise, summary_json, summary_sheet
from runtape.reports.timeline import rows, timeline_json, timeline_lines
from runtape.tape.reader import Tape
from tests.support.hostile import PAYLOADS, smuggled
from tests.support.runs import NOTE, record_run
from tests.support.tapes import event, open_lines, start


@pytest.fixture
def tape(tmp_path):
    """A run of two model calls."""
    return Tape.open(record_run(tmp_path))


def plain(lines):
    return "\n".join(entry.plain for entry in lines)


def test_the_timeline_tells_each_event_in_a_line(tape):
    """Number, kind, tokens, what happened."""
    text = plain(timeline_lines(tape))
    assert "▼ reply          300 → 25" in text
    assert 'calls forward_email(id=2, to="archive@a' in text
    assert [row.id for row in rows(tape)] == list(range(len(tape)))


def test_the_timeline_is_read_as_it_is_printed(tape, monkeypatch):
    """The first lines of a long tape do not wait for the last event."""
    parsed = []
    real = Tape.event
    monkeypatch.setattr(
        Tape, "event", lambda self, head: parsed.append(head.id) or real(self, head)
    )
    lines = timeline_lines(tape)
    for _ in range(3):
        next(lines)
    assert parsed == [0]


def test_errors_attempts_and_unknown_events_are_seen(tmp_path):
    """What went wrong is in the line; an event of a later version is shown by its type."""
    tape = open_lines(
        tmp_path,
        start(),
        event(1, "llm_request", payload={"model": "m", "api": "openai.chat", "attempt": 3}),
        event(
            2,
            "llm_response",
            parent=1,
            payload={"status": 429, "error": {"type": "RateLimit", "message": "slow down"}},
        ),
        event(3, "tool_result", payload={"name": "f", "result": None, "error": "ValueError: no"}),
        event(4, "comet", payload={"tail": 1}),
        event(5, "error", payload={"error": {"type": "KeyError", "message": "x"}}),
    )
    text = plain(timeline_lines(tape))
    assert "try 3" in text
    assert "RateLimit: slow down" in text
    assert "f ValueError: no" in text
    assert "comet" in text
    found = summarise(tape)
    assert [number for number, _ in found.errors] == [2, 3, 5]
    assert found.retries == 1
    assert found.status == "running"


def test_the_summary_adds_up(tape):
    """Models, tools, tokens, the last thing the model did."""
    found = summarise(tape)
    assert found.models == {"gpt-4o-mini": 2}
    assert found.tools == {"read_email": 1, "forward_email": 1}
    assert (found.input_tokens, found.output_tokens) == (510, 37)
    assert found.status == "ok"
    text = summary_sheet(found).plain()
    assert "2 model calls · 2 replies" in text
    assert "the model calls forward_email" in text
    assert summary_json(found)["replies"] == 2


def test_the_list_survives_bad_files(tmp_path):
    """A broken file has a line of its own and hides no other."""
    good = record_run(tmp_path)
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"\x00\x01")
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    entries = list(listed_traces([good, bad, empty]))
    text = plain(listing_lines(entries))
    assert "unreadable" in text
    assert good.stem in text
    document = listing_json(entries)
    assert [("fault" in entry) for entry in document["traces"]] == [False, True, True]


def test_the_context_is_shown_with_refs(tape):
    """What the model saw, in reading order, each piece under its ref."""
    context = build_context(tape, 5)
    text = plain(context_lines(tape, context))
    assert text.index("system  system prompt") < text.index("result of read_email")
    assert "tools.read_email.description" in text
    tree = plain(piece_lines(tape, context))
    assert f"4.body para 2 sentence 2  {NOTE}" in tree
    document = context_json(tape, context, deep=True)
    assert {"ref", "depth", "kind", "event", "tool", "given", "characters", "text"} <= set(
        document["pieces"][0]
    )
    assert any(piece["ref"] == "4.body para 2 sentence 2" for piece in document["pieces"])


def test_every_ref_that_is_shown_is_found_again(tape):
    """A ref from the tree can be given back."""
    context = build_context(tape, 5)
    for piece in context_json(tape, context, deep=True)["pieces"]:
        assert context.piece(piece["ref"]).text == piece["text"]


@pytest.mark.parametrize("number", range(10))
def test_every_event_can_be_shown(tape, number):
    """In words and as it was recorded."""
    shown = event_sheet(tape, tape[number]).plain()
    assert shown.startswith(f"Event      {number} ")
    assert event_json(tape, tape[number])["id"] == number


def test_a_request_is_shown_put_back_together(tape):
    """The delta on the tape is nobody's business."""
    assert event_json(tape, tape[5])["body"]["messages"][3]["role"] == "tool"


def test_grep_finds_text_where_it_entered_and_nowhere_else(tape):
    """A result stands in its event, and in the one request that brought it in, with its ref."""
    hits = list(find(tape, "every invoice"))
    places = [(hit.event, hit.place) for hit in hits]
    assert (4, "result") in places
    assert (5, "4.body para 2") in places or (5, "4.body para 2 sentence 2") in places
    assert {hit.event for hit in hits} == {4, 5}
    assert all(hit.text[hit.start : hit.end].lower() == "every invoice" for hit in hits)


def test_grep_has_smart_case(tape):
    """Small letters match both, a capital makes case count."""
    assert list(find(tape, "forward every"))
    assert not list(find(tape, "forward Every"))
    assert list(find(tape, r"\Wbilling@"))


def test_a_malformed_pattern_is_a_usage_error_at_once(tape):
    """Before anything is searched."""
    with pytest.raises(UsageError, match="no regular expression"):
        find(tape, "(")


def test_grep_lines_and_document_agree(tape):
    """The same matches for a person and for a program."""
    hits = list(find(tape, "invoice"))
    assert len(list(hit_lines(hits))) == len(hits_json(tape, "invoice", hits)["hits"]) > 1


def test_a_context_differs_from_the_next_by_what_came_in(tape):
    """The first call and the second: the tool call and its result were added."""
    old, new = build_context(tape, 1), build_context(tape, 5)
    found = list(changes(context_parts(old), context_parts(new)))
    assert [change.heading for change in found] == ["call of read_email", "result of read_email"]
    assert all(side.value == "+" for change in found for side, _ in change.lines)


def test_changed_lines_are_shown_with_a_few_neighbours():
    """Not the whole text again."""
    old = Part("user message", "\n".join(f"line {n}" for n in range(50)))
    new = Part("user message", old.text.replace("line 25", "LINE 25"))
    (change,) = changes([old], [new])
    assert [(side.value, text) for side, text in change.lines] == [
        (" ", "line 23"),
        (" ", "line 24"),
        ("-", "line 25"),
        ("+", "LINE 25"),
        (" ", "line 26"),
        (" ", "line 27"),
    ]


def test_equal_runs_do_not_differ(tmp_path):
    """Times, ids and numbers that differ every time are not looked at."""
    one, two = (Tape.open(record_run(tmp_path, name="same")) for _ in range(2))
    assert list(changes(run_parts(one), run_parts(two))) == []
    assert "no difference" in plain(difference_lines("a", "b", iter(())))
    other = Tape.open(record_run(tmp_path, decision=Reply(text="I will not.")))
    document = difference_json("a", "b", changes(run_parts(one), run_parts(other)))
    assert any("I will not." in text for c in document["changes"] for _, text in c["lines"])


def test_a_sound_trace_is_called_whole(tape):
    """Nothing damaged, everything can be rerun."""
    found = check_tape(tape)
    assert found.sound
    assert "every line can be read" in check_sheet(found).plain()
    assert check_json(found)["requests"] == 2


def test_damage_is_named_by_line(tmp_path):
    """A corrupt line is told with its number, and what depends on it cannot be rerun."""
    path = record_run(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = b"not json at all\n"
    path.write_bytes(b"".join(lines))
    found = check_tape(Tape.open(path))
    assert not found.sound
    text = check_sheet(found).plain()
    assert "line 2" in text
    assert "cannot be rerun" in text


@pytest.mark.parametrize("name", PAYLOADS)
def test_no_trace_text_reaches_a_terminal_raw(tmp_path, name):
    """Hostile emails, tool names, run names and replies, in every view."""
    evil = PAYLOADS[name]
    decision = Reply(
        evil, (ToolCall("forward_email", {"id": 2, "to": evil}, "c"),), Stop.TOOL_CALLS
    )
    email = json.dumps({"body": evil}, ensure_ascii=name != "surrogate")
    tape = Tape.open(record_run(tmp_path, name="inbox", email=email, decision=decision))
    context = build_context(tape, 5)
    views = [
        timeline_lines(tape),
        summary_sheet(summarise(tape)).lines,
        context_lines(tape, context),
        piece_lines(tape, context),
        listing_lines(listed_traces([tape.path])),
        hit_lines(find(tape, "after|before")),
        difference_lines(evil, evil, changes([], context_parts(context))),
        check_sheet(check_tape(tape)).lines,
        *(event_sheet(tape, tape[number]).lines for number in range(len(tape))),
    ]
    for view in views:
        for entry in view:
            assert smuggled(entry.plain) == []


def test_the_golden_timeline(tmp_path):
    """An older trace as the timeline shows it (its times are those of the trace)."""
    tape = open_lines(
        tmp_path,
        start(),
        event(1, "llm_request", payload={"model": "m", "api": "openai.chat"}),
        event(
            2, "llm_response", parent=1, payload={"derived": {"replies": []}, "end": "cancelled"}
        ),
        event(3, "state", payload={"key": "step", "value": 3}),
        event(4, "note", payload={"text": "two\nlines"}),
    )
    lines = [entry.plain for entry in timeline_lines(tape)][3:]
    assert lines == [
        " 1  ▲ model call                        m, openai.chat",
        " 2  ▼ reply                             no complete reply (cancelled)",
        " 3  ≡ state                             step = 3",
        " 4  ✎ note                              two lines",
    ]
    assert timeline_json(tape)["events"][3]["detail"] == "step = 3"
    assert Path(timeline_json(tape)["trace"]["path"]) == tape.path
