"""The command line in a process of its own: exit codes, pipes, signals."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 60


@dataclass(frozen=True)
class Ran:
    """How a command ended; output as text."""

    code: int
    out: str
    err: str


def environment(folder: Path, **extra: str) -> dict[str, str]:
    """No keys, no settings of the person who runs the tests, 80 columns, UTF-8."""
    kept = ("PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "SYSTEMROOT", "VIRTUAL_ENV")
    plain = {name: os.environ[name] for name in kept if name in os.environ}
    root = str(Path(__file__).parent.parent.parent)
    return {
        **plain,
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "PYTHONPATH": root,
        "PYTHONUTF8": "1",
        "COLUMNS": "80",
        **extra,
    }


def command(*arguments: str) -> list[str]:
    """The command line of a ``runtape`` call."""
    return [sys.executable, "-m", "runtape.cli", *arguments]


def run(folder: Path, *arguments: str, **extra: str) -> Ran:
    """Run ``runtape`` in `folder`; `extra` are environment variables."""
    done = subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(folder, **extra),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@dataclass(frozen=True)
class Screen:
    """How a command on a terminal ended, and all bytes the terminal got."""

    code: int
    raw: bytes

    @property
    def text(self) -> str:
        """The bytes as text."""
        return self.raw.decode()


def on_terminal(folder: Path, *arguments: str, typed: str = "", **extra: str) -> Screen:
    """Run ``runtape`` on a pseudo-terminal into which `typed` is typed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env=environment(folder, TERM="xterm-256color", **extra),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    raw = b""
    with contextlib.suppress(OSError):  # the other side is closed
        while chunk := os.read(ours, 65536):
            raw += chunk
    os.close(ours)
    return Screen(process.wait(PATIENCE), raw)
