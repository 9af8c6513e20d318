"""Work that tells what it finds while it runs, and still tells what it knows when it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any, TypeAlias, TypeVar

from runtape.attribution.stopping import StopSignal

T = TypeVar("T")
Work: TypeAlias = Callable[[Callable[[T], None]], Coroutine[Any, Any, None]]
"""Takes a function that emits one item. Is cancelled to stop, and may emit on its way out."""


async def stream(work: Work[T], stop: StopSignal | None = None) -> AsyncGenerator[T]:
    """Run `work` and yield what it emits, as it emits it.

    When `stop` is requested, `work` is cancelled and its last items are yielded. A cancelled
    iterating task gets
    them too: its CancelledError is raised after them instead of before. Errors of `work` are
        raised in the
    end; leaving the loop early cancels it.
    """
    items: asyncio.Queue[tuple[T] | None] = asyncio.Queue()
    task = asyncio.ensure_future(work(lambda item: items.put_nowait((item,))))
    task.add_done_callback(lambda _: items.put_nowait(None))
    watch = asyncio.ensure_future(_cancel_on(stop, task))
    cancelled: asyncio.CancelledError | None = None
    try:
        while True:
            try:
                item = await items.get()
            except asyncio.CancelledError as error:
                if cancelled is not None:
                    raise
                cancelled = error
                task.cancel()
                continue
            if item is None:
                break
            yield item[0]
        if cancelled is not None:
            raise cancelled
        await task
    finally:
        task.cancel()
        watch.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)


async def _cancel_on(stop: StopSignal | None, task: asyncio.Future[None]) -> None:
    if stop is not None:
        await stop.wait()
        task.cancel()


async def last(items: AsyncGenerator[T], on_item: Callable[[T], None] | None = None) -> T:
    """The last item of a stream that has one; `on_item` is shown each.

    The stream is exhausted, so that a cancellation it kept back comes out here.
    """
    kept: list[T] = []
    async with contextlib.aclosing(items) as open_items:
        async for item in open_items:
            kept[:] = [item]
            if on_item is not None:
                on_item(item)
    return kept[0]
