"""Waiting for async work from ordinary code, wherever that runs."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_blocking(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run async work to its end and return what it returns.

    Inside a running event loop (a notebook, an async web server) the work gets a thread with a
    loop of its own. Ctrl-C cancels the work, lets it finish what a cancellation leaves to do, and
    is raised then.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(work)
    return _run_aside(work)


def _run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    try:
        return asyncio.run(_interruptible(work()))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _interruptible(work: Coroutine[Any, Any, T]) -> T:
    """At Ctrl-C asyncio.run cancels the main task; before Python 3.11 it kills every task."""
    task = asyncio.current_task()
    old = sys.version_info < (3, 11) and threading.current_thread() is threading.main_thread()
    if old and sys.platform != "win32" and task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)
    return await work


def _run_aside(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run in another thread; the caller's loop stands still, as it does for any blocking call."""
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def watched() -> T:
        task = asyncio.current_task()
        if task is not None:
            started.append((asyncio.get_running_loop(), task))
        return await work()

    with ThreadPoolExecutor(1, "runtape") as threads:
        future = threads.submit(asyncio.run, watched())
        try:
            return future.result()
        except KeyboardInterrupt:
            for loop, task in started:
                loop.call_soon_threadsafe(task.cancel)
            raise
