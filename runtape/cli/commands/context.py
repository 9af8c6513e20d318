"""``runtape context``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from runtape.cli.options import (
    EventCommand,
    browsing,
    event_argument,
    settings_with,
    trace_argument,
)
from runtape.cli.output import columns, print_json, print_lines
from runtape.context import Context
from runtape.reports.context_text import context_json, context_lines, piece_lines
from runtape.visible import visible
from runtape.workbench import open_trace


@click.command("context", cls=EventCommand)
@trace_argument
@event_argument
@click.option("--pieces", is_flag=True, help="The whole tree of pieces, down to sentences.")
@click.option("--raw", is_flag=True, help="The request body byte for byte.")
@browsing
def command(
    *, trace: str, event: str, pieces: bool, raw: bool, folder: Path | None, as_json: bool
) -> None:
    """What the model saw at the call behind EVENT, piece by piece, each with its ref."""
    opened = open_trace(trace, folder=settings_with(folder).dir)
    context = opened.context(event)
    if raw:
        _print_raw(context)
    elif as_json:
        print_json(context_json(opened.tape, context, deep=pieces))
    elif pieces:
        print_lines(piece_lines(opened.tape, context, columns()))
    else:
        print_lines(context_lines(opened.tape, context, columns()))


def _print_raw(context: Context) -> None:
    """As it was sent into a pipe; made visible on a terminal, which would obey it."""
    text = context.request.text
    if sys.stdout.isatty():
        sys.stdout.write(f"{visible(text).text}\n")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
