"""Asking a running job to end early and tell what it knows."""

from __future__ import annotations

import asyncio
import threading


class StopSignal:
    """Ends a running job now, with its partial result; safe to use from any thread.

    Cancelling the task that iterates also ends a job, but then the caller has to handle the
    cancellation; a signal lets whoever iterates simply go on to the last fact. One signal may
    stop several jobs.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requested = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    @property
    def requested(self) -> bool:
        """Whether :meth:`request` was called."""
        return self._requested

    def request(self) -> None:
        """Ask for the end; asking again changes nothing."""
        with self._lock:
            self._requested = True
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    async def wait(self) -> None:
        """Return when the end is asked for."""
        entry = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            if self._requested:
                return
            self._waiting.append(entry)
        try:
            await entry[1].wait()
        finally:
            with self._lock:
                if entry in self._waiting:
                    self._waiting.remove(entry)
