"""Recorded generator tools: lazy, sendable, closable as ever, and their items on the tape."""

from __future__ import annotations

import asyncio

import pytest

from runtape.recording import record
from runtape.recording.values import restored
from tests.support.recorded import payloads_on


@pytest.fixture
def recorder(tmp_path):
    """A recorder that is closed in the end."""
    with record(dir=tmp_path) as made:
        yield made


def test_generators(recorder):
    """Items are handed on one by one and recorded together, with send, throw and return as ever."""

    @recorder.tool
    def talk(first):
        got = yield first
        try:
            yield got
        except KeyError as error:
            yield str(error)
        return "over"

    def consume():
        return (yield from talk((1, 2)))

    items = consume()
    assert next(items) == (1, 2)
    assert items.send("hello") == "hello"
    assert items.throw(KeyError("k")) == "'k'"
    with pytest.raises(StopIteration) as stopped:
        next(items)
    assert stopped.value.value == "over"
    [result] = payloads_on(recorder.path, "tool_result")
    assert result["result"] == [[1, 2], "hello", "'k'"]
    assert (result["yielded"], result["end"]) == (True, "eof")
    assert restored(result["result"], result["restore"])[0] == (1, 2)


def test_generators_that_are_left_early_or_fail(recorder):
    """Closing runs the tool's own clean-up; the tape says what was given until then."""
    cleaned = []

    @recorder.tool
    def count(limit):
        try:
            yield from range(limit)
            raise OverflowError
        finally:
            cleaned.append(limit)

    for n in count(9):
        if n == 1:
            break
    with pytest.raises(OverflowError):
        list(count(1))
    assert cleaned == [9, 1]
    left, failed = payloads_on(recorder.path, "tool_result")
    assert (left["result"], left["end"]) == ([0, 1], "closed")
    assert (failed["result"], failed["end"]) == ([0], "error")
    assert failed["error"]["type"] == "OverflowError"


def test_async_generators(recorder):
    """The same for asynchronous ones, closed early and thrown into."""
    cleaned = []

    @recorder.tool
    async def count(limit):
        try:
            for n in range(limit):
                await asyncio.sleep(0)
                try:
                    yield n
                except KeyError:
                    yield "caught"
        finally:
            cleaned.append(limit)

    async def main():
        assert [n async for n in count(2)] == [0, 1]
        items = count(5)
        assert await items.__anext__() == 0
        assert await items.athrow(KeyError()) == "caught"
        await items.aclose()

    asyncio.run(main())
    assert cleaned == [2, 5]
    whole, left = payloads_on(recorder.path, "tool_result")
    assert (whole["result"], whole["end"]) == ([0, 1], "eof")
    assert (left["result"], left["end"]) == ([0, "caught"], "closed")
