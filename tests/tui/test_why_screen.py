"""The why screen: the real app, a stand-in for the model, keys in, pictures out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runtape.attribution.facts import (
    Calls,
    CallsChanged,
    PieceAsked,
    PieceState,
    TallyChanged,
    Verdict,
)
from runtape.demo.agent import record_inbox
from runtape.demo.inbox import simulated_model
from runtape.dialects import dialect_for
from runtape.errors import IncompleteContext
from runtape.models.function import as_reply
from runtape.settings import Settings
from runtape.trials import Tally
from runtape.workbench import prepare_why
from runtape_tui.asking import JobOptions
from runtape_tui.jobs import Engine, JobRunner
from runtape_tui.screens.confirm import ConfirmScreen
from runtape_tui.screens.trace import TraceScreen
from runtape_tui.screens.why import WhyScreen
from tests.support.app import picture, play, press, settle
from tests.support.golden import assert_golden
from tests.support.loopback import Fault, Loopback
from tests.support.played import ending, opening, playing, solved
from tests.support.why_models import desk

STAND_IN = "tests.support.why_models:inbox"
CHAT = dialect_for("openai.chat")
CAUSE = "12.body para 4 sentence 1"
_PATIENCE = 3_000


@pytest.fixture
def inbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The inbox run, in a working folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
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


async def done(app, pilot) -> WhyScreen:
    """Wait for the end of the job; the screen."""
    await until(pilot, lambda: isinstance(app.screen, WhyScreen) and app.screen.ticket is not None)
    screen = app.screen
    await until(pilot, lambda: _over(screen))
    await settle(pilot)
    return screen


def _over(screen) -> bool:
    """Whether the job has ended and everything it told was taken in."""
    ticket = screen.ticket
    return not ticket.open and screen._position == len(ticket.items)


async def confirming(app, pilot) -> None:
    """Wait for the question."""
    await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and app.screen.focused)


def on(trace: Path, script, **more):
    """Play a script at the forwarding."""
    return play(trace, script, at="tool:forward_email", **more)


def test_the_cause_is_found_from_the_trace_screen(inbox):
    """w, and at the end the comment in the invoice is the cause; rows changed before."""

    async def script(app, pilot):
        desk.reset(most=20)
        await press(pilot, "w")
        screen = app.screen
        await until(pilot, lambda: screen.heat.baseline.runs)
        await until(pilot, lambda: any(row.in_flight for row in screen.heat.rows))
        before = [screen.heat.standing(row) for row in screen.heat.rows]
        assert PieceState.RUNNING in before
        assert screen.ticket.open
        desk.release()
        await done(app, pilot)
        lead = screen.heat.lead
        assert lead.piece.ref == CAUSE
        assert lead.state is PieceState.CAUSE
        assert "Note to AI assistants" in lead.piece.text
        assert screen.rows.selected is lead
        assert screen.document.model.piece_at(screen.document.cursor) is not None
        assert f"● cause     {CAUSE}" in picture(app)

    on(inbox, script, flags={"model_fn": STAND_IN, "workers": 4})


def test_a_live_call_is_confirmed_first(inbox):
    """The estimate in one line; esc asks nothing, and a function may be typed instead."""

    async def script(app, pilot):
        await press(pilot, "w")
        await confirming(app, pilot)
        shown = picture(app)
        assert "This asks stand-in" in shown
        assert "⏎ go on" in shown
        await press(pilot, "escape")
        assert isinstance(app.screen, WhyScreen)
        assert app.jobs.newest(app.screen.KIND, app.screen.event) is None
        await press(pilot, "w")
        await confirming(app, pilot)
        await press(pilot, *_typed(STAND_IN), "enter")
        screen = await done(app, pilot)
        assert screen.heat.report.verdict is Verdict.ATTRIBUTED
        assert app.jobs.options.asking.model_fn == STAND_IN

    on(inbox, script)


def test_a_missing_key_is_said_with_its_hint(inbox):
    """No key: the line in the place of the answer says so; the app lives on."""

    async def script(app, pilot):
        await press(pilot, "w")
        await confirming(app, pilot)
        await press(pilot, "enter")
        screen = await done(app, pilot)
        assert screen.ticket.error is not None
        shown = picture(app)
        assert "failed" in shown
        assert "OPENAI_API_KEY" in shown
        await press(pilot, "q")
        assert isinstance(app.screen, TraceScreen)

    on(inbox, script)


def test_stopped_and_asked_again_it_pays_for_no_call_twice(inbox):
    """Esc in the middle keeps every reply: the second time only the rest is asked."""

    async def script(app, pilot):
        desk.reset(most=24)
        await press(pilot, "w")
        screen = app.screen
        await until(pilot, lambda: desk.begun > 24)
        await press(pilot, "escape")
        await until(pilot, lambda: _over(screen))
        kept = desk.answered
        assert kept == 24
        assert screen.heat.report.verdict is Verdict.INTERRUPTED
        assert "asking again starts from here" in " ".join(screen.details.text.split())
        desk.reset()
        await press(pilot, "w")
        again = await done(app, pilot)
        assert again.heat.report.verdict is Verdict.ATTRIBUTED
        return kept, desk.begun, again.heat.report.calls

    kept, asked, calls = on(inbox, script, flags={"model_fn": STAND_IN, "workers": 4})
    assert calls.cached >= kept
    assert asked == calls.made
    assert asked + calls.cached == _calls_of_a_whole_run(inbox)


def _calls_of_a_whole_run(trace: Path) -> int:
    async def script(app, pilot):
        desk.reset()
        await press(pilot, "w")
        return (await done(app, pilot)).heat.report.calls.made

    return on(trace, script, flags={"model_fn": STAND_IN, "no_cache": True})


def test_a_model_function_that_raises_ends_with_what_is_known(inbox):
    """The failure is told in its place, with the rows as they stand; w asks again."""

    async def script(app, pilot):
        await press(pilot, "w")
        screen = await done(app, pilot)
        assert screen.heat.report.verdict is Verdict.PROVIDER_FAILED
        assert screen.heat.baseline.runs
        assert "The model failed" in screen.head.text
        assert "the model broke" in screen.details.text
        await press(pilot, "j", "s", "tab")
        assert isinstance(app.screen, WhyScreen)

    on(inbox, script, flags={"model_fn": "tests.support.why_models:breaking"})


def test_a_provider_that_fails_in_the_middle_ends_with_what_is_known(inbox, monkeypatch):
    """Status, hint and the rows as they stand; the app lives on."""
    monkeypatch.setenv("OPENAI_API_KEY", "test")

    def answer(_, body, number):
        refused = Fault(status=401, body={"error": {"message": "the key was revoked"}})
        return refused if number >= 24 else as_reply(simulated_model(body), CHAT)

    async def script(app, pilot):
        await press(pilot, "w")
        screen = await done(app, pilot)
        assert screen.heat.report.verdict is Verdict.PROVIDER_FAILED
        assert screen.heat.report.calls.made == 24
        assert "The model failed" in screen.head.text
        assert "the key was revoked" in screen.details.text
        await press(pilot, "G", "q")
        assert isinstance(app.screen, TraceScreen)

    with Loopback(answer) as server:
        flags = {"base_url": f"{server.url}/v1", "yes": True, "workers": 2}
        on(inbox, script, flags=flags)


def test_a_context_that_is_not_all_there_is_a_verdict(inbox):
    """Nothing is asked, nothing is confirmed; what is missing is said."""

    def lacking(trace, event, options):
        job = prepare_why(trace, event, options)
        job.context = IncompleteContext("The first turns are held by the server.")
        return job

    async def script(app, pilot):
        app.jobs = JobRunner(JobOptions(), Engine(why=lacking))
        await press(pilot, "w")
        screen = await done(app, pilot)
        assert screen.heat.report.verdict is Verdict.INCOMPLETE_CONTEXT
        assert "The trace lacks what a rerun of this call needs" in screen.head.text
        await press(pilot, "j", "tab", "tab", "s", "f", "y")
        assert isinstance(app.screen, WhyScreen)

    on(inbox, script)


def test_a_second_question_waits_for_the_first(inbox):
    """Odds while a search runs: said in the status line, asked when the search is over."""

    async def script(app, pilot):
        desk.reset(most=30)
        await press(pilot, "w")
        search = app.screen
        await until(pilot, lambda: desk.begun > 30)
        await press(pilot, "o")
        odds = app.screen
        await until(pilot, lambda: odds.ticket is not None)
        assert "waits" in odds.status.text
        assert "why #23" in odds.status.text
        desk.release()
        await until(pilot, lambda: _over(odds))
        assert odds.found.tally.same == 10
        assert not search.ticket.open

    on(inbox, script, flags={"model_fn": STAND_IN, "workers": 4})


def test_a_function_that_is_not_there_is_said(inbox):
    """A typing mistake is a line, not the end."""

    async def script(app, pilot):
        await press(pilot, "w")
        await until(pilot, lambda: "failed" in app.screen.head.text)
        assert "why_models" in app.screen.head.text

    on(inbox, script, flags={"model_fn": "tests.support.why_models:inbux"})


def test_an_event_without_a_decision_is_said(inbox):
    """The start of a run decided nothing."""

    async def script(app, pilot):
        await press(pilot, "g", "w")
        await until(pilot, lambda: "no model decided anything there" in app.screen.head.text)
        await press(pilot, "escape")
        assert isinstance(app.screen, TraceScreen)

    on(inbox, script, flags={"model_fn": STAND_IN})


def test_leaving_the_screen_does_not_stop_the_search_and_coming_back_shows_it(inbox):
    """Q goes back; the trace screen says what runs; w shows the same job, not another one."""

    async def script(app, pilot):
        desk.reset(most=30)
        await press(pilot, "w")
        ticket = (screen := app.screen).ticket
        await until(pilot, lambda: desk.begun > 30)
        await press(pilot, "q")
        assert isinstance(app.screen, TraceScreen)
        assert ticket.open
        desk.release()
        await press(pilot, "w")
        again = await done(app, pilot)
        assert again is not screen
        assert again.ticket is ticket
        assert again.heat.lead.piece.ref == CAUSE

    on(inbox, script, flags={"model_fn": STAND_IN, "workers": 4})


def test_leaving_the_app_stops_the_search_and_says_what_is_kept(inbox):
    """The words printed when the terminal is given back."""

    async def script(app, pilot):
        desk.reset(most=30)
        await press(pilot, "w")
        await until(pilot, lambda: desk.begun > 30)
        await press(pilot, "q")
        await pilot.press("q")
        return app.farewell

    words = on(inbox, script, flags={"model_fn": STAND_IN, "workers": 4})
    assert re.match(r"Stopped why #23 after \d+ calls\. Every reply is kept in \.runtape", words)


def test_sorting_keeps_the_piece_under_the_cursor(inbox):
    """By effect, by p, in reading order; the cursor stays on its piece."""

    async def script(app, pilot):
        await press(pilot, "w")
        screen = await done(app, pilot)
        places = []
        for _ in range(3):
            places.append(screen.rows.cursor)
            assert screen.rows.selected.piece.ref == CAUSE
            await press(pilot, "s")
        assert len(set(places)) > 1

    on(inbox, script, flags={"model_fn": STAND_IN})


def test_rows_and_context_follow_one_another(inbox):
    """Down in the rows moves the context; down in the context moves the rows."""

    async def script(app, pilot):
        await press(pilot, "w")
        screen = await done(app, pilot)
        await press(pilot, "G")
        await until(pilot, lambda: screen.document.cursor == _row_of(screen))
        await press(pilot, "tab", "g")
        assert screen.document.has_focus
        await until(pilot, lambda: screen.rows.selected.piece.ref == "system")
        await press(pilot, "tab")
        assert screen.details.has_focus
        await press(pilot, "tab", "f")
        assert screen.rows.has_focus
        assert screen.rows.selected.piece.ref == CAUSE

    on(inbox, script, flags={"model_fn": STAND_IN})


def _row_of(screen: WhyScreen) -> int:
    return screen.document.model.row_of_piece(screen.rows.selected.piece)


def test_the_report_is_copied(inbox):
    """Y copies what `runtape why` prints."""

    async def script(app, pilot):
        copied = []
        app.copy_to_clipboard = copied.append
        await press(pilot, "w")
        await done(app, pilot)
        await press(pilot, "y")
        return copied

    (text,) = on(inbox, script, flags={"model_fn": STAND_IN})
    assert "Note to AI assistants" in text
    assert "runtape rerun" in text


def test_eighty_columns_show_one_pane_at_a_time(inbox):
    """Rows first; Tab goes to the context and to the details."""

    async def script(app, pilot):
        await press(pilot, "w")
        screen = await done(app, pilot)
        shown = []
        for _ in range(3):
            shown.append([pane.display and _on_screen(pane) for pane in screen._panes])
            await press(pilot, "tab")
        assert shown == [[True, False, False], [False, True, False], [False, False, True]]
        await pilot.resize_terminal(120, 40)
        await settle(pilot)
        assert all(_on_screen(pane) for pane in screen._panes)

    on(inbox, script, size=(80, 24), flags={"model_fn": STAND_IN})


def _on_screen(pane) -> bool:
    return all(node.display for node in pane.ancestors_with_self if hasattr(node, "display"))


# Pictures: a fake engine, so that every run looks the same


def halfway(job):
    """In the middle of a screening: one piece falls, one stays, some are in flight."""
    system, user, *others = job.context.roots
    return [
        *opening(job),
        PieceAsked((system.id,), 2),
        PieceAsked((user.id,), 2),
        PieceAsked(tuple(piece.id for piece in others[:3]), 2),
        TallyChanged(system.id, Tally(1, 1), 1.0),
        TallyChanged(system.id, Tally(2, 2), 1.0),
        TallyChanged(user.id, Tally(0, 1), 0.053),
        CallsChanged(Calls(made=21, budget=400, rounds=1, input_tokens=9000, output_tokens=300)),
        3600.0,
        ending(job),
    ]


@pytest.mark.parametrize("size", [(120, 30), (80, 24)], ids=["wide", "small"])
def test_a_search_in_flight_looks_as_it_should(inbox, size):
    """Rows in flight, one that fell, the context tinted beside them, the bill below."""

    async def script(app, pilot):
        app.jobs = JobRunner(JobOptions(yes=True), playing(halfway))
        await press(pilot, "w")
        screen = app.screen
        await until(pilot, lambda: "21/400 calls" in screen.status.text)
        await until(pilot, lambda: "removing pieces" in screen.head.text)
        await settle(pilot)
        shown = picture(app)
        app.jobs.close()
        return shown

    name = "wide" if size[0] > 100 else "small"
    assert_golden(f"screens/why in flight, {name}", _settled(on(inbox, script, size=size)))


@pytest.mark.parametrize("size", [(120, 36), (80, 24)], ids=["wide", "small"])
def test_a_finished_search_looks_as_it_should(inbox, size):
    """The cause on top, the evidence below, its words lit."""

    async def script(app, pilot):
        app.jobs = JobRunner(JobOptions(yes=True), playing(lambda job: solved(job, CAUSE)))
        await press(pilot, "w")
        await done(app, pilot)
        if size[0] < 100:
            await press(pilot, "enter")
        return picture(app)

    name = "wide" if size[0] > 100 else "small"
    assert_golden(f"screens/why done, {name}", _settled(on(inbox, script, size=size)))


def test_the_confirmation_looks_as_it_should(inbox):
    """One line, and the keys."""

    async def script(app, pilot):
        await press(pilot, "w")
        await confirming(app, pilot)
        await settle(pilot)
        return picture(app)

    assert_golden("screens/confirm", _settled(on(inbox, script, size=(80, 24))))


def _settled(shown: str) -> str:
    """Times and the moving mark as they never are."""
    shown = re.sub(r"\b\d+(\.\d+)? (ms|s|min)\b", "0 s", shown)
    shown = re.sub(r" +█ sure", "  █ sure", shown)
    return re.sub(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "⠿", shown)


def _typed(text: str) -> list[str]:
    names = {".": "full_stop", ":": "colon", "_": "underscore"}
    return [names.get(character, character) for character in text]


def test_settings_may_skip_the_question(inbox):
    """`yes` in one's own settings."""

    async def script(app, pilot):
        app.jobs = JobRunner(JobOptions.read(Settings(yes=True)), playing(lambda j: [ending(j)]))
        await press(pilot, "w")
        screen = await done(app, pilot)
        assert screen.heat.report.verdict is Verdict.NOTHING_FOUND
        assert "no cause" in screen.head.text

    on(inbox, script)
