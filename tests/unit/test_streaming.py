"""Streams of work that can be stopped, and still tell what they know."""

from __future__ import annotations

import asyncio
import threading

import pytest

from runtape.attribution.stopping import StopSignal
from runtape.attribution.streaming import last, stream


async def _endless(emit):
    emit("start")
    try:
        await asyncio.Event().wait()
    finally:
        emit("partial")


async def _swallowing(emit):
    emit("start")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        emit("partial")


async def _collect(items):
    return [item async for item in items]


def test_items_come_while_the_work_runs():
    """What is emitted is yielded before the work ends."""
    gate = asyncio.Event()

    async def work(emit):
        emit(1)
        await gate.wait()
        emit(2)

    async def main():
        seen = []
        async for item in stream(work):
            seen.append(item)
            gate.set()
        return seen

    assert asyncio.run(main()) == [1, 2]


def test_an_error_of_the_work_is_raised_after_its_items():
    """Nothing that was emitted is lost to an error."""

    async def work(emit):
        emit(1)
        raise ValueError("broken")

    async def main():
        seen = []
        with pytest.raises(ValueError, match="broken"):
            await last(stream(work), seen.append)
        return seen

    assert asyncio.run(main()) == [1]


@pytest.mark.parametrize("before", [True, False])
def test_a_signal_ends_the_stream_with_its_last_items(before):
    """A stop, asked for before or while it runs, lets the work have the last word."""

    async def main():
        stop = StopSignal()
        if before:
            stop.request()
        seen = []
        async for item in stream(_swallowing, stop):
            seen.append(item)
            stop.request()
        return seen

    assert asyncio.run(main()) == ["start", "partial"]


def test_a_signal_works_from_another_thread():
    """`request` may be called from anywhere, any number of times."""
    stop = StopSignal()

    async def main():
        seen = []
        async for item in stream(_swallowing, stop):
            seen.append(item)
            if item == "start":
                threading.Timer(0.01, stop.request).start()
                threading.Timer(0.01, stop.request).start()
        return seen

    assert asyncio.run(main()) == ["start", "partial"]
    assert stop.requested


def test_one_signal_stops_several_streams_and_survives_closed_loops():
    """A signal outlives the loops it stopped something in."""
    stop = StopSignal()

    async def main():
        streams = [_collect(stream(_swallowing, stop)) for _ in range(3)]
        asyncio.get_running_loop().call_later(0.01, stop.request)
        return await asyncio.gather(*streams)

    assert asyncio.run(main()) == [["start", "partial"]] * 3
    stop.request()
    assert asyncio.run(_collect(stream(_swallowing, stop))) == ["start", "partial"]


def test_a_cancelled_consumer_gets_the_last_items_and_then_its_cancellation():
    """Cancelling the iterating task delivers what is known first, then the cancellation."""

    async def main():
        seen = []

        async def consume():
            async for item in stream(_swallowing):
                seen.append(item)  # noqa: PERF401 - it must survive the cancellation

        task = asyncio.ensure_future(consume())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    assert asyncio.run(main()) == ["start", "partial"]


def test_a_consumer_that_leaves_cancels_the_work():
    """Closing the stream early ends the work; its last words go nowhere."""
    ended = []

    async def work(emit):
        try:
            emit(1)
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def main():
        items = stream(work)
        assert await anext(items) == 1
        await items.aclose()
        return list(ended)

    assert asyncio.run(main()) == [True]


def test_last_shows_every_item_and_returns_the_final_one():
    """`last` is a stream reduced to its result."""

    async def work(emit):
        for number in range(3):
            emit(number)

    shown = []
    assert asyncio.run(last(stream(work), shown.append)) == 2
    assert shown == [0, 1, 2]


def test_a_work_that_does_not_swallow_its_cancellation_still_ends_the_stream():
    """A cancelled work counts as ended: its items are yielded, then the cancellation is raised."""

    async def main():
        stop = StopSignal()
        stop.request()
        seen = []
        with pytest.raises(asyncio.CancelledError):
            await last(stream(_endless, stop), seen.append)
        return seen

    assert asyncio.run(main()) == ["start", "partial"]
