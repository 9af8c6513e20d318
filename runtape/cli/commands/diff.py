"""``runtape diff``."""

from __future__ import annotations

from pathlib import Path

import click

from runtape.cli.options import EventCommand, EventType, browsing, settings_with
from runtape.cli.output import print_json, print_lines
from runtape.reports.difference import (
    Part,
    changes,
    context_parts,
    difference_json,
    difference_lines,
    run_parts,
)
from runtape.workbench import open_trace

_RUNS = 2
_EVENTS = 3


@click.command("diff", cls=EventCommand)
@click.argument("places", nargs=-1, type=EventType(), metavar="(TRACE EVENT EVENT | TRACE TRACE)")
@browsing
def command(*, places: tuple[str, ...], folder: Path | None, as_json: bool) -> None:
    """What differs between the contexts of two events, or between the events of two runs."""
    where = settings_with(folder).dir
    if len(places) == _EVENTS:
        sides = _contexts(places[0], places[1:], where)
    elif len(places) == _RUNS:
        sides = [_run(place, where) for place in places]
    else:
        raise click.UsageError("give a trace and two of its events, or two traces")
    (old, before), (new, after) = sides
    found = changes(before, after)
    if as_json:
        print_json(difference_json(old, new, found))
    else:
        print_lines(difference_lines(old, new, found))


def _contexts(trace: str, events: tuple[str, ...], where: Path) -> list[tuple[str, list[Part]]]:
    opened = open_trace(trace, folder=where)
    contexts = [opened.context(event) for event in events]
    return [(f"model call {c.request.event}", context_parts(c)) for c in contexts]


def _run(trace: str, where: Path) -> tuple[str, list[Part]]:
    tape = open_trace(trace, folder=where).tape
    return str(tape.path), run_parts(tape)
