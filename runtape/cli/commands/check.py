"""``runtape check``."""

from __future__ import annotations

from pathlib import Path

import click

from runtape.cli.entry import Exit
from runtape.cli.options import browsing, settings_with, trace_argument
from runtape.cli.output import columns, print_json, print_sheet
from runtape.reports.check import check_json, check_sheet, check_tape
from runtape.workbench import open_trace


@click.command("check")
@trace_argument
@browsing
def command(*, trace: str, folder: Path | None, as_json: bool) -> int:
    """Verify a trace: hashes, torn or corrupt lines, what a rerun of its calls would lack.

    Exit code 3: something is damaged or cannot be rerun.
    """
    tape = open_trace(trace, folder=settings_with(folder).dir).tape
    found = check_tape(tape)
    if as_json:
        print_json(check_json(found))
    else:
        print_sheet(check_sheet(found, columns()))
    return Exit.DONE if found.sound else Exit.NO_ANSWER
