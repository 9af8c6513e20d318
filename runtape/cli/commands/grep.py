"""``runtape grep``."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import click

from runtape.cli.entry import Exit
from runtape.cli.options import browsing, settings_with, trace_argument
from runtape.cli.output import columns, print_json, print_lines
from runtape.reports.grep import hit_lines, hits_json
from runtape.workbench import open_trace


@click.command("grep")
@click.argument("pattern")
@trace_argument
@browsing
def command(*, pattern: str, trace: str, folder: Path | None, as_json: bool) -> int:
    """Where a regular expression matches: events and refs. Case counts if PATTERN has a capital.

    Exit code 3: it stands nowhere.
    """
    opened = open_trace(trace, folder=settings_with(folder).dir)
    hits = opened.grep(pattern)
    if as_json:
        document = hits_json(opened.tape, pattern, hits)
        print_json(document)
        return Exit.DONE if document["hits"] else Exit.NO_ANSWER
    first = next(hits, None)
    if first is None:
        return Exit.NO_ANSWER
    print_lines(hit_lines(chain([first], hits), columns()))
    return Exit.DONE
