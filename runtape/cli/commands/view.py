"""``runtape`` and ``runtape TRACE``: the app, and without one the timeline."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import click

from runtape.cli.commands.timeline import print_timeline
from runtape.cli.options import TraceType, browsing, settings_with


@click.command("view", hidden=True)
@click.argument("trace", type=TraceType(), default="last")
@click.option("--plain", is_flag=True, help="Print the timeline instead of opening the app.")
@browsing
def command(*, trace: str, plain: bool, folder: Path | None, as_json: bool) -> None:
    """Open a run in the app; off a terminal, or with --plain, print its timeline."""
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if terminal and not plain and not as_json and _has_app():
        _open_app(trace, settings_with(folder).dir)
    else:
        print_timeline(trace, folder, as_json=as_json)


def _has_app() -> bool:
    try:
        return importlib.util.find_spec("runtape_tui.app") is not None
    except ModuleNotFoundError:
        return False


def _open_app(trace: str, folder: Path) -> None:
    app = importlib.import_module("runtape_tui.app")
    app.open_trace(trace, folder=folder)
