"""To the clipboard: through the terminal (OSC 52), through tmux, or into a file."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runtape.reports.words import size
from runtape.visible import visible

_LONGEST = 74_000
"""Bytes that terminals take in one OSC 52 sequence (xterm's limit after Base64)."""
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class Clipboard:
    """Ways to the clipboard.

    Attributes:
        terminal: hands a text to the terminal.
        folder: where a text goes that is too long for it.
        environment: of the process.
    """

    terminal: Callable[[str], None]
    folder: Path
    environment: Mapping[str, str]

    def copy(self, text: str) -> str:
        """Copy a text; returns what to tell the reader. Lone surrogates become question marks."""
        data = text.encode("utf-8", "replace")
        self._to_tmux(data)
        if len(data) <= _LONGEST:
            self.terminal(data.decode())
            return f"copied {size(len(data))}"
        path = self._to_file(data)
        if path is None:
            return f"{size(len(data))} is too long for the terminal, and no file could be written"
        return f"{size(len(data))} is too long for the terminal: it is in {path}"

    def _to_tmux(self, data: bytes) -> bool:
        """Tmux keeps a buffer of its own, and passes it on where it may."""
        if not self.environment.get("TMUX"):
            return False
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                ["tmux", "load-buffer", "-w", "-"],  # noqa: S607 - the one around us
                input=data,
                capture_output=True,
                timeout=_PATIENCE,
                check=True,
            )
            return True
        return False

    def _to_file(self, data: bytes) -> Path | None:
        path = self.folder / "copied.txt"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        except OSError:
            return None
        return path


def has_hidden(text: str) -> bool:
    """Whether a text holds control or hidden characters: reason to ask before copying it."""
    return bool(visible(text).marks)
