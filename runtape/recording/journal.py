"""The one way to the tape, and the outer edge of recording: no fault of ours reaches the agent."""

from __future__ import annotations

import contextlib
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from runtape.errors import RecordingError
from runtape.jsonio import Json
from runtape.recording.policy import Policy, RedactFailed, writable
from runtape.recording.values import describe_error
from runtape.tape.events import RECORD_ERROR
from runtape.tape.writer import TapeWriter

_MOST_REPORTED = 100
"""Faults that leave an event of their own; all are counted."""

Append: TypeAlias = Callable[[], int]
"""Writes one event and returns its id; may raise anything."""


class RecordingWarning(UserWarning):
    """Something of the run could not be recorded; the run goes on. Given once per recorder."""


class Guard:
    """Context manager: an exception in it becomes a fault of `journal`, and the code goes on."""

    __slots__ = ("_doing", "_journal")

    def __init__(self, journal: Journal, doing: str) -> None:
        self._journal = journal
        self._doing = doing

    def __enter__(self) -> None:
        """Nothing to set up."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if isinstance(error, Exception):
            self._journal.fault(self._doing, error)
            return True
        return False


class Journal:
    """Writes events after the policy has seen them, and counts what goes wrong.

    An event that comes up while its own thread is writing another one (a finaliser run by the
    garbage collector, a `redact` that notes something) waits until that one is written: the
    writer's lock lets the same thread in again, and that would be the end of both lines.

    Attributes:
        writer: the tape.
        policy: what may be written.
        faults: how many times something could not be recorded.
        closed: whether the run has ended; later events are dropped silently.
    """

    def __init__(self, writer: TapeWriter, policy: Policy) -> None:
        self.writer = writer
        self.policy = policy
        self.faults = 0
        self.closed = False
        self._thread = threading.local()
        self._late: deque[Append] = deque()

    def write(
        self, kind: str, payload: Json, *, parent: int | None = None, meta: Json | None = None
    ) -> int | None:
        """Write one event; its id, or None when it could not be written or has to wait."""
        ts = time.time()

        def append(content: Json = payload) -> int:
            clean = self.clean(kind, content)
            return self.writer.append(kind, clean, parent=parent, meta=meta, ts=ts)

        def append_what_can_be() -> int:
            try:
                return append()
            except (TypeError, ValueError, RecursionError, RecordingError) as error:
                self.fault(f"writing {kind}", error)
                return append(writable(payload))

        return self.attempt(append_what_can_be)

    def attempt(self, append: Append, *, may_wait: bool = True) -> int | None:
        """Run `append` in this thread's turn, as :meth:`write` does; never raises."""
        if self.closed:
            return None
        if getattr(self._thread, "writing", False):
            if may_wait:
                self._late.append(append)
            return None
        self._thread.writing = True
        try:
            return self._tried(append)
        finally:
            self._write_late()
            self._thread.writing = False

    def clean(self, kind: str, payload: Json) -> Json:
        """The payload as the policy lets it through."""
        try:
            return self.policy.clean(kind, payload)
        except RedactFailed as failed:
            if kind != RECORD_ERROR:
                self.fault(f"redacting {kind}", failed.__cause__ or failed)
            return failed.payload

    def guard(self, doing: str) -> Guard:
        """A ``with`` block: what goes wrong in it is the recorder's own fault, and stays there."""
        return Guard(self, doing)

    def fault(self, doing: str, error: BaseException) -> None:
        """Count a fault, warn of the first one, and leave an event where that is possible."""
        self.faults += 1
        described = describe_error(error)
        if self.faults == 1:
            # Where warnings are errors this one still must not reach the agent.
            with contextlib.suppress(RecordingWarning):
                warnings.warn(
                    f"runtape failed at {doing}: {described['type']}: {described['message']} "
                    "(the run goes on; record_error events tell what is missing)",
                    RecordingWarning,
                    stacklevel=2,
                )
        if self.faults <= _MOST_REPORTED:
            self.write(RECORD_ERROR, {"doing": doing, "error": described})

    def close(self) -> None:
        """Drop what comes later and close the file."""
        self.closed = True
        with self.guard("closing the tape"):
            self.writer.close()

    def _tried(self, append: Append) -> int | None:
        try:
            return append()
        except Exception as error:  # noqa: BLE001 - the outer edge: disk full, closed meanwhile, …
            if not self.closed:
                self.fault("writing an event", error)
            return None

    def _write_late(self) -> None:
        """Write what waited. What fails here is only counted: it may be the report of a failure."""
        while self._late:
            with contextlib.suppress(IndexError):  # another thread was faster
                append = self._late.popleft()
                try:
                    append()
                except Exception:  # noqa: BLE001 - the outer edge
                    self.faults += 1
