"""Traces nobody foresaw: whatever stands in an event, it can be looked at."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.tape.reader import Tape
from runtape.workbench import Trace
from runtape_tui.view_models.loading import Loader, Tab
from runtape_tui.view_models.survey import Survey
from runtape_tui.view_models.timeline import read_row, searchable, words
from tests.support.app import picture, play, press
from tests.support.tapes import event, start, write_lines

_TYPES = st.sampled_from(
    [
        "llm_request", "llm_response", "tool_call", "tool_result", "state", "note", "error",
        "run_end", "record_error", "something_else", "",
    ]
)  # fmt: skip
_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)
_FIELDS = st.sampled_from(
    [
        "api", "body", "base", "splice", "messages", "params", "model", "name", "arguments",
        "result", "error", "text", "key", "value", "derived", "status", "end", "chunks", "scope",
        "attempt", "first_byte_ms", "call_id", "fidelity", "stop_reason", "tool_calls", "endpoint",
        "origin", "path", "duration_ms", "messages_append", "system", "tools",
    ]
)  # fmt: skip
_PAYLOADS = st.dictionaries(_FIELDS, _ANY, max_size=6)
_METAS = st.dictionaries(st.sampled_from(["latency_ms", "tokens", "model"]), _ANY)


@given(
    events=st.lists(
        st.tuples(_TYPES, _PAYLOADS, _METAS, st.none() | st.integers(0, 5)), min_size=1, max_size=5
    )
)
@settings(max_examples=60, deadline=None)
def test_no_event_is_too_odd_to_be_looked_at(events):
    """Rows, survey and every tab of events with fields of the wrong kinds."""
    lines = [
        event(number, kind, parent=parent, payload=payload, meta=meta)
        for number, (kind, payload, meta, parent) in enumerate(events, 1)
    ]
    with tempfile.TemporaryDirectory() as folder:
        tape = Tape.open(write_lines(Path(folder) / "odd.jsonl", [start(), *lines]))
    survey = Survey(tape)
    survey.look(60)
    assert survey.done
    loader = Loader(Trace(tape))
    for head in tape.heads:
        entry = read_row(tape, head)
        assert isinstance(words(entry), str)
        assert isinstance(searchable(entry), str)
        for tab in Tab:
            loaded = loader.load(head.id, tab)
            if loaded.document is not None:
                loaded.document.lay_out(60)
                assert loaded.document.row_count > 0
                loaded.document.text()


def test_damaged_lines_and_strange_orders_are_survived(tmp_path):
    """Torn, binary and repeated lines; ids that go down; a parent that is not there."""
    path = write_lines(
        tmp_path / "damaged.jsonl",
        [
            start(),
            b"\0\0\0\n",
            b'{"id": 1, "type": "note"\n',
            event(9, "tool_result", parent=77, payload={"result": None}),
            event(3, "note", payload={"text": "earlier"}),
            event(9, "note", payload={"text": "again"}),
            event(4, "llm_response", parent=4, payload={"derived": {"replies": [7]}}),
            b'{"id":5,"ts":1,"type":"note","payload":{"text":"torn',
        ],
    )

    async def script(app, pilot):
        await press(pilot, *"jjjj2341GGggkk[]{}()")
        return picture(app)

    assert "earlier" in play(path, script)


def test_deep_nesting_is_survived(tmp_path):
    """A thousand levels of JSON in a tool result."""
    deep = "[" * 1000 + "1" + "]" * 1000
    path = write_lines(
        tmp_path / "deep.jsonl",
        [start(), event(1, "tool_result", payload={"name": "dig", "result": deep})],
    )

    async def script(app, pilot):
        await press(pilot, *"2341")
        await press(pilot, "j", *"2341")
        return app.screen.selected_event

    assert play(path, script) == 1
