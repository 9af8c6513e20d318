"""The trace screen through its keys and the mouse."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runtape.errors import EventNotFound, TraceUnreadable
from runtape.settings import Settings
from runtape.tape.writer import TapeWriter
from runtape_tui.app import RuntapeApp
from runtape_tui.screens.help import HelpScreen
from runtape_tui.screens.picker import PickerScreen
from runtape_tui.screens.trace import TraceScreen
from runtape_tui.state import TraceState
from runtape_tui.view_models.loading import Tab
from tests.support.app import picture, play, press, settle, type_text
from tests.support.tapes import event, start, write_lines

_ASKED = (("o", "OddsScreen"), ("e", "WhatIfScreen"), ("full_stop", "WhatIfScreen"))


def _status(app) -> str:
    return app.screen.query_one("#status").text


def test_it_starts_at_the_first_model_call(canteen):
    """With the timeline at hand and what the model saw beside it."""

    async def script(app, pilot):
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, TraceScreen)
        assert screen.selected_event == 1
        assert screen.timeline.has_focus
        assert "What shall we cook on Friday?" in picture(app)

    play(canteen, script)


def test_it_starts_at_the_event_asked_for(canteen):
    """As with `runtape why`: a number, tool:NAME, last, error."""

    async def script(app, _):
        return app.screen.selected_event

    assert play(canteen, script, at="error") == 8
    assert play(canteen, script, at="tool:read_stock") == 3
    assert play(canteen, script, at="-1") == 12


def test_what_cannot_be_opened_is_said_before_the_screen_is_taken(canteen, tmp_path):
    """The command line tells it as any error."""
    with pytest.raises(EventNotFound):
        RuntapeApp(canteen, at="99")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(TraceUnreadable):
        RuntapeApp(tmp_path / "empty.jsonl")


def test_moving_shows_what_belongs_to_the_event(canteen):
    """The right pane follows; events of one call leave it as it is."""

    async def script(app, pilot):
        await press(pilot, "]")
        assert app.screen.selected_event == 5
        first = app.screen.document.model
        assert "model call #5 · m-1 · 6 pieces" in picture(app)
        await press(pilot, "j")
        assert app.screen.document.model is first
        await press(pilot, "[", "[")
        assert app.screen.selected_event == 1

    play(canteen, script)


def test_tabs_show_the_event_the_diff_and_the_record(canteen):
    """By digit, by click, and r for raw."""

    async def script(app, pilot):
        await press(pilot, "]", "2")
        assert "posted to" in picture(app)
        await press(pilot, "3")
        assert app.screen.pane is app.screen.diff
        assert "+ 2  call of read_stock" in picture(app)
        await press(pilot, "r")
        assert '"messages": [' in picture(app)
        await pilot.click("#tabs", offset=(2, 0))
        await settle(pilot)
        assert app.screen.tab is Tab.CONTEXT

    play(canteen, script)


def test_panes_are_changed_with_tab_enter_and_escape(canteen):
    """The pane with the keys is marked."""

    async def script(app, pilot):
        await press(pilot, "tab")
        assert app.screen.document.has_focus
        await press(pilot, "escape")
        assert app.screen.timeline.has_focus
        await press(pilot, "enter")
        assert app.screen.document.has_focus
        await press(pilot, "3")
        assert app.screen.reading

    play(canteen, script)


def test_the_ref_under_the_cursor_is_told(canteen):
    """Down to the sentence."""

    async def script(app, pilot):
        await press(pilot, "tab", "g", "j", "j", "j")
        assert "system para 2 sentence 1" in _status(app)

    play(canteen, script)


def test_pieces_are_folded_one_by_one_and_all_together(canteen):
    """Enter folds what the cursor is on; Z folds all, then unfolds all."""

    async def script(app, pilot):
        await press(pilot, "tab", "g", "enter")
        model = app.screen.document.model
        assert model.sections[0].folded
        await press(pilot, "Z")
        assert all(section.folded for section in model.sections)
        await press(pilot, "Z")
        assert not any(section.folded for section in model.sections)

    play(canteen, script)


def test_a_search_lights_hits_and_walks_through_them(canteen):
    """While typing; n and N in the document; in the timeline from event to event."""

    async def script(app, pilot):
        await press(pilot, "]", "tab", "/", *"leeks")
        assert "here" in picture(app)
        await press(pilot, "enter")
        document = app.screen.document
        assert "leeks" in document.model.row(document.cursor).section.text
        assert "hits in" in _status(app)
        await press(pilot, "escape", "g", "n")
        assert app.screen.selected_event == 4
        await press(pilot, "n")
        assert app.screen.selected_event == 5
        await press(pilot, "N")
        assert app.screen.selected_event == 4
        await press(pilot, "escape")
        assert app.screen.search.pattern is None

    play(canteen, script)


def test_a_bad_pattern_is_said_while_it_is_typed(canteen):
    """And nothing breaks when it is taken all the same."""

    async def script(app, pilot):
        await press(pilot, "/", "(")
        assert "unterminated" in picture(app)
        await press(pilot, "enter")
        assert "no regular expression" in _status(app)
        await press(pilot, "f", "*", "enter")
        assert "no regular expression" in _status(app)

    play(canteen, script)


def test_a_filter_hides_rows_until_it_is_cleared(canteen):
    """The cursor goes to the nearest row that is left."""

    async def script(app, pilot):
        await press(pilot, "f")
        await type_text(pilot, "tool:")
        screen = app.screen
        assert [screen.timeline.model.head(n).id for n in range(screen.timeline.row_count)] == [
            3,
            4,
            7,
            8,
        ]
        assert "4/13" in picture(app)
        await press(pilot, "escape")
        assert screen.timeline.row_count == 13

    play(canteen, script)


def test_a_filter_that_lets_nothing_through_leaves_an_empty_timeline(canteen):
    """Keys do nothing harmful then."""

    async def script(app, pilot):
        await press(pilot, "f")
        await type_text(pilot, "nothing-of-that-kind")
        assert app.screen.timeline.row_count == 0
        assert app.screen.selected_event == -1
        await press(pilot, "j", "G", "]", "m", "y", "v", "enter", "tab", "2", "3", "n", "d", "}")
        await press(pilot, "escape", "escape")
        assert app.screen.timeline.row_count == 13

    play(canteen, script)


def test_places_are_gone_to_by_number_name_and_ref(canteen):
    """And one can go back and forward."""

    async def script(app, pilot):
        screen = app.screen
        await press(pilot, ":")
        await type_text(pilot, "9")
        assert screen.selected_event == 9
        await press(pilot, ":")
        await type_text(pilot, "tool:find_recipe")
        assert screen.selected_event == 7
        await press(pilot, "ctrl+o")
        assert screen.selected_event == 9
        await press(pilot, "ctrl+o", "ctrl+n")
        assert screen.selected_event == 9
        await press(pilot, ":")
        await type_text(pilot, "4.items[1].note")
        assert screen.document.has_focus
        assert screen.document.model.piece_at(screen.document.cursor).ref == "4.items[1].note"
        await press(pilot, ":")
        await type_text(pilot, "4.itms")
        assert "nearest" in _status(app)
        await press(pilot, ":")
        await type_text(pilot, "77")
        assert "no event 77" in _status(app)

    play(canteen, script)


def test_marks_are_set_walked_and_compared_with(canteen):
    """The diff is against the nearest mark; once more: against the call before."""

    async def script(app, pilot):
        screen = app.screen
        await press(pilot, "m", "]", "]", "d")
        assert screen.tab is Tab.DIFF
        assert "#1 → #9" in picture(app)
        await press(pilot, "d")
        assert "#5 → #9" in picture(app)
        await press(pilot, "apostrophe")
        assert screen.selected_event == 1
        await press(pilot, "m")
        assert screen.timeline.marks == set()

    play(canteen, script)


def test_jumps_that_lead_nowhere_say_so(canteen):
    """The cursor stays."""

    async def script(app, pilot):
        await press(pilot, "[")
        assert _status(app) == "no model call before this"
        await press(pilot, "}")
        assert _status(app) == "this event is of no tool"
        await press(pilot, ")")
        assert app.screen.selected_event == 8
        await press(pilot, ")")
        assert _status(app) == "no error after this"
        await press(pilot, "n")
        assert "nothing is searched for" in _status(app)
        await press(pilot, "apostrophe")
        assert "no event is marked" in _status(app)

    play(canteen, script)


def test_a_growing_run_is_followed(tmp_path):
    """New events appear; with F the cursor stays on the last one."""
    writer = TapeWriter.create(tmp_path, "growing")
    writer.append("run_start", {})

    async def script(app, pilot):
        writer.append("note", {"text": "first"})
        app.screen.look()
        await settle(pilot)
        assert app.screen.timeline.row_count == 2
        assert app.screen.selected_event == 0
        await press(pilot, "F")
        writer.append("note", {"text": "second"})
        app.screen.look()
        await settle(pilot)
        assert app.screen.selected_event == 2
        assert "second" in picture(app)
        assert "following" in picture(app)

    play(writer.path, script)
    writer.close()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (Path.unlink, "deleted or moved"),
        (lambda path: path.write_bytes(b""), "no run any more"),
        (lambda path: path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n"), "read anew"),
    ],
    ids=["deleted", "emptied", "cut short"],
)
def test_a_file_that_goes_away_is_told_and_harms_nothing(canteen, harm, words):
    """What was read stays on the screen; keys go on working."""

    async def script(app, pilot):
        harm(canteen)
        app.screen.look()
        await settle(pilot)
        assert words in _status(app)
        await press(pilot, "]", "2", "3", "4", "1", "tab", "G", "g", "y", "v")

    play(canteen, script)


def test_copying_asks_what_and_warns_of_hidden_characters(hostile):
    """Value, ref, JSON, text; as shown or as it is."""
    copied = []

    async def script(app, pilot):
        app.copy_to_clipboard = copied.append
        await press(pilot, "y", "p")
        await press(pilot, "tab", "g", "y", "v")
        assert "control or hidden characters" in picture(app)
        await press(pilot, "v")
        await press(pilot, "y", "v", "c")
        await press(pilot, "y", "x")
        assert "copied" in _status(app)

    play(hostile, script)
    assert copied[0] == "1"
    assert "␛]52" in copied[1]
    assert "\x1b]52" in copied[2]
    assert len(copied) == 3


def test_folds_marks_tab_and_place_are_remembered(canteen):
    """The next time it starts where it was left."""

    async def leave(_, pilot):
        await press(pilot, "]", "m", "tab", "g", "enter", "z", "greater_than_sign", "q")

    async def again(app, _):
        screen = app.screen
        assert screen.selected_event == 5
        assert screen.timeline.marks == {5}
        assert screen.document.model.sections[0].folded
        return screen.state()

    play(canteen, leave)
    state = play(canteen, again)
    assert state == TraceState(
        event=5, folds=["system"], marks=[5], left=42, wrap=False, theme="runtape"
    )


def test_the_help_lists_every_key_and_follows_rebinding(canteen):
    """Scrolls; any of esc, q and ? closes it."""

    async def script(app, pilot):
        await press(pilot, "question_mark")
        assert isinstance(app.screen, HelpScreen)
        shown = picture(app)
        assert "Next model call" in shown
        assert "f3" in shown
        await press(pilot, "G", "q")
        assert isinstance(app.screen, TraceScreen)
        await press(pilot, "f3")
        assert app.screen.selected_event == 5
        await press(pilot, "]")
        assert app.screen.selected_event == 5

    play(canteen, script, settings=Settings(keys={"call.after": "f3"}))


def test_odd_keys_are_said_once(canteen):
    """In the status line, at the start."""

    async def script(app, _):
        return _status(app)

    words = play(canteen, script, settings=Settings(keys={"nonsense": "x"}))
    assert "no action is called nonsense" in words


def test_the_palette_offers_every_action(canteen):
    """By name; what it runs is what the key runs."""

    async def script(app, pilot):
        labels = {command.title for command in app.get_system_commands(app.screen)}
        assert {"Next model call", "Quit", "Next theme"} <= labels
        await press(pilot, "ctrl+p", *"Next model call")
        await pilot.press("down", "enter")
        await settle(pilot)
        assert app.screen.selected_event == 5

    play(canteen, script)


def test_themes_go_round(canteen):
    """The key changes the colours and says which."""

    async def script(app, pilot):
        seen = []
        for _ in range(8):
            await press(pilot, "t")
            seen.append(app.theme)
            assert app.theme in _status(app)
        assert len(set(seen)) > 3
        assert "runtape" in seen

    play(canteen, script)


def test_a_screenshot_is_saved_where_one_is(canteen, tmp_path, monkeypatch):
    """An SVG in the working folder; a folder that cannot be written is said."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    async def script(app, pilot):
        await press(pilot, "S")
        assert "saved" in _status(app)

    play(canteen, script)
    assert [path.suffix for path in (tmp_path / "here").iterdir()] == [".svg"]


