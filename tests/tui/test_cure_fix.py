"""The fix screen: a table of remedies that fills, what each does and breaks, and its test."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from runtape.attribution.facts import CallsChanged
from runtape.demo.agent import record_inbox
from runtape.remedies.facts import (
    BystanderChanged,
    EffectChanged,
    Explained,
    Fix,
    FixEnd,
    FixFinished,
    Graded,
    Keeping,
    Proposed,
    RemainsChanged,
    Watched,
)
from runtape.remedies.options import FixOptions
from runtape.trials import Tally
from runtape.workbench import FixJob, prepare_fix
from runtape_tui.asking import JobOptions
from runtape_tui.jobs import Engine, JobRunner
from runtape_tui.screens.edit import EditScreen
from runtape_tui.screens.fix import FixScreen
from runtape_tui.screens.why import WhyScreen
from runtape_tui.tickets import JobKind, Ticket
from runtape_tui.view_models.fix import FixTable, waiting_words
from tests.support.app import picture, play, press, settle
from tests.support.fixes import CALLS, FIXES, MEASURED, fix_report
from tests.support.played import playing, solved

CAUSE = "12.body para 4 sentence 1"
_PATIENCE = 1_000


def story(fix: Fix = MEASURED) -> list[object]:
    """The facts of a `fix`, from its result."""
    facts: list[object] = [Explained(fix.explained)]
    if not fix.trials:
        return [*facts, FixFinished(fix)]
    facts.append(Proposed(tuple(trial.remedy for trial in fix.trials), 10))
    facts += [RemainsChanged(n, t.remains, t.p) for n, t in enumerate(fix.trials)]
    facts.append(Watched(fix.bystanders, fix.left_out))
    facts += [BystanderChanged(n, b.tally, b.stable) for n, b in enumerate(fix.bystanders)]
    for number, trial in enumerate(fix.trials):
        facts += [EffectChanged(number, e.bystander, e.tally, e.keeping) for e in trial.effects]
        if trial.grade is not None:
            facts.append(Graded(number, trial))
    return [*facts, CallsChanged(CALLS), FixFinished(fix)]


class PlayedFix(FixJob):
    """Plays facts instead of measuring; stopped, it ends with what `halted` says."""

    script = ()

    async def facts(self):
        """The facts; None waits until somebody stops it."""
        self.halted = threading.Event()
        for fact in self.script:
            if fact is None:
                await asyncio.to_thread(self.halted.wait, 20)
            else:
                yield fact

    def stop(self):
        """Go on to the end."""
        self.halted.set()


class Cures:
    """An engine whose `fix` jobs play.

    Attributes:
        found: what each job was given of an earlier search.
    """

    def __init__(self, script) -> None:
        self.script, self.found = script, []
        self.engine = Engine(why=playing(lambda job: solved(job, CAUSE)).why, fix=self.fix)

    def fix(self, trace, event, options, found):
        """A job that plays."""
        self.found.append(found)
        plain = prepare_fix(trace, event, options)
        job = PlayedFix(plain.question, FixOptions(), (), (), None)
        job.script = self.script
        return job


@pytest.fixture
def inbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The inbox run, in a working folder of its own."""
    monkeypatch.chdir(tmp_path)
    return record_inbox(tmp_path / "traces")


async def until(pilot, condition) -> None:
    """Wait for something that a job leads to."""
    for _ in range(_PATIENCE):
        await pilot.pause(0.01)
        if condition():
            return
    raise AssertionError(picture(pilot.app))


async def over(app, pilot) -> None:
    """Wait for the end of the job of the screen."""
    await until(pilot, lambda: app.screen.ticket is not None and not app.screen.ticket.open)
    await settle(pilot)


def cured(trace: Path, script, cures: Cures, *, size=(120, 36)):
    """Play a script on the fix screen that was opened from the why screen."""

    async def whole(app, pilot):
        app.__dict__["jobs"] = JobRunner(app.jobs.options, cures.engine)
        await press(pilot, "w")
        await over(app, pilot)
        assert isinstance(app.screen, WhyScreen)
        await press(pilot, "X")
        assert isinstance(app.screen, FixScreen)
        return await script(app, pilot)

    flags = {"model_fn": "runtape.demo.inbox:simulated_model"}
    return play(trace, whole, at="tool:forward_email", flags=flags, size=size)


def test_remedies_fill_a_table_and_the_best_is_named(inbox):
    """Glyph and word of each grade, how often it remains, what it keeps; what happens instead."""
    cures = Cures(story())

    async def script(app, pilot):
        await over(app, pilot)
        shown = picture(app)
        rows = [row for row in shown.splitlines() if row[1:].startswith(("✓", "◐", "✗", "– "))]
        for glyph, word in (("◐ PART", "2/10"), ("✓ PASS", "0/10"), ("✗ FAIL", "10/10")):
            assert any(glyph in row and word in row for row in rows), shown
        assert "action guard passes: the call remains in 0/10" in app.screen.head.text
        await press(pilot, "j")
        rule = MEASURED.trials[1].remedy.system.split()
        assert " ".join(rule) in " ".join(app.screen.details.text.split())
        assert "kept: event 8 calls read_email" in app.screen.details.text

    cured(inbox, script, cures)
    assert [found.headline.pieces[0].ref for found in cures.found] == [CAUSE]


