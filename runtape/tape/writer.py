"""Writing a tape: one ``os.write`` per event, so that kill -9 loses nothing acknowledged."""

from __future__ import annotations

import errno
import os
import re
import secrets
import threading
import time
import weakref
from enum import Enum
from pathlib import Path

from runtape.errors import RecordingError, StorageError
from runtape.jsonio import Json, dumps
from runtape.tape.delta import Delta, History
from runtape.tape.events import (
    FORMAT,
    LLM_REQUEST,
    LLM_RESPONSE,
    RUN_END,
    RUN_START,
    VERSION,
)
from runtape.tape.lines import Envelope, render_line

_SYNCED = frozenset((RUN_START, LLM_RESPONSE, RUN_END))
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
_NAME_LENGTH = 40
"""Characters of the run's name that go into the file name: any script stays below 255 bytes."""


class Durability(Enum):
    """What an acknowledged event survives."""

    FLUSH = "flush"
    """The end of the process, kill -9 included."""
    FSYNC = "fsync"
    """The end of the machine, up to the last run_start, response or run_end."""


class TapeWriter:
    """Appends events to one new file; safe to use from several threads.

    In a child process after ``fork`` the first event starts a file of its own, ids going on where
    the parent stood, so that two processes never write one file.

    Attributes:
        path: the file written now.
        run_id: 12 hexadecimal digits; they end the file's name.
    """

    def __init__(self, folder: Path, name: str, durability: Durability) -> None:
        self._folder = folder
        self._name = name
        self._durability = durability
        self._lock = threading.RLock()
        self._history = History()
        self._start: Json = {}
        self._next = self._first = 0
        self._forked = False
        self._open_file()
        _writers.add(self)

    @classmethod
    def create(
        cls, folder: Path, name: str, *, durability: Durability = Durability.FLUSH
    ) -> TapeWriter:
        """Create ``YYYYMMDD-HHMMSS-name-<id>.jsonl`` (local time) in `folder`, made if missing.

        Raises StorageError when that is not possible. An existing file is never touched.
        """
        return cls(Path(folder), name, durability)

    def append(
        self,
        type: str,  # noqa: A002 - the field's name on the tape
        payload: Json,
        *,
        parent: int | None = None,
        meta: Json | None = None,
        ts: float | None = None,
    ) -> int:
        """Write one event and return its id.

        `ts` is Unix time in seconds, by default now. A run_start gets the fields that identify the
        file. Raises StorageError when the disk refuses, RecordingError when the writer is closed or
        the payload has no JSON form; the writer stays usable.
        """
        with self._lock:
            self._prepare()
            if type == RUN_START:
                payload = self._start = self._identified(payload)
            content, notes = _encoded(payload), _encoded(meta or {})
            # Taken before the write: a finalizer may append from within this very call.
            event = self._next
            self._next += 1
            when = time.time() if ts is None else ts
            self._write(render_line(Envelope(event, when, type, parent), content, notes))
            if self._durability is Durability.FSYNC and type in _SYNCED:
                self._sync()
            return event

    def delta(self, body: bytes) -> Delta:
        """`body` relative to the earlier requests of this run; nothing is written or remembered."""
        return self._history.delta(body)

    def append_request(
        self, payload: Json, delta: Delta, *, parent: int | None = None, meta: Json | None = None
    ) -> int:
        """Write a model request with the body of `delta`, otherwise like :meth:`append`."""
        with self._lock:
            self._prepare()
            if delta.base is not None and delta.base < self._first:
                delta = delta.whole()  # its base stands in the file of the parent process
            event = self.append(
                LLM_REQUEST, {**payload, **delta.fields()}, parent=parent, meta=meta
            )
            self._history.remember(event, delta)
            return event

    def close(self) -> None:
        """Close the file; later events raise RecordingError. Closing twice is fine."""
        with self._lock:
            try:
                if self._closer.alive and self._durability is Durability.FSYNC:
                    self._sync()
            finally:
                self._closer()
                _writers.discard(self)

    def mark_forked(self) -> None:
        """Note that this is a child process now; a thread left behind may hold the old lock."""
        self._lock = threading.RLock()
        self._forked = True

    def _identified(self, payload: Json) -> Json:
        """A run_start payload that says, first and truly, which format and which run this is."""
        identity = {"format": FORMAT, "version": VERSION, "run_id": self.run_id, "name": self._name}
        return {**identity, **payload, **identity}

    def _open_file(self) -> None:
        """Create a file under a name nobody has; on failure all stays as it was."""
        run_id = secrets.token_hex(6)
        stamp = time.strftime("%Y%m%d-%H%M%S")
        path = self._folder / f"{stamp}-{_slug(self._name)}-{run_id}.jsonl"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            file = os.open(path, _FLAGS, 0o600)  # prompts are nobody else's business
        except OSError as error:
            raise _storage_error("cannot create the trace", path, error) from error
        self.run_id, self.path, self._file, self._torn = run_id, path, file, False
        self._closer = weakref.finalize(self, os.close, file)
        if self._durability is Durability.FSYNC:
            _sync_folder(self._folder)

    def _prepare(self) -> None:
        """Make sure there is a file, and that it is this process's own."""
        if not self._closer.alive:
            raise RecordingError("the tape is closed", path=str(self.path))
        if self._forked:
            self._branch_off()

    def _branch_off(self) -> None:
        """In a forked child, before its first event: start a file that says where it came from."""
        origin = {"run_id": self.run_id, "event": self._next - 1}
        close_parents_file = self._closer
        self._open_file()
        close_parents_file()
        self._forked = False
        self._history = History()
        self._first = self._next
        self.append(RUN_START, {**self._start, "forked_from": origin})

    def _write(self, line: bytes) -> None:
        """Write all of `line`; if that fails halfway, the next one begins on a new line."""
        rest = memoryview(b"\n" + line if self._torn else line)
        try:
            while rest:
                rest = rest[_write_some(self._file, rest) :]
                self._torn = True
        except OSError as error:
            raise _storage_error("cannot write to the trace", self.path, error) from error
        self._torn = False

    def _sync(self) -> None:
        try:
            os.fsync(self._file)
        except OSError as error:
            raise _storage_error("cannot sync the trace", self.path, error) from error


def _sync_folder(folder: Path) -> None:
    """Make a new name durable, where a folder can be opened for that (POSIX)."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _write_some(file: int, data: memoryview) -> int:
    written = os.write(file, data)
    if not written:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return written


def _slug(name: str) -> str:
    """`name` as part of a file name."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")[:_NAME_LENGTH] or "run"


def _encoded(value: Json) -> bytes:
    try:
        return dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordingError(f"the event has no JSON form: {error}") from error


def _storage_error(what: str, path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{what} {path}: {error.strerror or error}",
        hint="free some space or choose another folder",
        path=str(path),
    )


_writers: weakref.WeakSet[TapeWriter] = weakref.WeakSet()


def _mark_all_forked() -> None:
    for writer in _writers:
        writer.mark_forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mark_all_forked)
