"""Errors as a client gets them: what happened, and one thing to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mcp.server.mcpserver.exceptions import ToolError

from runtape.errors import RuntapeError
from runtape.visible import visible


@contextmanager
def told() -> Iterator[None]:
    """Errors of runtape, and of files, become errors of the tool; others are faults."""
    try:
        yield
    except RuntapeError as error:
        raise ToolError(error_words(error)) from error
    except OSError as error:
        raise ToolError(visible(f"{error.strerror or error}: {error.filename}").text) from error


def error_words(error: RuntapeError) -> str:
    """Message and hint, safe to print."""
    hint = f" Hint: {error.hint}." if error.hint else ""
    return visible(f"{error.message}{hint}").text
