"""What stands behind the screens: feed, state, keys, clipboard, search."""

from __future__ import annotations

import stat
from itertools import chain, repeat
from pathlib import Path

import pytest

from runtape.errors import UsageError
from runtape.tape.writer import TapeWriter
from runtape.workbench import open_trace
from runtape_tui.actions import ACTIONS, Scope
from runtape_tui.clipboard import Clipboard, has_hidden
from runtape_tui.feed import Feed, News
from runtape_tui.keymap import key_words, read_keymap
from runtape_tui.searching import Filter, Search
from runtape_tui.state import TraceState, load_state, save_state, state_folder

# The file


@pytest.fixture
def growing(tmp_path: Path):
    """A run that is being recorded."""
    writer = TapeWriter.create(tmp_path, "growing")
    writer.append("run_start", {})
    yield writer
    writer.close()


def test_growth_is_news(growing):
    """Each look tells what came since the last one."""
    feed = Feed(open_trace(growing.path).tape)
    assert feed.poll() is News.NOTHING
    growing.append("note", {"text": "more"})
    assert feed.poll() is News.GREW
    assert feed.poll() is News.NOTHING


def test_a_deleted_file_is_told_once_and_so_is_its_return(growing, tmp_path):
    """What was read stays readable."""
    tape = open_trace(growing.path).tape
    feed = Feed(tape)
    growing.path.rename(tmp_path / "elsewhere")
    assert [feed.poll(), feed.poll()] == [News.GONE, News.NOTHING]
    assert tape[0].type == "run_start"
    (tmp_path / "elsewhere").rename(growing.path)
    assert feed.poll() is News.BACK


def test_a_replaced_file_is_read_anew(canteen, growing):
    """Another run under the same name."""
    tape = open_trace(canteen).tape
    feed = Feed(tape)
    growing.path.replace(canteen)
    assert feed.poll() is News.REPLACED
    assert len(tape) == 1


def test_a_file_cut_short_is_read_anew_or_told_once(canteen):
    """Truncated to some events; truncated to nothing."""
    feed = Feed(open_trace(canteen).tape)
    whole = canteen.read_bytes()
    canteen.write_bytes(whole[: whole.index(b"\n") + 1])
    assert feed.poll() is News.REPLACED
    canteen.write_bytes(b"")
    assert [feed.poll(), feed.poll()] == [News.UNREADABLE, News.NOTHING]
    canteen.write_bytes(whole)
    assert feed.poll() is News.GREW


# State


def test_state_is_kept_per_run(canteen, tmp_path):
    """What was saved comes back; another run starts with how the last one looked."""
    trace = open_trace(canteen)
    folder = tmp_path / "state"
    state = TraceState(event=5, tab="diff", folds=["4"], marks=[2], left=50, wrap=False, theme="x")
    save_state(trace, state, folder)
    assert load_state(trace, folder) == state
    other = TapeWriter.create(tmp_path, "other")
    other.append("run_start", {})
    other.close()
    assert load_state(open_trace(other.path), folder) == TraceState(left=50, wrap=False, theme="x")


@pytest.mark.parametrize(
    "junk", [b"", b"[1]", b"{", b'{"event":"x","left":900,"marks":[null],"folds":3,"wrap":1}']
)
def test_unreadable_state_is_no_state(canteen, tmp_path, junk):
    """Rubbish in the state file is forgotten, field by field."""
    trace = open_trace(canteen)
    folder = tmp_path / "state"
    save_state(trace, TraceState(), folder)
    for path in folder.iterdir():
        path.write_bytes(junk)
    assert load_state(trace, folder) == TraceState()


def test_a_state_folder_that_cannot_be_written_is_no_reason_to_complain(canteen, tmp_path):
    """The folder is a file: nothing is raised, nothing is kept."""
    (tmp_path / "state").write_text("")
    save_state(open_trace(canteen), TraceState(event=3), tmp_path / "state")


