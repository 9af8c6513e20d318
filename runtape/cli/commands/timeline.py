"""``runtape timeline``."""

from __future__ import annotations

from pathlib import Path

import click

from runtape.cli.options import browsing, settings_with, trace_argument
from runtape.cli.output import columns, print_json, print_lines
from runtape.reports.timeline import timeline_json, timeline_lines
from runtape.workbench import open_trace


@click.command("timeline")
@trace_argument
@browsing
def command(*, trace: str, folder: Path | None, as_json: bool) -> None:
    """All events of a run, one line each: number, kind, tokens, latency, what happened."""
    print_timeline(trace, folder, as_json=as_json)


def print_timeline(trace: str, folder: Path | None, *, as_json: bool = False) -> None:
    """Print the events of a run as they are read."""
    tape = open_trace(trace, folder=settings_with(folder).dir).tape
    if as_json:
        print_json(timeline_json(tape))
    else:
        print_lines(timeline_lines(tape, columns()))
