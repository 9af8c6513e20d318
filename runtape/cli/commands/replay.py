"""``runtape replay``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runtape.cli.entry import Exit
from runtape.cli.options import folder_option, settings_with, trace_argument
from runtape.cli.script import ScriptCommand, run_script

if TYPE_CHECKING:
    from runtape.playback import Replayer


@click.command("replay", cls=ScriptCommand)
@click.option("--until", type=int, metavar="N", help="Replay what came before event N only.")
@click.option(
    "--on-diverge",
    type=click.Choice(["stop", "warn", "live"]),
    default="stop",
    show_default=True,
    help="When the script does something else.",
)
@click.option(
    "--tools",
    type=click.Choice(["serve", "run"]),
    default="serve",
    show_default=True,
    help="Recorded tool results, or really run them.",
)
@folder_option
@trace_argument
@click.argument("script", nargs=-1, required=True, type=click.UNPROCESSED)
def command(
    *,
    trace: str,
    until: int | None,
    on_diverge: str,
    tools: str,
    folder: Path | None,
    script: tuple[str, ...],
) -> int:
    """Run a script against a recording: `runtape replay TRACE -- script.py arguments`.

    Its model calls, and the tools it records itself, are answered from the trace: nothing goes over
    the network unless --on-diverge live says so. Exit code 3: it did something that is not there.
    """
    from runtape.playback import ReplayDiverged  # noqa: PLC0415 - not needed for --help
    from runtape.workbench import open_trace  # noqa: PLC0415
    from runtape.workbench.replaying import replay  # noqa: PLC0415

    where = settings_with(folder).dir
    opened = open_trace(trace, folder=where)
    replayer = replay(opened, on_diverge, until, tools=tools, dir=where)
    try:
        with replayer:
            replayer.install()
            code = run_script(script)
    except ReplayDiverged as divergence:
        sys.stdout.flush()
        click.echo(f"runtape: {divergence}", err=True)
        return Exit.NO_ANSWER
    sys.stdout.flush()
    click.echo(_told(replayer), err=True)
    return code


def _told(replayer: Replayer) -> str:
    """One line on what came of it."""
    if replayer.live:
        recorder = replayer.recorder
        where = "" if recorder is None else f", recorded {recorder.path}"
        return f"runtape: replayed, then went on live{where}"
    left = len(replayer.unused)
    more = f"; {left} recorded model calls were not made" if left else ""
    return f"runtape: replayed{more}"
