"""``runtape why``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from runtape.attribution.facts import Fact, Finished, Investigation, Verdict
from runtape.attribution.options import WhyOptions
from runtape.cli.asking import Asked, confirm, one_output, print_plan
from runtape.cli.entry import Exit
from runtape.cli.files import html_option, write_pages
from runtape.cli.options import EventCommand, asking, event_argument, trace_argument
from runtape.cli.output import columns, json_text, print_json, print_sheet
from runtape.cli.running import drive, live_view
from runtape.errors import IncompleteContext
from runtape.reports.fact_json import FactLog
from runtape.reports.progress import Progress, progress_lines
from runtape.reports.why_json import why_document
from runtape.reports.why_report import WhyReport
from runtape.reports.why_text import why_sheet
from runtape.workbench import WhyJob, open_trace, prepare_why
from runtape.workbench.presentation import outlook_of, subject_with_handle

_EXITS = {
    Verdict.ATTRIBUTED: Exit.DONE,
    Verdict.PROVIDER_FAILED: Exit.FAILED,
    Verdict.INTERRUPTED: Exit.INTERRUPTED,
}


@click.command("why", cls=EventCommand)
@trace_argument
@event_argument
@click.option(
    "--runs", type=click.IntRange(1), metavar="N", help="Runs of what is reported.  [default: 10]"
)
@click.option("--fill", metavar="empty|neutral|TEXT", help="What stands in for removed text.")
@click.option("--full", is_flag=True, help="Go on after the first answer, until all is settled.")
@click.option("--wide", is_flag=True, help="Fewer rounds for more calls.")
@click.option(
    "--max-pieces", type=click.IntRange(1), metavar="N", help="Test only the newest N pieces."
)
@click.option(
    "--expand", multiple=True, metavar="REF", help="Test the parts of REF from the start."
)
@click.option("--chain", is_flag=True, help="Go on to the earlier decisions that led there.")
@click.option(
    "--depth",
    type=click.IntRange(1),
    metavar="N",
    help="Most earlier decisions, with --chain.  [default: 4]",
)
@click.option(
    "--dry", is_flag=True, help="Say what would be tested and what it costs; ask nothing."
)
@html_option
@click.option(
    "--stream", is_flag=True, help="Every fact as a JSON line, the report as the last one."
)
@asking
def command(*, trace: str, event: str, folder: Path | None, as_json: bool, **flags: Any) -> int:
    """Which part of the context caused the decision at EVENT.

    Removes parts of what the model saw, asks it again, and tells by exact tests what made the
    difference. Exit code 3: there is no answer.
    """
    one_output(as_json=as_json, stream=flags["stream"])
    asked = Asked.read(flags, folder)
    job = prepare_why(open_trace(trace, folder=asked.settings.dir), event, _options(asked))
    if flags["dry"]:
        return print_plan(outlook_of(job), as_json=as_json)
    if asked.asks_first and not isinstance(job.context, IncompleteContext):
        confirm(outlook_of(job))
    report = _run(job, asked, stream=flags["stream"])
    if as_json:
        print_json(why_document(report))
    elif not flags["stream"]:
        print_sheet(why_sheet(report, columns()))
    if flags["html"]:
        context = None if isinstance(job.context, IncompleteContext) else job.context
        write_pages(report, context, html=flags["html"])
    return _exit(report)


def _exit(report: WhyReport) -> Exit:
    """An answer is an answer, though the budget ended while the rest was looked at."""
    verdict = report.investigation.verdict
    if verdict is Verdict.BUDGET_SPENT and report.headline is not None:
        return Exit.DONE
    return _EXITS.get(verdict, Exit.NO_ANSWER)


def _options(asked: Asked) -> WhyOptions:
    flags = asked.flags
    return WhyOptions(
        **asked.common(),
        runs=asked.runs,
        fill=asked.fill,
        full=flags["full"],
        wide=flags["wide"],
        max_pieces=flags["max_pieces"] or asked.settings.max_pieces,
        expand=flags["expand"],
        chain=flags["chain"] or flags["depth"] is not None,
        depth=flags["depth"] or 4,
    )


def _run(job: WhyJob, asked: Asked, *, stream: bool) -> WhyReport:
    def report(found: Investigation) -> WhyReport:
        plain = job.report(found)
        subject = subject_with_handle(plain.subject, job.question.trace, asked.settings.dir)
        return replace(plain, subject=subject)

    progress = Progress()
    log = FactLog(lambda found: why_document(report(found)))

    def see(fact: Fact) -> None:
        progress.see(fact)
        if stream:
            sys.stdout.write(f"{json_text(log.read(fact))}\n")
            sys.stdout.flush()

    with live_view(lambda width: progress_lines(progress, width)) as draw:
        fact = drive(job.facts, job.stop, see, draw)
    if not isinstance(fact, Finished):
        raise TypeError("the last fact is the result")
    return report(fact.report)
