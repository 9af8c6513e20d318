"""``runtape ls``."""

from __future__ import annotations

from pathlib import Path

import click

from runtape.cli.options import browsing, settings_with
from runtape.cli.output import columns, note, print_json, print_lines
from runtape.reports.listing import empty_words, listed_traces, listing_json, listing_lines
from runtape.workbench import trace_files


@click.command("ls")
@click.option("-n", "limit", type=click.IntRange(1), metavar="N", help="Only the newest N.")
@browsing
def command(*, limit: int | None, folder: Path | None, as_json: bool) -> None:
    """Recorded runs, newest first: when, size, model replies, errors, how it ended."""
    where = settings_with(folder).dir
    files = trace_files(where)[:limit]
    entries = listed_traces(files)
    if as_json:
        print_json(listing_json(entries))
    elif files:
        print_lines(listing_lines(entries, columns()))
    else:
        note(empty_words(where))