def test_the_mouse_moves_opens_and_drags(canteen):
    """A click moves, a double click opens, the divider follows the pull."""

    async def script(app, pilot):
        screen = app.screen
        await pilot.click("#timeline", offset=(10, 5))
        await settle(pilot)
        assert screen.selected_event == 5
        await pilot.click("#timeline", offset=(10, 6), times=2)
        await settle(pilot)
        assert screen.document.has_focus
        before = screen.timeline.size.width
        await pilot.mouse_down("#divider")
        await pilot.hover(offset=(70, 10))
        await pilot.mouse_up(offset=(70, 10))
        await settle(pilot)
        assert screen.timeline.size.width > before

    play(canteen, script)


def test_a_click_on_a_hint_does_it(canteen):
    """The line of keys is for the mouse as well."""

    async def script(app, pilot):
        hints = app.screen.query_one("#hints").render().plain
        await pilot.click("#hints", offset=(hints.index("] call") + 1, 0))
        await settle(pilot)
        assert app.screen.selected_event == 5

    play(canteen, script)


def test_without_traces_it_says_how_to_record_one(tmp_path):
    """And shows the first one as soon as it is there."""
    folder = tmp_path / "traces"

    async def script(app, pilot):
        assert isinstance(app.screen, PickerScreen)
        assert "runtape demo" in picture(app)
        await press(pilot, "enter", "j", "G")
        folder.mkdir()
        writer = TapeWriter.create(folder, "first")
        writer.append("run_start", {})
        writer.close()
        await press(pilot, "ctrl+r")
        assert "1 trace" in picture(app)
        await press(pilot, "enter")
        assert isinstance(app.screen, TraceScreen)

    play(None, script, settings=Settings(dir=folder))


