"""``runtape`` and ``runtape TRACE``: the app, and without one the timeline."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import click

from runtape.cli.commands.timeline import print_timeline
from runtape.cli.options import TraceType, answering, browsing, settings_with
from runtape.settings import Settings
from runtape.workbench import open_trace, trace_files
from runtape.workbench.traces import LAST

_APP = "runtape_tui.app"


@click.command("view", hidden=True)
@click.argument("trace", type=TraceType(), required=False)
@click.option("--at", metavar="EVENT", help="Start at this event.")
@click.option("--why", is_flag=True, help="Ask why at once, at EVENT or the last reply.")
@click.option("--plain", is_flag=True, help="Print the timeline instead of opening the app.")
@answering
@browsing
def command(
    *, trace: str | None, plain: bool, folder: Path | None, as_json: bool, **flags: Any
) -> int:
    """Open a run in the app; off a terminal, or with --plain, print its timeline."""
    if as_json or plain or not _on_screen() or not _has_app():
        print_timeline(trace or LAST, folder, as_json=as_json)
        return 0
    return _open_app(trace, settings_with(folder), flags)


def _on_screen() -> bool:
    """Whether there is a terminal that can show more than lines."""
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return terminal and os.environ.get("TERM", "") not in {"", "dumb"}


def _has_app() -> bool:
    try:
        return importlib.util.find_spec(_APP) is not None
    except ModuleNotFoundError:
        return False


def _open_app(trace: str | None, settings: Settings, flags: dict[str, Any]) -> int:
    """Open the app; found by name, for this package knows no face but itself.

    Without any trace it shows how to record one.
    """
    why = flags.pop("why")
    at = flags.pop("at") or (LAST if why else None)
    path = None
    if trace is not None or trace_files(settings.dir):
        path = open_trace(trace or LAST, folder=settings.dir).path
    app = importlib.import_module(_APP)
    code: int = app.run_app(path, at=at, why=why, settings=settings, flags=flags)
    return code
