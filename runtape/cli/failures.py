"""Errors in words: what happened, where, one hint; and the exit code that goes with them."""

from __future__ import annotations

from collections.abc import Iterator

from runtape.cli.entry import Exit
from runtape.errors import IncompleteContext, RuntapeError, UsageError
from runtape.reports.cells import wrap
from runtape.visible import visible

_COLUMNS = 79


def failure_lines(error: Exception) -> Iterator[str]:
    """The message and the hint, wrapped, safe to print."""
    if isinstance(error, RuntapeError):
        yield from _wrapped("error: ", error.message)
        if error.hint:
            yield from _wrapped("hint:  ", error.hint)
    elif isinstance(error, OSError):
        yield from _wrapped("error: ", f"{_doing(error)}: {error.strerror or error}")
    else:
        yield from _wrapped("error: ", f"{type(error).__name__}: {error}")
        yield from _wrapped("hint:  ", "this is a fault in runtape; --debug shows where")


def _doing(error: OSError) -> str:
    return f"cannot use {error.filename}" if error.filename else "cannot write the output"


def _wrapped(label: str, text: str) -> Iterator[str]:
    for line in wrap(visible(text).text, _COLUMNS - len(label)):
        yield f"{label}{line}"
        label = " " * len(label)


def exit_code(error: Exception) -> Exit:
    """2 for wrong usage, 3 where a rerun lacks its context, 1 for all else."""
    if isinstance(error, UsageError):
        return Exit.USAGE
    if isinstance(error, IncompleteContext):
        return Exit.NO_ANSWER
    return Exit.FAILED
