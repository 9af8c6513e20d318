"""Handing a text to the user's editor or pager."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported


def edit(app: App[Any], text: str, suffix: str) -> str:
    """Show a text in ``$VISUAL`` or ``$EDITOR``; what is changed there is thrown away.

    Returns what went wrong, in words; empty when nothing did.
    """
    return _hand_over(app, _editor(), text, suffix)[1]


def rewrite(app: App[Any], text: str, suffix: str) -> tuple[str, str]:
    """Let the reader change a text in the editor; returns the new text, and what went wrong."""
    return _hand_over(app, _editor(), text, suffix)


def page(app: App[Any], text: str, suffix: str) -> str:
    """Show a text in ``$PAGER``; returns as :func:`edit`."""
    return _hand_over(app, os.environ.get("PAGER") or "less", text, suffix)[1]


def _editor() -> str:
    return os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"


def _hand_over(app: App[Any], program: str, text: str, suffix: str) -> tuple[str, str]:
    """The text as it is afterwards, and what went wrong."""
    try:
        command = shlex.split(program)
    except ValueError:
        return text, f"cannot read the command {program!r}"
    with tempfile.TemporaryDirectory(prefix="runtape-") as folder:
        path = Path(folder) / f"context.{suffix}"
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
        try:
            with app.suspend():
                subprocess.run([*command, str(path)], check=False)  # noqa: S603 - the user's own program
        except SuspendNotSupported:
            return text, "this terminal cannot be handed over"
        except OSError as error:
            return text, f"cannot run {command[0] if command else program}: {error.strerror}"
        app.refresh()
        try:
            after = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            return text, f"cannot read what the editor left: {error}"
    added = after.endswith("\n") and not text.endswith("\n")  # editors end the last line
    return after[:-1] if added else after, ""
