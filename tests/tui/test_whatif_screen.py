"""The what-if bench and the odds on the screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runtape.demo.agent import record_inbox
from runtape_tui.screens.odds import OddsScreen
from runtape_tui.screens.trace import TraceScreen
from runtape_tui.screens.whatif import WhatIfScreen
from runtape_tui.screens.why import WhyScreen
from tests.support.app import picture, play, press, settle
from tests.support.golden import assert_golden
from tests.support.why_models import desk

STAND_IN = "tests.support.why_models:inbox"
SENTENCE = "12.body para 4 sentence 1"
_PATIENCE = 3_000


@pytest.fixture
def inbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The inbox run, in a working folder of its own."""
    monkeypatch.chdir(tmp_path)
    desk.reset()
    yield record_inbox(tmp_path / "traces")
    desk.release()


async def until(pilot, condition) -> None:
    """Wait for something that a job leads to."""
    for _ in range(_PATIENCE):
        await pilot.pause(0.01)
        if condition():
            return
    raise AssertionError(f"{condition} never held:\n{picture(pilot.app)}")


async def over(app, pilot) -> None:
    """Wait for the end of the job of the screen."""

    def ended() -> bool:
        ticket = app.screen.ticket
        if ticket is None or ticket.open:
            return False
        return app.screen._position == len(ticket.items)

    await until(pilot, ended)
    await settle(pilot)


def on(trace: Path, script, **more):
    """Play a script at the forwarding, with the stand-in."""
    flags = {"model_fn": STAND_IN, **more.pop("flags", {})}
    return play(trace, script, at="tool:forward_email", flags=flags, **more)


def _shown(screen: WhatIfScreen) -> list[str]:
    return screen.result.text.splitlines()


def test_a_piece_is_taken_out_and_both_contexts_are_run(inbox):
    """Space, R: two distributions and a p; the command beside them does the same."""

    async def script(app, pilot):
        await press(pilot, "e")
        screen = app.screen
        assert isinstance(screen, WhatIfScreen)
        assert "Nothing is changed" in await _told(screen, pilot, "R")
        await press(pilot, "j", "space")
        assert "changed     without 1" in screen.head.text
        assert re.search(r"runtape rerun \w+ 23 .*--drop 1$", screen.command.text)
        await press(pilot, "R")
        await over(app, pilot)
        assert "0/10" in _shown(screen)[1]
        assert "10/10" in _shown(screen)[1]
        assert "p = 5.4e-6" in screen.result.text
        await press(pilot, "space")
        assert "the result below is about other changes" in screen.head.text

    on(inbox, script)


async def _told(screen, pilot, key: str) -> str:
    await press(pilot, key)
    return screen.status.text


def test_from_the_heatmap_the_piece_is_out_already(inbox):
    """`e` on the cause opens the bench with it taken out."""

    async def script(app, pilot):
        await press(pilot, "w")
        await over(app, pilot)
        assert isinstance(app.screen, WhyScreen)
        await press(pilot, "e")
        screen = app.screen
        assert screen.pieces.selected.ref == SENTENCE
        assert f"without {SENTENCE}" in screen.head.text
        await press(pilot, "R")
        await over(app, pilot)
        assert screen.found.tally.same == 0
        assert screen.found.baseline.tally.same == 10
        await press(pilot, "escape")
        assert isinstance(app.screen, WhyScreen)

    on(inbox, script)


def test_a_text_is_edited_in_place(inbox):
    """E opens the text, ctrl+s keeps it, esc does not; the change is shown before and after."""

    async def script(app, pilot):
        await press(pilot, "e", "j", "e")
        await press(pilot, "H", "m", "space", "ctrl+s")
        screen = app.screen
        assert "1 says" in screen.head.text
        assert screen.bench.text(screen.pieces.selected.id).startswith("Hm Please")
        assert "before:" in screen.preview.text
        assert "--replace" in screen.command.text
        await press(pilot, "j", "e", *"xyz", "escape")
        assert len(screen.bench.texts) == 1
        await press(pilot, "x")
        assert not screen.bench.changed
        assert screen.command.text == ""

    on(inbox, script)


def test_the_readers_own_editor_may_be_used(inbox, monkeypatch):
    """`E`: what the editor leaves is the new text."""
    monkeypatch.setattr("runtape_tui.screens.whatif.rewrite", lambda _, text, __: (text[:6], ""))

    async def script(app, pilot):
        await press(pilot, "e", "j", "E")
        screen = app.screen
        assert screen.bench.text(screen.pieces.selected.id) == "Please"

    on(inbox, script)


