"""``runtape rerun``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from runtape.attribution.options import RerunOptions
from runtape.cli.asking import Asked, fill_of
from runtape.cli.options import EventCommand, asking, event_argument, trace_argument
from runtape.cli.sampling import run_samples
from runtape.errors import UsageError
from runtape.jsonio import Json, dumps_text, loads
from runtape.reports.changes import change_words
from runtape.workbench import Trace, open_trace, prepare_rerun

_ARROW = "=>"


@click.command("rerun", cls=EventCommand)
@trace_argument
@event_argument
@click.option(
    "--runs", type=click.IntRange(1), metavar="N", help="Runs of each context.  [default: 10]"
)
@click.option("--drop", multiple=True, metavar="REF", help="Take this piece out.")
@click.option("--fill", metavar="empty|neutral|TEXT", help="What stands in for removed text.")
@click.option("--quote", multiple=True, metavar="REF", help="Quote this piece as data.")
@click.option("--delimit", is_flag=True, help="Put tool results between marks.")
@click.option(
    "--replace", multiple=True, metavar="OLD=>NEW", help="Other text, wherever it stands."
)
@click.option(
    "--system-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The system prompt instead of the recorded one.",
)
@click.option("--add-system", metavar="TEXT", help="Text after the system prompt.")
@click.option(
    "--set",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A request parameter, such as temperature=0.",
)
@click.option("--edit", is_flag=True, help="Edit the request body in $EDITOR.")
@asking
def command(*, trace: str, event: str, folder: Path | None, as_json: bool, **flags: Any) -> int:
    """What the model does at EVENT when something is changed, beside the unchanged context."""
    asked = Asked.read(flags, folder)
    opened = open_trace(trace, folder=asked.settings.dir)
    options = RerunOptions(
        **asked.common(),
        runs=asked.runs,
        drop=flags["drop"],
        quote=flags["quote"],
        delimit=flags["delimit"],
        fill=fill_of(flags["fill"] or asked.settings.fill),
        replace=dict(_pair(text) for text in flags["replace"]),
        system=_system(flags["system_file"]),
        add_system=flags["add_system"],
        params=dict(_param(text) for text in flags["params"]),
        edit=_edited(opened, event) if flags["edit"] else None,
    )
    job = prepare_rerun(opened, event, options)
    changed = change_words(options, str(flags["system_file"] or ""))
    return run_samples(job, asked, tuple(changed), as_json=as_json)


def _pair(text: str) -> tuple[str, str]:
    old, arrow, new = text.partition(_ARROW)
    if not arrow or not old:
        raise UsageError(
            f"--replace {text!r} lacks the arrow",
            hint="write --replace 'old text=>new text', in quotes",
        )
    return old, new


def _param(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--set {text!r} sets nothing", hint="write --set temperature=0")
    try:
        return name, loads(value)
    except ValueError:
        return name, value


def _system(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error


def _edited(trace: Trace, event: str) -> Callable[[Json], Json]:
    """The body as it comes out of the editor."""
    body = dumps_text(trace.context(event).body, indent=True)
    text = click.edit(body, extension=".json")
    if text is None:
        raise UsageError("the request was not changed", hint="save the file in the editor")
    try:
        edited = loads(text)
    except ValueError as error:
        raise UsageError(f"the edited request is not JSON: {error}") from error
    return lambda _: edited
