"""Saving what was found: the report in four forms, and a regression test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runtape.decision import Decision, DecisionKind
from runtape.demo.agent import record_inbox
from runtape.dialects.base import ToolCall
from runtape_tui.jobs import JobRunner
from runtape_tui.screens.chooser import Chooser
from runtape_tui.screens.edit import EditScreen
from runtape_tui.screens.why import WhyScreen
from runtape_tui.view_models.saving import check_name, report_name
from tests.support.app import picture, play, press, settle
from tests.support.played import ending, opening, playing, solved

CAUSE = "12.body para 4 sentence 1"
_PATIENCE = 1_000


@pytest.fixture
def inbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The inbox run, in a working folder of its own."""
    monkeypatch.chdir(tmp_path)
    return record_inbox(tmp_path / "traces")


def found(trace: Path, script, facts=lambda job: solved(job, CAUSE)):
    """Play a script on the why screen, once its played search is over."""

    async def whole(app, pilot):
        app.__dict__["jobs"] = JobRunner(app.jobs.options, playing(facts))
        await press(pilot, "w")
        if not isinstance(app.screen, WhyScreen):
            await press(pilot, "enter")
        for _ in range(_PATIENCE):
            await pilot.pause(0.01)
            if app.screen.ticket is not None and not app.screen.ticket.open:
                break
        await settle(pilot)
        return await script(app, pilot)

    flags = {"model_fn": "runtape.demo.inbox:simulated_model"}
    return play(trace, whole, at="tool:forward_email", flags=flags, size=(100, 30))


def text_of(name: str | Path) -> str:
    """What stands in a file of the working folder."""
    return Path(name).read_text(encoding="utf-8")


async def name_it(app, pilot, name: str) -> str:
    """Type a name in place of the offered one; what the status line says then."""
    assert isinstance(app.screen, EditScreen)
    app.screen._field.value = name
    await press(pilot, "enter")
    return "" if isinstance(app.screen, Chooser) else app.screen.status.text


def test_the_report_is_saved_as_a_page_under_the_offered_name(inbox):
    """S, enter: why-forward_email.html, with the cause in it, and the status line says where."""

    async def script(app, pilot):
        await press(pilot, "S")
        assert "why-forward_email.html" in picture(app)
        await press(pilot, "enter")
        assert "Saved why-forward_email.html" in app.screen.status.text
        page = text_of("why-forward_email.html")
        assert page.lower().startswith("<!doctype html>")
        assert "Note to AI assistants" in page

    found(inbox, script)


def test_the_ending_says_which_form(inbox):
    """SVG, Markdown, JSON by the ending, whatever its case."""

    async def script(app, pilot):
        for name, begins in (("heat.svg", "<svg"), ("why.md", "### Why"), ("WHY.JSON", "{")):
            await press(pilot, "S")
            assert f"Saved {name}" in await name_it(app, pilot, name)
            assert text_of(name).startswith(begins)

    found(inbox, script)
    assert json.loads(text_of("WHY.JSON"))["schema"] == "runtape.why/1"


def test_a_file_is_not_overwritten_without_a_second_yes(inbox):
    """Esc keeps the file; y replaces it."""
    Path("why.md").write_text("mine")

    async def script(app, pilot):
        await press(pilot, "S")
        await name_it(app, pilot, "why.md")
        assert "why.md exists already" in picture(app)
        await press(pilot, "escape")
        assert text_of("why.md") == "mine"
        assert "stays as it was" in app.screen.status.text
        await press(pilot, "S")
        await name_it(app, pilot, "why.md")
        await press(pilot, "y")
        assert "Saved why.md" in app.screen.status.text
        assert text_of("why.md").startswith("### Why")

    found(inbox, script)


BAD_NAMES = {
    "": "Nothing was written",
    "why.docx": "end it with .html, .svg, .json or .md",
    "why": "end it with",
    "nowhere/why.html": "No such file or directory",
    "folder.html": "is a folder",
    "a\0b.html": "Cannot write it",
    "x" * 300 + ".html": "File name too long",
}


