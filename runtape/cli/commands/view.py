"""``runtape`` and ``runtape TRACE``: the app, and without one the timeline."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import click

from runtape.cli.commands.timeline import print_timeline
from runtape.cli.options import TraceType, answering, browsing, settings_with
from runtape.settings import Settings
from runtape.workbench import open_trace

_APP = "runtape_tui.app"


@click.command("view", hidden=True)
@click.argument("trace", type=TraceType(), default="last")
@click.option("--plain", is_flag=True, help="Print the timeline instead of opening the app.")
@answering
@browsing
def command(*, trace: str, plain: bool, folder: Path | None, as_json: bool, **flags: Any) -> int:
    """Open a run in the app; off a terminal, or with --plain, print its timeline."""
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if terminal and not plain and not as_json and _has_app():
        return _open_app(trace, settings_with(folder), flags)
    print_timeline(trace, folder, as_json=as_json)
    return 0


def _has_app() -> bool:
    try:
        return importlib.util.find_spec(_APP) is not None
    except ModuleNotFoundError:
        return False


def _open_app(trace: str, settings: Settings, flags: dict[str, Any]) -> int:
    """Open the app; found by name, for this package knows no face but itself."""
    path = open_trace(trace, folder=settings.dir).path
    code: int = importlib.import_module(_APP).run_app(path, settings=settings, flags=flags)
    return code
