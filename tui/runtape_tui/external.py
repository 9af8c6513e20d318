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
    program = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    return _hand_over(app, program, text, suffix)


def page(app: App[Any], text: str, suffix: str) -> str:
    """Show a text in ``$PAGER``; returns as :func:`edit`."""
    return _hand_over(app, os.environ.get("PAGER") or "less", text, suffix)


def _hand_over(app: App[Any], program: str, text: str, suffix: str) -> str:
    try:
        command = shlex.split(program)
    except ValueError:
        return f"cannot read the command {program!r}"
    with tempfile.TemporaryDirectory(prefix="runtape-") as folder:
        path = Path(folder) / f"context.{suffix}"
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
        try:
            with app.suspend():
                subprocess.run([*command, str(path)], check=False)  # noqa: S603 - the user's own program
        except SuspendNotSupported:
            return "this terminal cannot be handed over"
        except OSError as error:
            return f"cannot run {command[0] if command else program}: {error.strerror}"
    app.refresh()
    return ""
