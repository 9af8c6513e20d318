"""Files that a screen writes because somebody asked: the report, and a regression test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from textual import work

from runtape.attribution.options import RerunOptions
from runtape.context import build_context
from runtape.errors import IncompleteContext, RuntapeError
from runtape.reports.fix_report import FixReport
from runtape.reports.sheet import Tone
from runtape.reports.why_report import WhyReport
from runtape.workbench.presentation import subject_with_handle
from runtape.workbench.regressions import FOLDER, check_path, write_regression
from runtape_tui.screens.chooser import Choice, Chooser
from runtape_tui.screens.edit import EditScreen
from runtape_tui.screens.job_screen import JobScreen
from runtape_tui.tickets import Problem
from runtape_tui.view_models.saving import check_ending, check_name, report_name, saved_text

_NO_REPORT = "There is no result yet: nothing to save."
_NO_TEST = "There is no result yet: nothing to test."


@dataclass(frozen=True, slots=True)
class Test:
    """A regression test to be written.

    Attributes:
        options: the change under which the decision must not come back; without one, the
            recorded context.
        kept: decisions that must go on happening, as in ``write_regression``.
        title: what it tests, in a few words.
    """

    __test__ = False

    options: RerunOptions
    title: str
    kept: Mapping[int, str] = field(default_factory=dict)


class SavingScreen(JobScreen):
    """A screen whose result can be saved."""

    # What a subclass provides

    def result(self) -> tuple[WhyReport, FixReport | None] | None:
        """What is known in the end, or None."""
        raise NotImplementedError

    def choose_test(self, then: Callable[[Test], None]) -> None:
        """Find out which test is wanted; says in the status line why none can be written."""
        raise NotImplementedError

    # Actions

    def action_save(self) -> None:
        """Save the report under a name that is asked for."""
        found = self.result()
        if found is None:
            self.status.say(_NO_REPORT, Tone.WARN)
            return
        name = report_name(found[0].investigation.decision, "fix" if found[1] else "why")

        def save(path: Path) -> None:
            self._save(path, *found)

        def check(path: Path) -> Path | None:
            check_ending(path)
            return _in_the_way(path)

        self._ask_path("save report: .html .svg .json .md", name, check, save)

    def action_test(self) -> None:
        """Write a regression test to a path that is asked for."""
        if self.result() is None:
            self.status.say(_NO_TEST, Tone.WARN)
            return
        self.choose_test(self._ask_test)

    def _ask_test(self, test: Test) -> None:
        found = self.result()
        if found is None:
            return

        def check(path: Path) -> Path | None:
            check_path(path, force=True)
            return _in_the_way(path) or _in_the_way(path.parent / FOLDER / copied.name, copied)

        def write(path: Path) -> None:
            self._write_test(path, test, force=check(path) is not None)

        copied = self.trace.path
        name = check_name(found[0].investigation.decision, Path.cwd())
        self._ask_path(f"write a pytest file: {test.title}", name, check, write)

    # Paths

    def _ask_path(
        self,
        title: str,
        name: str,
        check: Callable[[Path], Path | None],
        write: Callable[[Path], None],
    ) -> None:
        """Ask for a path; what `check` finds in the way is overwritten only after a second yes."""

        def named(typed: str | None) -> None:
            if typed is None or not typed.strip():
                self.status.say("Nothing was written.", Tone.QUIET)
                return
            try:
                path = Path(typed.strip()).expanduser()
                taken = check(path)
            except RuntapeError as error:
                self.status.say(Problem.of(error).words, Tone.BAD)
            except (OSError, RuntimeError) as error:  # a name too long, no home
                self.status.say(f"That is no path: {_reason(error)}", Tone.BAD)
            else:
                self._write(path, write, taken)

        self.app.push_screen(EditScreen(title, name, one_line=True), named)

    def _write(self, path: Path, write: Callable[[Path], None], taken: Path | None) -> None:
        def answered(key: str | None) -> None:
            if key is None:
                self.status.say(f"{taken} stays as it was.", Tone.QUIET)
            else:
                write(path)

        if taken is None:
            write(path)
        elif taken.is_dir():
            self.status.say(f"{taken} is a folder.", Tone.BAD)
        else:
            title = f"{taken.name} exists already:"
            self.app.push_screen(Chooser(title, [Choice("y", "overwrite it")]), answered)

    # Writing, beside the hands of the user

    @work(thread=True, exclusive=True, group="save", exit_on_error=False)
    def _save(self, path: Path, report: WhyReport, fix: FixReport | None) -> None:
        folder = self.jobs.options.folder
        subject = subject_with_handle(report.subject, self.trace, folder)
        shown = replace(report, subject=subject)
        cured = None if fix is None else replace(fix, subject=subject)
        try:
            # A context of its own: jobs unfold pieces in another thread.
            context = build_context(self.trace.tape, report.investigation.decision.request)
        except IncompleteContext:
            context = None

        def write() -> str:
            path.write_bytes(saved_text(path, shown, context, cured).encode())
            return f"Saved {path}"

        self._tell(write)

    @work(thread=True, exclusive=True, group="save", exit_on_error=False)
    def _write_test(self, path: Path, test: Test, *, force: bool) -> None:
        def write() -> str:
            written = write_regression(
                self.trace, self.event, path, test.options, kept=test.kept, force=force
            )
            return f"Wrote {written.test}. Run it: pytest {written.test}"

        self._tell(write)

    def _tell(self, write: Callable[[], str]) -> None:
        """Write, and say where; whatever keeps a file from being written is said instead."""
        try:
            words, tone = write(), Tone.GOOD
        except RuntapeError as error:
            words, tone = Problem.of(error).words, Tone.BAD
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            words, tone = f"Cannot write it: {_reason(error)}", Tone.BAD
        self.app.call_from_thread(self.status.say, words, tone)


def choose_cause_test(
    screen: SavingScreen, report: WhyReport, then: Callable[[Test], None]
) -> None:
    """The recorded context as it is, or the one without the causing texts; no cause: the first."""
    cause, held = report.headline, screen.jobs.options
    as_it_is = Test(held.rerun(), "the context as recorded; it fails until something is fixed")
    if cause is None:
        then(as_it_is)
        return
    refs = tuple(piece.ref for piece in cause.pieces)
    without = Test(held.rerun(drop=refs), "the context without the cause")

    def chosen(key: str | None) -> None:
        if key is not None:
            then(as_it_is if key == "u" else without)

    choices = [
        Choice("u", "unchanged (fails until it is fixed)"),
        Choice("c", "without the cause"),
    ]
    screen.app.push_screen(Chooser("test the context", choices), chosen)


def _in_the_way(path: Path, same: Path | None = None) -> Path | None:
    """The path, when something is there that would be lost; `same`: what may be there."""
    if not path.exists():
        return None
    alike = same is not None and path.is_file() and path.read_bytes() == same.read_bytes()
    return None if alike else path


def _reason(error: Exception) -> str:
    """What the system says, without its number and the path once more."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