def test_the_state_folder_follows_xdg(tmp_path):
    """XDG_STATE_HOME, else ~/.local/state."""
    assert state_folder({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "runtape" / "app"
    assert state_folder({}) == Path("~/.local/state/runtape/app").expanduser()


# Keys


def test_keys_of_ones_own_replace_the_defaults():
    """By id; several keys are separated by commas."""
    keymap = read_keymap({"call.after": "ctrl+g, f3"})
    assert keymap.keys == {"call.after": "ctrl+g,f3"}
    assert keymap.complaints == ()


def test_unknown_actions_and_clashes_are_complained_about():
    """Each in one line, with the nearest name."""
    keymap = read_keymap({"call.aftr": "x", "mark.set": "w"})
    assert keymap.complaints == (
        "no action is called call.aftr; did you mean call.after?",
        "w is both mark.set and ask.why",
    )


def test_no_two_default_keys_of_the_trace_screen_clash():
    """The table itself is free of what it complains about."""
    here = [a for a in ACTIONS if a.scope in {Scope.ROWS, Scope.TRACE, Scope.APP}]
    keys = [key for action in here for key in action.keys.split(",")]
    assert len(set(keys)) == len(keys)


def test_action_ids_are_unique():
    """An id is what a key is bound by."""
    ids = [action.id for action in ACTIONS]
    assert len(set(ids)) == len(ids)


def test_keys_are_written_as_on_the_keyboard():
    """Textual's names are not shown to the reader."""
    assert key_words("up,k,full_stop,ctrl+d") == "↑ k . ctrl+d"


# The clipboard


def _clipboard(tmp_path, **environment):
    sent = []
    return Clipboard(sent.append, tmp_path / "state", environment), sent


def test_short_texts_go_through_the_terminal(tmp_path):
    """As they are; lone surrogates cannot be encoded and become question marks."""
    clipboard, sent = _clipboard(tmp_path)
    assert clipboard.copy("leek \ud83d") == "copied 6 B"
    assert sent == ["leek ?"]


def test_long_texts_go_into_a_file_of_the_user_alone(tmp_path):
    """Terminals drop long sequences silently: the reader is told where the text is."""
    clipboard, sent = _clipboard(tmp_path)
    words = clipboard.copy("x" * 100_000)
    path = tmp_path / "state" / "copied.txt"
    assert str(path) in words
    assert sent == []
    assert path.read_text() == "x" * 100_000
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_tmux_gets_the_text_too(tmp_path, monkeypatch):
    """Its buffer is filled whatever the terminal around it does."""
    tool = tmp_path / "bin" / "tmux"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\ncat > {tmp_path}/buffer\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    clipboard, _ = _clipboard(tmp_path, TMUX="x")
    clipboard.copy("leeks")
    assert (tmp_path / "buffer").read_text() == "leeks"
    assert (tmp_path / "asked").read_text() == "load-buffer -w -\n"


def test_nowhere_to_copy_to_is_said(tmp_path):
    """Neither terminal nor file."""
    (tmp_path / "state").write_text("")
    clipboard, _ = _clipboard(tmp_path)
    assert "no file could be written" in clipboard.copy("x" * 100_000)


def test_hidden_characters_are_noticed():
    """Line breaks and tabs are no reason to ask."""
    assert has_hidden("a\x1b[2Jb")
    assert has_hidden("a\u202eb")
    assert not has_hidden("a\n\tb 👩\u200d🚒")


# Searching


def _all(task, tape):
    list(task.run(tape, lambda: True))
    return task


def test_a_search_finds_the_events_that_hold_a_match(canteen):
    """Text that many calls repeat is found where it first entered."""
    tape = open_trace(canteen).tape
    search = _all(Search("soak them"), tape)
    assert search.events == [4, 5]
    assert search.done
    assert search.next_event(0, 1) == (4, False)
    assert search.next_event(5, 1) == (4, True)
    assert search.next_event(4, -1) == (5, True)
    assert "2 events" in search.words


def test_case_counts_when_the_pattern_has_a_capital(canteen):
    """Smart case, as in an editor."""
    tape = open_trace(canteen).tape
    assert _all(Search("LENTILS"), tape).events == []
    assert _all(Search("lentils"), tape).events


def test_a_stopped_search_knows_that_it_is_not_done(canteen):
    """What was found so far is kept."""
    search = Search("e")
    tape = open_trace(canteen).tape
    list(search.run(tape, chain([True] * 4, repeat(False)).__next__))
    assert search.hits
    assert not search.done
    assert search.words.endswith("…")


def test_bad_patterns_are_usage_errors():
    """Said, not raised through the app."""
    with pytest.raises(UsageError):
        Search("(")
    with pytest.raises(UsageError):
        Filter("*")


def test_a_filter_goes_on_where_it_stopped(growing):
    """New events are looked at, old ones are not again."""
    tape = open_trace(growing.path).tape
    leeks = Filter("leeks")
    growing.append("note", {"text": "leeks"})
    tape.refresh()
    assert _all(leeks, tape).numbers == [1]
    growing.append("note", {"text": "lentils"})
    growing.append("note", {"text": "more leeks"})
    tape.refresh()
    assert _all(leeks, tape).numbers == [1, 3]
