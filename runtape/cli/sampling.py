"""``rerun`` and ``odds`` from a job to a printed distribution."""

from __future__ import annotations

from importlib.metadata import version

from runtape.attribution.distribution import Distribution
from runtape.cli.asking import Asked, confirm
from runtape.cli.entry import Exit
from runtape.cli.output import columns, print_json, print_sheet
from runtape.cli.running import drive, live_view
from runtape.reports.distribution_json import distribution_document
from runtape.reports.distribution_report import DistributionReport
from runtape.reports.distribution_text import distribution_sheet, progress_words
from runtape.reports.sheet import Line, line
from runtape.workbench import SampleJob
from runtape.workbench.presentation import outlook_of, subject_with_handle
from runtape.workbench.results import changed_settings, subject_of


def run_samples(job: SampleJob, asked: Asked, changed: tuple[str, ...], *, as_json: bool) -> int:
    """Run a job, print its distribution, and return the exit code."""
    if asked.asks_first:
        confirm(outlook_of(job))
    growing = _Growing(job)
    with live_view(growing.lines) as draw:
        found = drive(job.snapshots, growing.stop, growing.see, draw)
    plain = subject_of(job.question, job.context)
    report = DistributionReport(
        distribution=found,
        subject=subject_with_handle(plain, job.question.trace, asked.settings.dir),
        changed=changed,
        settings=changed_settings(job.question.options),
        version=version("runtape"),
    )
    if as_json:
        print_json(distribution_document(report))
    else:
        print_sheet(distribution_sheet(report, columns()))
    return _exit(found, stopped=growing.stopped)


class _Growing:
    """The newest snapshot, for the live view."""

    def __init__(self, job: SampleJob) -> None:
        self._job = job
        self._newest: Distribution | None = None
        self.stopped = False

    def see(self, snapshot: Distribution) -> None:
        self._newest = snapshot

    def stop(self) -> None:
        self.stopped = True
        self._job.stop()

    def lines(self, _: int) -> list[Line]:
        return [line(progress_words(self._newest))] if self._newest else [line("asking")]


def _exit(found: Distribution, *, stopped: bool) -> Exit:
    if stopped:
        return Exit.INTERRUPTED
    if found.failure or not len(found):
        return Exit.FAILED
    complete = len(found) == found.asked
    return Exit.DONE if complete else Exit.NO_ANSWER
