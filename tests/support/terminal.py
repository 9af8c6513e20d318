"""The real app in a pseudo-terminal: keys in, raw bytes out."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from tests.support.command import command, environment

_PATIENCE = 90.0
"""Seconds after which waiting is given up: for machines that are busy with something else."""
_SEQUENCE = re.compile(rb"\x1b\[[0-9;:?<>=$]*[a-zA-Z]|\x1b[=>78]|\x1b\([B0]")
"""What an app says to a terminal: colours, cursor, modes."""


class Terminal:
    """A ``runtape`` command in a pseudo-terminal.

    Attributes:
        raw: everything it wrote.
        code: its exit code, once it has ended.
    """

    def __init__(
        self,
        folder: Path,
        arguments: Sequence[str],
        size: tuple[int, int] = (120, 40),
        *,
        paths: Sequence[Path] = (),
        **variables: str,
    ) -> None:
        self.raw = b""
        self.code: int | None = None
        self._master, self._slave = pty.openpty()
        columns, rows = size
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._modes = termios.tcgetattr(self._slave)
        settings = environment(folder, TERM="xterm-256color", COLORTERM="truecolor")
        settings |= {"XDG_STATE_HOME": str(folder / "state"), "TZ": "UTC", **variables}
        del settings["COLUMNS"]
        root = Path(__file__).parent.parent.parent
        settings["PYTHONPATH"] = os.pathsep.join(map(str, [*paths, root, root / "tui"]))
        self._process = subprocess.Popen(
            command(*arguments),
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            cwd=folder,
            env=settings,
            start_new_session=True,
        )

    def __enter__(self) -> Terminal:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._slave)
        os.close(self._master)

    @property
    def text(self) -> str:
        """What it wrote without the sequences."""
        return _SEQUENCE.sub(b"", self.raw).decode("utf-8", "replace")

    @property
    def restored(self) -> bool:
        """Whether the terminal's modes are as they were."""
        return termios.tcgetattr(self._slave) == self._modes

    def keys(self, *keys: str, quiet: float = 0.12) -> None:
        """Press keys one by one, each when the screen has come to rest."""
        for key in keys:
            os.write(self._master, key.encode())
            self.rest(quiet)

    def cpu(self) -> float:
        """Seconds of CPU the process took so far; Linux only."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rest(self, quiet: float = 0.12) -> None:
        """Read until nothing has come for a while."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and self._read(quiet):
            pass

    def wait_for(self, text: str, since: int = 0) -> None:
        """Read until a text was written after position `since` of :attr:`text`."""
        until = time.monotonic() + _PATIENCE
        while text not in self.text[since:]:
            assert time.monotonic() < until, f"{text!r} was never shown: {self.text[-2000:]}"
            self._read(0.2)

    def wait_end(self) -> None:
        """Read until the app has ended."""
        until = time.monotonic() + _PATIENCE
        while self._process.poll() is None:
            assert time.monotonic() < until, "the app did not end"
            self._read(0.1)
        while self._read(0.05):
            pass
        self.code = self._process.returncode

    def _read(self, wait: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], wait)
        if not ready:
            return False
        with contextlib.suppress(OSError):
            self.raw += os.read(self._master, 1 << 16)
        return True
