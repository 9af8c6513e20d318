"""``runtape run``."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runtape.cli.options import folder_option, settings_with
from runtape.cli.script import ScriptCommand, run_script

if TYPE_CHECKING:
    from runtape.recording import Recorder
    from runtape.recording.installing import Installation


@click.command("run", cls=ScriptCommand)
@click.option("--name", help="What the run is called.  [default: the script's name]")
@folder_option
@click.argument("script", nargs=-1, required=True, type=click.UNPROCESSED)
def command(*, name: str | None, folder: Path | None, script: tuple[str, ...]) -> int:
    """Record an unmodified script: `runtape run script.py arguments`.

    The model calls of every SDK on httpx are recorded. The script's output, exit code and errors
    are its own. `-m module` works too.
    """
    from runtape.recording import record  # noqa: PLC0415 - not needed for --help
    from runtape.recording.installing import Installation  # noqa: PLC0415

    called = name or _called(script)
    installation = Installation(partial(record, name=called, dir=settings_with(folder).dir))
    installation.start()
    status = "error"
    try:
        code = run_script(script, partial(_failed, installation))
        status = "error" if code else "ok"
    finally:
        installation.stop()
        sys.stdout.flush()
        if installation.recorder is not None:
            installation.recorder.close(status)
        click.echo(_told(installation.recorder), err=True)  # the script has the other stream
    return code


def _failed(installation: Installation, error: BaseException) -> None:
    """Leave the exception that ended the script on its tape."""
    if installation.recorder is not None:
        installation.recorder.__exit__(type(error), error, error.__traceback__)


def _told(recorder: Recorder | None) -> str:
    if recorder is None:
        return "runtape: no model call was seen that the script does not record itself"
    return f"runtape: recorded {recorder.path}"


def _called(script: tuple[str, ...]) -> str:
    """A name for the run: the script's or the module's."""
    words = [word for word in script if not word.startswith("-")]
    return Path(words[0]).stem if words else "run"
