"""``runtape odds``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from runtape.attribution.options import OddsOptions
from runtape.cli.asking import Asked
from runtape.cli.options import EventCommand, asking, event_argument, trace_argument
from runtape.cli.sampling import run_samples
from runtape.workbench import open_trace, prepare_odds


@click.command("odds", cls=EventCommand)
@trace_argument
@event_argument
@click.option(
    "--runs", type=click.IntRange(1), metavar="N", help="Runs of the context.  [default: 10]"
)
@asking
def command(*, trace: str, event: str, folder: Path | None, as_json: bool, **flags: Any) -> int:
    """How often the decision at EVENT comes when the same call is made again."""
    asked = Asked.read(flags, folder)
    options = OddsOptions(**asked.common(), runs=asked.runs)
    job = prepare_odds(open_trace(trace, folder=asked.settings.dir), event, options)
    return run_samples(job, asked, (), as_json=as_json)
