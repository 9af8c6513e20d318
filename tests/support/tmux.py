"""The real app in tmux: what a terminal multiplexer makes of it, at any size."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from tests.support.command import command, environment

_PATIENCE = 600
"""Looks, a tenth of a second apart, after which waiting is given up."""


class Tmux:
    """A ``runtape`` command in a tmux server of its own."""

    def __init__(self, folder: Path, arguments: Sequence[str], size: tuple[int, int]) -> None:
        self._socket = f"runtape-{folder.name}-{time.monotonic_ns()}"
        settings = environment(folder, XDG_STATE_HOME=str(folder / "state"))
        root = Path(__file__).parent.parent.parent
        settings["PYTHONPATH"] = f"{root}:{root / 'tui'}"
        exports = [f"{name}={value}" for name, value in settings.items() if name != "COLUMNS"]
        program = shlex.join(
            ["env", "-u", "COLUMNS", "-u", "LINES", *exports, *command(*arguments)]
        )
        script = folder / "run.sh"
        script.write_text(
            f"cd {shlex.quote(str(folder))}\n{program}\necho ended with $?\nsleep 60\n"
        )
        columns, rows = map(str, size)
        self._tmux("new-session", "-d", "-s", "app", "-x", columns, "-y", rows, f"sh {script}")

    def __enter__(self) -> Tmux:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server")

    @property
    def shown(self) -> str:
        """The pane as it is."""
        return self._tmux("capture-pane", "-p", "-t", "app")

    def keys(self, *keys: str) -> None:
        """Press keys, in tmux's names."""
        self._tmux("send-keys", "-t", "app", *keys)

    def resize(self, columns: int, rows: int) -> None:
        """Another size of the terminal."""
        self._tmux("resize-window", "-t", "app", "-x", str(columns), "-y", str(rows))

    def until(self, *texts: str) -> str:
        """What is shown once it holds all of `texts`."""
        shown = ""
        for _ in range(_PATIENCE):
            shown = self.shown
            if all(text in shown for text in texts):
                return shown
            time.sleep(0.1)
        raise AssertionError(f"{texts} never came:\n{shown}")

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, "-f", "/dev/null", *arguments],
            capture_output=True,
            check=False,
            timeout=60,
        )
        return done.stdout.decode()
