"""The bytes of a tape file, read by position while somebody else may still be writing it."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

_BLOCK = 1 << 20
_SIGNATURE = 256
"""First bytes of a tape: its run_start is in them, so they tell one run from another."""


class Source:
    """An open file; reads are by position, from any thread."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._closer = weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self._path = path

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`: fewer only at the end of the file."""
        parts = []
        while length > 0 and (part := self._read_some(offset, length)):
            parts.append(part)
            offset += len(part)
            length -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def lines(self, offset: int) -> Iterator[bytes]:
        """Lines from `offset` on, without newlines; the rest after the last one comes last.

        Memory stays at one block or one line, whichever is longer.
        """
        pending: list[bytes] = []
        while block := self.read(offset, _BLOCK):
            offset += len(block)
            first, *others = block.split(b"\n")
            pending.append(first)
            if others:
                yield b"".join(pending)
                yield from others[:-1]
                pending = [others[-1]]
        yield b"".join(pending)

    def signature(self) -> bytes:
        """The first bytes of the file."""
        return self.read(0, _SIGNATURE)

    def replaced(self, read: int, signature: bytes) -> bool:
        """Whether the path no longer holds the file of which `read` bytes were seen.

        `signature` is what :meth:`signature` said at the time. When the path is gone the open file
        is still good.
        """
        try:
            now = self._path.stat()
        except FileNotFoundError:
            return False
        if not os.path.samestat(now, os.fstat(self._file.fileno())) or now.st_size < read:
            return True
        return not self.signature().startswith(signature)

    def close(self) -> None:
        """Close the file; also happens when the source is no longer used."""
        self._closer()

    def _read_some(self, offset: int, length: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), length, offset)
        with self._lock:  # Windows
            self._file.seek(offset)
            return self._file.read(length) or b""
