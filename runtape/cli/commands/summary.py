"""``runtape summary``."""

from __future__ import annotations

from pathlib import Path

import click

from runtape.cli.options import browsing, settings_with, trace_argument
from runtape.cli.output import columns, print_json, print_sheet
from runtape.reports.summary import summary_json, summary_sheet
from runtape.workbench import open_trace


@click.command("summary")
@trace_argument
@browsing
def command(*, trace: str, folder: Path | None, as_json: bool) -> None:
    """One run at a glance: models, tools, tokens, time, errors."""
    found = open_trace(trace, folder=settings_with(folder).dir).summary()
    if as_json:
        print_json(summary_json(found))
    else:
        print_sheet(summary_sheet(found, columns()))
