"""What the screens show, without a screen: wrapping, documents, diffs, timelines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.visible import visible
from runtape.workbench import open_trace
from runtape_tui.view_models.diff import Change, Diff, RowKind, compare, word_changes
from runtape_tui.view_models.document import DocumentModel, Tint
from runtape_tui.view_models.document import RowKind as Shows
from runtape_tui.view_models.event_sections import event_sections, raw_sections
from runtape_tui.view_models.history import History
from runtape_tui.view_models.loading import Loader, Tab, call_before, request_of
from runtape_tui.view_models.navigation import next_call, next_same_tool
from runtape_tui.view_models.sections import Section
from runtape_tui.view_models.survey import Survey
from runtape_tui.view_models.timeline import TimelineModel, bar, passes, read_row
from runtape_tui.view_models.wrapping import Wrapped, cells
from tests.support.tapes import event, open_lines, start

TEXTS = st.text(
    st.one_of(st.sampled_from(" \n\t-abcé日🚒\u0301"), st.characters(codec="utf-8")), max_size=200
)


# Wrapping


@given(text=TEXTS, width=st.integers(8, 40))
@settings(max_examples=150, deadline=None)
def test_rows_hold_every_character_but_line_breaks_and_fit(text, width):
    """Nothing of a text is lost or shown twice; only a blank may hang over the edge."""
    shown = visible(text).text
    rows = Wrapped(shown, width)
    parts = [shown[a:b] for a, b in map(rows.span, range(len(rows)))]
    assert "".join(parts) == shown.replace("\n", "")
    assert all(cells(part.rstrip(" \t")) <= width or len(part.strip()) == 1 for part in parts)


def test_words_stay_whole_where_they_fit():
    """Lines break at blanks; a word longer than the row is broken anywhere."""
    rows = Wrapped("leeks and lentils\n\nunbreakable-word", 10)
    text = rows.text
    assert [text[a:b] for a, b in map(rows.span, range(len(rows)))] == [
        "leeks and ",
        "lentils",
        "",
        "unbreakabl",
        "e-word",
    ]


@given(text=TEXTS, width=st.integers(8, 40))
@settings(max_examples=60, deadline=None)
def test_a_position_is_on_the_row_that_covers_it(text, width):
    """row_at and span agree."""
    shown = visible(text).text
    rows = Wrapped(shown, width)
    for row in range(len(rows)):
        start, end = rows.span(row)
        if end > start:
            assert rows.row_at(start) == rows.row_at(end - 1) == row


def test_unwrapped_lines_are_rows_of_their_own():
    """Without wrapping there is a row per line, and the widest is known."""
    rows = Wrapped("short\na line that is much longer\n日本", None)
    assert len(rows) == 3
    assert rows.widest == len("a line that is much longer")


# Documents


@pytest.fixture
def trace(canteen: Path):
    """The small run."""
    return open_trace(canteen)


@pytest.fixture
def document(trace) -> DocumentModel:
    """What the model saw when it answered."""
    model = DocumentModel.of_context(trace.context(10), since=5)
    model.lay_out(60)
    return model


def _lines(model: DocumentModel) -> list[str]:
    """Rows as text: labels, titles and texts."""
    found = []
    for number in range(model.row_count):
        row = model.row(number)
        section = row.section
        text = section.shown.text[row.start : row.end]
        if row.kind is Shows.GAP:
            found.append("")
        elif row.kind is Shows.HEADING:
            found.append(f"{section.label} {section.title}".strip())
        elif row.kind is Shows.FIELD:
            found.append(f"{section.label} {text}")
        else:
            found.append(text)
    return found


def test_a_context_is_shown_piece_by_piece(document):
    """Headings with refs; named members of JSON one by one; tool definitions folded."""
    lines = _lines(document)
    assert lines[0] == "system system prompt"
    assert lines[1] == "You plan the menu of a small canteen."
    assert ".shelf B2" in lines
    assert ".note Soak them. They were opened on Monday." in lines
    assert lines[-1] == "tools.find_recipe definition of find_recipe"
    assert document.sections[-1].folded


def test_pieces_that_entered_since_say_so(document):
    """Only what the call before had not seen is new."""
    assert [s.label for s in document.sections if s.since == 5] == ["6"]


def test_the_smallest_piece_on_a_row_is_known(document):
    """The ref under the cursor goes down to sentences."""
    row = _lines(document).index(".note Soak them. They were opened on Monday.")
    assert document.piece_at(row).ref == "4.items[0].note"
    assert document.piece_at(0).ref == "system"
    assert document.piece_at(1).ref == "system para 1"
    assert document.piece_at(3).ref == "system para 2 sentence 1"


def test_every_piece_of_a_context_has_a_row(document):
    """From a piece to a row of the message it is part of, and back."""
    context = document.context

    def walk(pieces):
        for piece in pieces:
            yield piece
            yield from walk(context.children(piece))

    for piece in walk(context.roots):
        found = document.piece_at(document.row_of_piece(piece))
        row = document.row(document.row_of_piece(piece))
        assert found is not None
        assert piece.text.split()[0].strip('"{[') in row.section.whole
        assert found.event == piece.event


def test_folding_hides_and_jumping_unfolds(document):
    """A folded piece is one row; going to a place inside it opens it."""
    section = document.sections[3]
    assert section.label == "4"
    before = document.row_count
    document.fold(section, folded=True)
    assert document.row_count < before
    inner = document.context.piece("4.items[1].note")
    row = document.row_of_piece(inner)
    assert not section.folded
    assert document.row(row).section.piece.ref == "4.items[1].note"


def test_tints_touch_only_the_rows_of_their_pieces(document):
    """A sentence is tinted where it stands, and only its rows are said to change."""
    piece = document.context.piece("system para 2 sentence 1")
    rows = document.tint({piece.id: Tint.CAUSE})
    assert rows
    section = document.sections[0]
    [(start, end, tint)] = document.tints_in(section)
    assert section.shown.text[start:end].strip() == "Use the tools."
    assert tint is Tint.CAUSE
    assert document.tint({piece.id: Tint.CAUSE}) == set()
    assert not document.tints_in(document.sections[1])


def test_a_tint_of_a_whole_covers_its_members(document):
    """A tinted tool result tints every field in it."""
    root = document.context.piece("4")
    document.tint({root.id: Tint.REQUIRED})
    member = document.sections[3].members[0]
    assert [tint for *_, tint in document.tints_in(member)] == [Tint.REQUIRED]


def test_hits_are_found_in_folded_pieces_and_walked_round(document):
    """Forward and back through all hits, round the ends."""
    document.search(re.compile("kitchen"))
    assert len(document.hits.all) == 2
    first, beyond = document.hit_after(0, 1)
    assert first is document.hits.all[0]
    assert not beyond
    last, beyond = document.hit_after(0, -1)
    assert last is document.hits.all[-1]
    assert beyond


def test_hidden_characters_keep_positions_right():
    """A match behind hidden characters is lit where it is seen."""
    model = DocumentModel((Section("a", title="a", text="\x1b\x00\u202eleek"),))
    model.lay_out(40)
    model.search(re.compile("leek"))
    [hit] = model.hits.all
    shown = model.sections[0].shown
    assert shown.text[shown.origins.derived(hit.start) : shown.origins.derived(hit.end)] == "leek"
    assert model.row(model.row_of(hit.section, hit.start)).kind is Shows.TEXT


def test_a_document_is_copied_whole(document):
    """Folded parts are in the plain text too."""
    text = document.text()
    assert "tools.read_stock  definition of read_stock" in text
    assert ".note  Use these first." in text


# Events


def test_every_kind_of_event_can_be_shown(trace):
    """Measurements and content of all types; raw is the recorded JSON."""
    for found in trace:
        assert event_sections(trace.tape, found)[0].title.startswith(f"{found.id} ")
        assert raw_sections(trace.tape, found)[-1].is_json


def test_a_request_shows_its_settings_and_where_it_went(trace):
    """What is not content of a request stands in its event."""
    sections = {s.title: s for s in event_sections(trace.tape, trace[1])}
    assert "m-1" in sections["settings"].text
    texts = [member.text for member in sections["call"].members]
    assert "https://llm.example/v1/chat/completions" in texts


# Loading


def test_each_event_belongs_to_a_model_call(trace):
    """Tool events to the call that asked for them, notes to the one before."""
    assert request_of(trace, 3) == (1, True)
    assert request_of(trace, 11) == (9, False)
    assert request_of(trace, 0) == (None, False)


def test_the_call_before_is_that_of_the_same_conversation(trace):
    """A request builds on the one before it."""
    assert call_before(trace.tape, trace.tape.request(9)) == 5
    assert call_before(trace.tape, trace.tape.request(1)) is None


def test_loading_never_raises(tmp_path):
    """What cannot be put together is said in place of the text."""
    tape = open_lines(tmp_path, start(), event(1, "llm_request", payload={"api": "openai.chat"}))
    loader = Loader(open_trace(tape.path))
    for tab in Tab:
        assert loader.load(1, tab).document is not None
    assert "cannot be shown" in loader.load(1, Tab.CONTEXT).document.text()


def test_events_of_one_call_share_a_document(trace):
    """Moving from a call to its reply changes nothing on the right."""
    loader = Loader(trace)
    assert loader.load(5, Tab.CONTEXT).key == loader.load(6, Tab.CONTEXT).key
    assert loader.load(5, Tab.EVENT).key != loader.load(6, Tab.EVENT).key


# Diffs


@pytest.fixture
def diff(trace) -> Diff:
    """The second model call against the first."""
    return compare(trace.context(1), trace.context(5))


def test_a_call_adds_to_the_one_before(diff):
    """Unchanged pieces in a row are one entry; what is new is new."""
    assert [(piece.change, piece.refs[0]) for piece in diff.pieces] == [
        (Change.SAME, "system"),
        (Change.ADDED, "2"),
        (Change.ADDED, "4"),
        (Change.SAME, "tools.read_stock"),
    ]
    assert diff.changed == 2


def test_a_diff_reads_both_ways_and_in_one_column(diff):
    """Laid out for any width; the first change is where reading starts."""
    for beside in (None, 24):
        diff.lay_out(50, beside=beside)
        assert diff.row(diff.first_change).kind is RowKind.HEADING
        assert diff.row(diff.first_change).piece.refs == ("2",)
    assert diff.next_change(diff.first_change, 1) > diff.first_change
    assert "+ .shelf  B2" in diff.text()


def test_changed_words_are_marked_and_nothing_else():
    """Word by word, neighbours joined."""
    left, right = word_changes("the leeks are fresh today", "the lentils are fresh")
    assert [("the leeks are fresh today")[a:b] for a, b in left] == ["leeks", " today"]
    assert [("the lentils are fresh")[a:b] for a, b in right] == ["lentils"]


def test_very_long_lines_are_compared_at_their_ends_only():
    """Quadratic work is never started: the middle counts as changed."""
    old = "same start " + "a b " * 50_000 + "same end"
    new = "same start " + "c d " * 50_000 + "same end"
    [(start, end)], _ = word_changes(old, new)
    assert old[:start] == "same start "
    assert old[end:] == " same end"


def test_pieces_changed_in_place_are_paired(trace):
    """The same message with other words is one change, with the lines side by side."""
    old, new = trace.context(1), trace.context(5)
    backwards = compare(new, old)
    assert [piece.change for piece in backwards.pieces].count(Change.REMOVED) == 2


# The timeline


@pytest.fixture
def timeline(trace) -> TimelineModel:
    """The rows of the small run, all looked at."""
    survey = Survey(trace.tape)
    survey.look(60)
    return TimelineModel(trace.tape, survey)


def test_a_survey_counts_what_no_single_row_tells(timeline):
    """Errors, tokens and whether anything took long."""
    survey = timeline.survey
    assert survey.done
    assert survey.errors == [8]
    assert (survey.input_tokens, survey.output_tokens) == (2700, 120)
    assert survey.timed
    assert survey.lanes == []


def test_lanes_and_nesting_are_told(tmp_path):
    """Two tasks are two lanes; a call inside a tool call is one level down."""
    lines = [
        event(1, "tool_call", payload={"name": "agent", "scope": {"thread": "T", "task": "one"}}),
        event(2, "tool_call", parent=1, payload={"name": "in", "scope": {"task": "two"}}),
        event(3, "tool_result", parent=2, payload={"result": "x"}),
        event(4, "tool_result", parent=1, payload={"result": "y"}),
    ]
    survey = Survey(open_lines(tmp_path, start(), *lines))
    survey.look(60)
    assert survey.lanes == ["one", "two"]
    assert [survey.lane(n) for n in range(5)] == [None, 0, 1, 1, 0]
    assert [survey.depth(n) for n in range(5)] == [0, 0, 1, 1, 0]


def test_rows_are_found_by_event_with_and_without_a_filter(timeline):
    """A filtered-out event is nowhere; the nearest row stands in for it."""
    assert timeline.row_of(8) == 8
    timeline.filtered = [3, 4, 7, 8]
    assert len(timeline) == 4
    assert timeline.row_of(7) == 2
    assert timeline.row_of(9) is None
    assert timeline.nearest_row(9) == 3
    assert timeline.entry(3).id == 8


def test_filters_see_kind_tool_and_error(timeline):
    """What a row is can be asked for, not only what it says."""
    heads = timeline.tape.heads

    def shown(text):
        pattern = re.compile(text)
        return [h.id for h in heads if passes(read_row(timeline.tape, h), pattern)]

    assert shown("tool:read_stock") == [3, 4]
    assert shown("error") == [8]
    assert shown("model call") == [1, 5, 9]


@pytest.mark.parametrize(
    ("latency", "shown"),
    [(None, ""), (4, ""), (100, "━"), (1_000, "━━"), (3_200, "━━╸"), (1e9, "━━━━")],
)
def test_a_bar_grows_by_a_cell_for_each_ten_times(latency, shown):
    """The scale is the same in every run."""
    assert bar(latency) == shown.ljust(4)


def test_an_event_that_cannot_be_read_is_a_row_all_the_same(trace, timeline):
    """The file was changed underneath: the row says so."""
    trace.path.write_bytes(b"x" * trace.path.stat().st_size)
    timeline.forget(timeline.survey)
    assert "can no longer be read" in timeline.entry(5).error


# Moving


def test_jumps_follow_calls_and_tools(trace):
    """Next and previous model call; the next call of the same tool, from its result too."""
    assert next_call(trace.tape, 1, 1) == 5
    assert next_call(trace.tape, 1, -1) is None
    assert next_same_tool(trace.tape, 4, 1) == ("read_stock", None)
    assert next_same_tool(trace.tape, 11, 1) == (None, None)


def test_back_and_forward_retrace_jumps():
    """As in an editor: a new jump forgets what lay forward."""
    history = History()
    history.leave(1)
    history.leave(5)
    assert history.back(9) == 5
    assert history.back(5) == 1
    assert history.back(1) is None
    assert history.forward(1) == 5
    assert history.forward(5) == 9
    history.leave(9)
    assert history.forward(2) is None