def test_the_picker_lists_newest_first_and_tells_what_is_broken(canteen, tmp_path):
    """A bad file does not hide the others, and opening it says why not."""
    os.utime(canteen, (1, 1))
    (tmp_path / "broken.jsonl").write_bytes(b"\0\0")

    async def script(app, pilot):
        await press(pilot, "O")
        shown = picture(app)
        assert shown.index("broken") < shown.index(
            "13 events" if "13 events" in shown else "canteen"
        )
        assert "cannot be read" in shown
        await press(pilot, "g", "enter")
        assert isinstance(app.screen, TraceScreen)
        assert "is binary" in _status(app)
        await press(pilot, "O", "G", "enter")
        assert isinstance(app.screen, TraceScreen)
        assert app.screen.trace.name == "canteen"
        await press(pilot, "O", "escape")
        assert isinstance(app.screen, TraceScreen)

    play(canteen, script, settings=Settings(dir=tmp_path))


def test_an_editor_that_is_not_there_is_said(canteen, monkeypatch):
    """Headless terminals cannot be handed over; nothing is raised either way."""
    monkeypatch.setenv("EDITOR", "no-such-editor --flag")

    async def script(app, pilot):
        await press(pilot, "E")
        return _status(app)

    assert "cannot" in play(canteen, script)