def test_prompt_and_model_are_swapped(inbox):
    """S edits the system prompt, m the model's name; the prompt goes into a file when copied."""

    async def script(app, pilot):
        copied = []
        app.copy_to_clipboard = copied.append
        await press(pilot, "e", "s", "H", "m", "space", "ctrl+s")
        await press(pilot, "m", *"m2", "enter")
        screen = app.screen
        assert "model m2" in screen.head.text
        await press(pilot, "y")
        return copied[0]

    command = on(inbox, script)
    assert "--system-file .runtape/what-if-system.txt" in command
    assert "--model m2" in command
    assert Path(".runtape/what-if-system.txt").read_text().startswith("Hm You are")


def test_parts_are_listed_and_taken_out(inbox):
    """Enter opens a result; one of its members is taken out."""

    async def script(app, pilot):
        await press(pilot, "e", *"jj", "enter", "j", "space")
        screen = app.screen
        assert "changed     without 4[0]" in screen.head.text
        await press(pilot, "k", "space")
        assert "changed     without 4" in screen.head.text
        await press(pilot, "j")
        assert "taken out with 4" in screen.preview.text

    on(inbox, script)


def test_runs_are_stopped_and_kept(inbox):
    """Esc ends them with what came; R again pays only for the rest."""

    async def script(app, pilot):
        desk.reset(most=6)
        await press(pilot, "R", "j", "space", "R")
        screen = app.screen
        await until(pilot, lambda: desk.begun > 6)
        await press(pilot, "escape")
        await over(app, pilot)
        assert "6 of 20 runs, stopped" in screen.result.text
        desk.reset()
        await press(pilot, "R")
        await over(app, pilot)
        assert screen.found.calls.cached == 6
        assert desk.begun == 14

    on(inbox, script, flags={"workers": 2})


def test_a_failing_model_is_told(inbox):
    """Replies before the failure are shown with it."""

    async def script(app, pilot):
        await press(pilot, "e", "j", "space", "R")
        await over(app, pilot)
        await press(pilot, "R")
        await over(app, pilot)
        assert "the model broke" in app.screen.result.text or "the model broke" in picture(app)

    on(inbox, script, flags={"model_fn": "tests.support.why_models:breaking", "no_cache": True})


def test_an_event_without_a_call_is_said(inbox):
    """The start of a run has no context."""

    async def script(app, pilot):
        await press(pilot, "g", "e")
        await until(pilot, lambda: "no model decided anything there" in app.screen.head.text)
        await press(pilot, "space", "e", "s", "m", "R", "x", "y", "enter", "tab", "escape")
        assert isinstance(app.screen, TraceScreen)

    on(inbox, script)


def test_the_odds_grow_and_are_copied(inbox):
    """O: the unchanged context, ten times."""

    async def script(app, pilot):
        copied = []
        app.copy_to_clipboard = copied.append
        await press(pilot, "o")
        await over(app, pilot)
        screen = app.screen
        assert isinstance(screen, OddsScreen)
        assert "it comes in 10/10" in screen.result.text
        await press(pilot, "y")
        assert "comes in 10 of 10 runs" in copied[0]
        await press(pilot, "q", "o")
        assert app.screen.ticket is screen.ticket
        await press(pilot, "e")
        assert isinstance(app.screen, WhatIfScreen)
        await press(pilot, "q", "w")
        assert isinstance(app.screen, WhyScreen)

    on(inbox, script)


@pytest.mark.parametrize("size", [(120, 34), (80, 24)], ids=["wide", "small"])
def test_the_bench_looks_as_it_should(inbox, size):
    """A piece out, another one edited, both distributions."""

    async def script(app, pilot):
        await press(pilot, "e", "j", "space", "R")
        await over(app, pilot)
        return picture(app)

    name = "wide" if size[0] > 100 else "small"
    assert_golden(f"screens/what-if, {name}", _settled(on(inbox, script, size=size)))


def _settled(shown: str) -> str:
    """Times and the run's id as they never are."""
    shown = re.sub(r"\b\d+(\.\d+)? (ms|s|min)\b", "0 s", shown)
    return re.sub(r"rerun [0-9a-f]{12}", "rerun 0123456789ab", shown)