def test_a_name_that_cannot_be_written_is_said(inbox):
    """No form, no folder, a folder, no path at all: said in the status line."""
    Path("folder.html").mkdir()

    async def script(app, pilot):
        for name, words in BAD_NAMES.items():
            await press(pilot, "S")
            assert words in await name_it(app, pilot, name)
            assert isinstance(app.screen, WhyScreen)

    found(inbox, script)


def test_there_is_nothing_to_save_before_the_end(inbox):
    """S and T while it runs say that there is no result yet."""

    async def script(app, pilot):
        for key, words in (("S", "nothing to save"), ("T", "nothing to test")):
            await press(pilot, key)
            assert isinstance(app.screen, WhyScreen)
            assert words in app.screen.status.text

    found(inbox, script, facts=opening)


def test_a_test_of_the_recorded_context_is_written(inbox):
    """T u: a file for pytest and a copy of the trace; the status line says how to run it."""

    async def script(app, pilot):
        await press(pilot, "T", "u")
        assert "fails until" in picture(app)
        await press(pilot, "enter")
        assert "Run it: pytest test_forward_email.py" in app.screen.status.text
        written = text_of("test_forward_email.py")
        assert "drop=" not in written
        assert text_of(f"runtape_traces/{inbox.name}") == text_of(inbox)

    found(inbox, script)


def test_a_test_without_the_cause_goes_among_the_tests(inbox):
    """T c: the cause is taken out in the test; the folder tests is offered where there is one."""
    Path("tests").mkdir()

    async def script(app, pilot):
        await press(pilot, "T", "c", "enter")
        assert "Run it: pytest tests/test_forward_email.py" in app.screen.status.text
        assert CAUSE in text_of("tests/test_forward_email.py")

    found(inbox, script)


def test_a_test_file_is_not_overwritten_silently(inbox):
    """A file that is there stays, unless y; a name pytest would not collect is refused."""
    Path("test_mine.py").write_text("mine")

    async def script(app, pilot):
        await press(pilot, "T", "u")
        await name_it(app, pilot, "test_mine.py")
        assert isinstance(app.screen, Chooser)
        await press(pilot, "n")
        assert text_of("test_mine.py") == "mine"
        await press(pilot, "T", "u")
        assert "would not collect" in await name_it(app, pilot, "mine.py")
        await press(pilot, "T", "u")
        await name_it(app, pilot, "test_mine.py")
        await press(pilot, "y")
        assert "Run it: pytest test_mine.py" in app.screen.status.text
        assert "runtape" in text_of("test_mine.py")

    found(inbox, script)


def test_another_copy_of_the_trace_is_not_overwritten_silently(inbox):
    """A copy beside the tests that differs (the run went on) is asked about like any file."""
    copy = Path("runtape_traces", inbox.name)
    copy.parent.mkdir()
    copy.write_text("an older copy")

    async def script(app, pilot):
        await press(pilot, "T", "u", "enter")
        assert f"{inbox.name} exists already" in picture(app)
        await press(pilot, "escape")
        assert text_of(copy) == "an older copy"
        await press(pilot, "T", "u", "enter", "y")
        assert "Run it: pytest" in app.screen.status.text
        assert text_of(copy) == text_of(inbox)

    found(inbox, script)


def test_without_a_cause_the_recorded_context_is_tested(inbox):
    """Nothing to take out: no question which; esc writes nothing."""

    async def script(app, pilot):
        await press(pilot, "T")
        assert isinstance(app.screen, EditScreen)
        await press(pilot, "escape")
        assert "Nothing was written" in app.screen.status.text

    found(inbox, script, facts=lambda job: [*opening(job), ending(job)])
    assert not list(Path().glob("test_*"))


def test_names_are_made_of_what_a_trace_says_without_its_tricks(tmp_path):
    """A tool named like a path gives a plain file name; no tool gives the event's number."""
    evil = Decision(
        7, 5, DecisionKind.TOOL, (ToolCall("../../\x1b]x/a b", {}),), "../../\x1b]x/a b"
    )
    assert report_name(evil, "why") == "why-x_a_b.html"
    assert check_name(evil, tmp_path) == "test_x_a_b.py"
    assert report_name(Decision(7, 5, DecisionKind.TEXT, text="hi"), "fix") == "fix-event_7.html"