def test_what_a_remedy_breaks_stands_first(inbox):
    """The row says 1/2, its details which decision is broken, and what happens instead."""

    async def script(app, pilot):
        await over(app, pilot)
        assert "BROKEN: event 8 calls read_email, 15/15 → 4/15" in app.screen.details.text
        assert "1/2" in app.screen.rows.text.splitlines()[0]
        await press(pilot, "enter")
        assert app.screen.details.has_focus

    cured(inbox, script, Cures(story()))


def test_the_test_is_of_the_remedy_under_the_pointer(inbox):
    """T on the guard: its rule and the decision it keeps stand in the file."""

    async def script(app, pilot):
        await over(app, pilot)
        await press(pilot, "j", "T")
        assert isinstance(app.screen, EditScreen)
        assert "action guard (PASS)" in picture(app)
        await press(pilot, "enter")
        assert "Run it: pytest test_forward_email.py" in app.screen.status.text
        await press(pilot, "S", "enter")
        assert "Saved fix-forward_email.html" in app.screen.status.text
        await press(pilot, "j", "j", "j", "T")
        assert "was not run: nothing to test" in app.screen.status.text

    cured(inbox, script, Cures(story()))
    written = Path("test_forward_email.py").read_text(encoding="utf-8")
    assert MEASURED.trials[1].remedy.system.split()[0] in written
    assert "read_email" in written
    assert "action guard" in Path("fix-forward_email.html").read_text(encoding="utf-8")


def test_it_can_be_stopped_and_asked_again(inbox):
    """Esc ends it with what is known, marked as open; X asks again; q goes back."""
    stopped = replace(FIXES["interrupted"])
    cures = Cures([*story(stopped)[:-1], None, FixFinished(stopped)])

    async def script(app, pilot):
        await until(pilot, lambda: "runs" in app.screen.rows.text)
        assert app.screen.ticket.open
        await press(pilot, "T")
        assert "no result yet" in app.screen.status.text
        await press(pilot, "escape")
        await over(app, pilot)
        assert "– open" in app.screen.rows.text
        assert "Interrupted." in app.screen.head.text
        cures.script = story()
        await press(pilot, "X")
        await over(app, pilot)
        assert "✓ PASS" in app.screen.rows.text
        await press(pilot, "q")
        assert isinstance(app.screen, WhyScreen)
        await press(pilot, "X")
        assert "✓ PASS" in app.screen.rows.text

    cured(inbox, script, cures, size=(80, 24))


def test_a_fix_that_cannot_be_prepared_says_why(inbox):
    """The error stands in the place of the answer; the app lives on."""
    cures = Cures(())

    def broken(*_):
        raise ValueError("no such thing")

    cures.engine = replace(cures.engine, fix=broken)

    async def script(app, pilot):
        await settle(pilot)
        assert "no such thing" in app.screen.head.text
        for key in ("T", "S", "j", "y", "enter", "tab"):
            await press(pilot, key)
        await press(pilot, "q")
        assert isinstance(app.screen, WhyScreen)

    cured(inbox, script, cures)


@pytest.mark.parametrize("name", sorted(FIXES))
@pytest.mark.parametrize("columns", [40, 80, 120])
def test_every_ending_has_words_at_every_width(name, columns):
    """However it ends, head, table and details fit, and say something."""
    table, fix = FixTable(), FIXES[name]
    for fact in story(fix):
        table.take(fact)
    report = fix_report(fix)
    answer = table.answer_line(report, columns)
    assert len(answer.plain.split()) > 1
    for row in (*table.head_lines(columns, running=False), answer):
        assert len(row.plain) <= columns
    assert table.heading(columns).plain.strip().startswith("remains")
    assert len(table.rows) == len(fix.trials)
    for number, trial in enumerate(fix.trials):
        row = table.row_line(number, columns).plain
        assert trial.grade is None or trial.grade.value in row
        assert table.detail_lines(number, columns)
    assert waiting_words(table)


def test_while_it_runs_each_row_says_where_it_stands():
    """Waiting, running, graded: in words; effects count before their remedy is graded."""
    table = FixTable()
    for fact in story()[:2]:
        table.take(fact)
    assert "waits" in table.row_line(0, 80).plain
    table.take(RemainsChanged(0, Tally(1, 4), 0.01))
    assert "runs" in table.row_line(0, 80).plain
    assert "1/4" in table.row_line(0, 80).plain
    table.take(Watched(MEASURED.bystanders, 0))
    table.take(EffectChanged(0, 0, Tally(2, 5), Keeping.BROKEN))
    assert "0/1" in table.row_line(0, 80).plain
    assert "broken: event 8" in "".join(row.plain for row in table.detail_lines(0, 80))


def test_a_ticket_knows_what_a_fix_cost():
    """The bill is that of the result; the options are those of the app."""
    ticket = Ticket(JobKind.FIX, job=None)
    ticket.add(FixFinished(MEASURED))
    assert ticket.calls == CALLS
    assert JobOptions(runs=7).fix().runs == 7
    assert JobOptions().chain().chain
    assert FIXES["measured"].end is FixEnd.MEASURED
