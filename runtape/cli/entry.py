"""The outer edge: runs a command; every ending becomes an exit code, every error plain words."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import IntEnum
from typing import NoReturn

import click

from runtape.cli.group import LazyGroup


class Exit(IntEnum):
    """Exit codes, so that scripts can branch."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NO_ANSWER = 3
    """Rare, unstable, nothing found, budget spent, incomplete context."""
    INTERRUPTED = 130


_EPILOG = """\
TRACE is a path, a unique part of a name in ./traces, or `last`. EVENT is a number (negative: from
the end), tool:NAME (the last call of that tool), `last` (the last model response) or `error`.
`runtape TRACE` opens a run, `runtape` the newest one. Every command takes --json and --help;
--debug shows tracebacks.
"""


@click.command(
    cls=LazyGroup,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="runtape", message="%(prog)s %(version)s")
def cli() -> None:
    """Find out, by experiment, which part of its context made an AI agent do that."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = _take_debug(given)
    _forgive_encoding()
    try:
        code = _run(given)
        sys.stdout.flush()
    except Exception as error:
        if debug and not isinstance(error, BrokenPipeError):
            raise
        code = _report(error)
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    _close()
    sys.exit(code)


def _take_debug(arguments: list[str]) -> bool:
    """Whether ``--debug`` is given anywhere; it is taken out."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    found = "--debug" in arguments[:end]
    arguments[:end] = [word for word in arguments[:end] if word != "--debug"]
    return found


def _forgive_encoding() -> None:
    """A terminal that cannot print a character gets its escape instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _run(arguments: list[str]) -> int:
    """Run the command, like click does, but leave broken pipes to the caller."""
    if "_RUNTAPE_COMPLETE" in os.environ:
        cli.main(arguments, prog_name="runtape")
    try:
        with cli.make_context("runtape", arguments) as context:
            return cli.invoke(context) or Exit.DONE
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        return Exit.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code


def _report(error: Exception) -> int:
    """Tell what went wrong, and return the exit code for it."""
    from runtape.cli.failures import exit_code, failure_lines  # noqa: PLC0415 - only on errors

    if isinstance(error, BrokenPipeError):
        return Exit.DONE  # whoever read has seen enough
    for text in failure_lines(error):
        click.echo(text, err=True)
    return exit_code(error)


def _close() -> None:
    """Close standard output now, so that nothing is left to fail at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
