"""``runtape show``."""

from __future__ import annotations

from pathlib import Path

import click

from runtape.cli.options import (
    EventCommand,
    browsing,
    event_argument,
    settings_with,
    trace_argument,
)
from runtape.cli.output import columns, print_json, print_sheet
from runtape.reports.event_text import event_json, event_sheet
from runtape.workbench import open_trace


@click.command("show", cls=EventCommand)
@trace_argument
@event_argument
@browsing
def command(*, trace: str, event: str, folder: Path | None, as_json: bool) -> None:
    """One event in full; with --json as it was recorded, a request's body put back together."""
    opened = open_trace(trace, folder=settings_with(folder).dir)
    found = opened[event]
    if as_json:
        print_json(event_json(opened.tape, found))
    else:
        print_sheet(event_sheet(opened.tape, found, columns()))