def test_v1_traces_open_too(tmp_path):
    """The older format has the same screens."""
    from tests.support.greenhouse import record_v1  # noqa: PLC0415 - one test needs it

    async def script(app, pilot):
        await press(pilot, "]", "2", "3", "4", "1", "G")
        assert "before this" in picture(app) or "model call" in picture(app)

    play(record_v1(tmp_path), script)


def test_lanes_of_an_interleaved_run_are_named(tmp_path):
    """A digit and a colour per task in the timeline, its name in the status line."""
    lines = [
        event(1, "tool_call", payload={"name": "ask", "scope": {"task": "leeks"}}),
        event(2, "tool_call", payload={"name": "ask", "scope": {"task": "lentils [/x]"}}),
    ]
    path = write_lines(tmp_path / "lanes.jsonl", [start(), *lines])

    async def script(app, pilot):
        await press(pilot, "g", "j", "j")
        assert "2 ⚙ ask" in picture(app)
        assert "lane 2: lentils [/x]" in _status(app)

    play(path, script)


def test_why_can_be_asked_from_the_command_line_and_from_the_event(canteen, tmp_path, monkeypatch):
    """`--at EVENT --why` opens it at once; w, o and e from the event under the cursor."""
    monkeypatch.chdir(tmp_path)  # replies are kept there
    (tmp_path / "model.py").write_text("def answer(request):\n    return 'soup'\n")
    flags = {"model_fn": f"{tmp_path / 'model.py'}:answer", "yes": True, "no_cache": True}

    async def script(app, pilot):
        assert type(app.screen).__name__ == "WhyScreen"
        await press(pilot, "q")
        assert isinstance(app.screen, TraceScreen)
        for key, name in _ASKED:
            await press(pilot, key)
            assert type(app.screen).__name__ == name
            await press(pilot, "q")
        await press(pilot, "q")

    play(canteen, script, at="tool:read_stock", why=True, flags=flags)
