"""``runtape fix``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from runtape.cli.asking import Asked, confirm, one_output, print_plan
from runtape.cli.entry import Exit
from runtape.cli.files import html_option, write_pages
from runtape.cli.options import EventCommand, asking, event_argument, trace_argument
from runtape.cli.output import columns, json_text, note, print_json, print_sheet
from runtape.cli.running import drive, live_view
from runtape.errors import IncompleteContext
from runtape.remedies.facts import Fix, FixEnd, FixFact, FixFinished
from runtape.remedies.options import FixOptions
from runtape.reports.fix_json import FixLog, fix_document
from runtape.reports.fix_progress import FixProgress, fix_progress_lines
from runtape.reports.fix_report import FixReport
from runtape.reports.remedies_text import fix_sheet
from runtape.workbench import FixJob, open_trace, prepare_fix
from runtape.workbench.presentation import outlook_of, subject_with_handle
from runtape.workbench.regressions import check_path, write_fix_regression

_EXITS = {FixEnd.PROVIDER_FAILED: Exit.FAILED, FixEnd.INTERRUPTED: Exit.INTERRUPTED}


@click.command("fix", cls=EventCommand)
@trace_argument
@event_argument
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="TEXT|FILE",
    help="Also try this rule, appended to the system prompt.",
)
@click.option(
    "--also", multiple=True, metavar="TRACE", help="Decisions of this trace must be kept too."
)
@click.option(
    "--runs", type=click.IntRange(1), metavar="N", help="Runs of each remedy.  [default: 10]"
)
@click.option(
    "--others",
    type=click.IntRange(0),
    metavar="N",
    help="Other decisions of a run to look at.  [default: 12]",
)
@click.option(
    "--write-test",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="Write a pytest file for the first remedy that passes.",
)
@click.option("--force", is_flag=True, help="Overwrite PATH.")
@click.option("--fill", metavar="empty|neutral|TEXT", help="What stands in for removed text.")
@click.option("--dry", is_flag=True, help="Say what it would probably cost; ask nothing.")
@html_option
@click.option(
    "--stream", is_flag=True, help="Every fact as a JSON line, the report as the last one."
)
@asking
def command(*, trace: str, event: str, folder: Path | None, as_json: bool, **flags: Any) -> int:
    """What helps against the decision at EVENT, and what that breaks.

    Finds out why, then measures remedies on the very context that failed: how often the decision
    remains, and whether the other recorded decisions go on happening. PASS, PART or FAIL, with
    numbers. With --model another model is tried as well. Exit code 3: no remedy passes.
    """
    one_output(as_json=as_json, stream=flags["stream"])
    asked = Asked.read(flags, folder)
    if flags["write_test"]:
        check_path(flags["write_test"], force=flags["force"])
    opened = open_trace(trace, folder=asked.settings.dir)
    job = prepare_fix(opened, event, _options(asked), folder=asked.settings.dir)
    if flags["dry"]:
        return print_plan(outlook_of(job), as_json=as_json)
    if asked.asks_first and not isinstance(job.context, IncompleteContext):
        confirm(outlook_of(job))
    report = _run(job, asked, stream=flags["stream"])
    if as_json:
        print_json(fix_document(report))
    elif not flags["stream"]:
        print_sheet(fix_sheet(report, columns()))
    if flags["html"]:
        context = None if isinstance(job.context, IncompleteContext) else job.context
        write_pages(report.why, context, fix=report, html=flags["html"])
    if flags["write_test"]:
        _write_test(job, event, report.fix, flags)
    return _exit(report)


def _exit(report: FixReport) -> Exit:
    """A remedy that passed is an answer, though the rest was not measured to the end."""
    if report.best is not None:
        return Exit.DONE
    return _EXITS.get(report.fix.end, Exit.NO_ANSWER)


def _options(asked: Asked) -> FixOptions:
    flags = asked.flags
    others = {} if flags["others"] is None else {"others": flags["others"]}
    return FixOptions(
        **asked.common(),
        **others,
        runs=asked.runs,
        fill=asked.fill,
        rules=flags["rules"],
        also=flags["also"],
        max_pieces=asked.settings.max_pieces,
    )


def _run(job: FixJob, asked: Asked, *, stream: bool) -> FixReport:
    def report(fix: Fix) -> FixReport:
        plain = job.report(fix)
        subject = subject_with_handle(plain.subject, job.question.trace, asked.settings.dir)
        return replace(plain, subject=subject)

    progress = FixProgress()
    log = FixLog(lambda fix: fix_document(report(fix)))

    def see(fact: FixFact) -> None:
        progress.see(fact)
        if stream:
            sys.stdout.write(f"{json_text(log.read(fact))}\n")
            sys.stdout.flush()

    with live_view(lambda width: fix_progress_lines(progress, width)) as draw:
        fact = drive(job.facts, job.stop, see, draw)
    if not isinstance(fact, FixFinished):
        raise TypeError("the last fact is the result")
    return report(fact.fix)


def _write_test(job: FixJob, event: str, fix: Fix, flags: dict[str, Any]) -> None:
    path: Path = flags["write_test"]
    if fix.best is None:
        note(f"No remedy passed: {path} was not written.")
        return
    written = write_fix_regression(
        job.question.trace, event, path, fix, job.question.options, force=flags["force"]
    )
    note(f"Wrote {written.test}, and a copy of the trace to {written.trace}.")
