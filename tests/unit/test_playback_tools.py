"""Tools answer from the tape: with their types and errors, as the kind of function they are."""

from __future__ import annotations

import asyncio
import datetime as dt
import inspect
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import pytest
from pydantic import BaseModel

import runtape
from runtape.playback.again import RecordedError, raised_again
from runtape.recording.values import describe_error
from runtape.tape.events import TOOL_CALL
from tests.support.recorded import events_on


@dataclass
class Bed:
    """A dataclass result."""

    name: str
    moisture: Decimal


class Point(NamedTuple):
    """A namedtuple result."""

    x: int
    y: int


class Plant(BaseModel):
    """A pydantic result."""

    name: str
    sown: dt.date


class OddError(Exception):
    """An exception that wants more than a message."""

    def __init__(self, code, reason):
        super().__init__(f"{code}: {reason}")
        self.code = code


VALUES = {
    "dataclass": Bed("a", Decimal("0.20")),
    "pydantic": Plant(name="basil", sown=dt.date(2026, 4, 1)),
    "tuple": (1, ("two", b"three")),
    "set": {1, 2},
    "namedtuple": Point(1, 2),
    "datetime": dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.timezone.utc),
    "mapping": {1: Decimal("1.10"), "two": [Point(0, 0)]},
    "plain": {"text": "Zoë", "none": None},
}
ERRORS = {
    "value": ValueError("no such bed"),
    "key": KeyError("bed"),
    "odd": OddError(7, "stuck"),
    "silent": TimeoutError(),
}


def look(kind):
    """Return a value, or raise an error, by name."""
    if kind in ERRORS:
        raise ERRORS[kind]
    return VALUES[kind]


async def look_slowly(kind):
    """The same."""
    await asyncio.sleep(0)
    return look(kind)


def stream(kind):
    """Give three things, then end as told."""
    yield from (1, (2, 3), "four")
    if kind in ERRORS:
        raise ERRORS[kind]


async def stream_slowly(kind) -> AsyncGenerator:
    """The same."""
    for item in (1, (2, 3), "four"):
        yield item
    if kind in ERRORS:
        raise ERRORS[kind]


def never(*_, **__):
    """What no served tool may call."""
    raise AssertionError("the tool ran")


def recorded(folder, work):
    """The tape of some tool calls."""
    with runtape.record(dir=folder) as recorder:
        work(recorder.tool)
    return recorder.path


def as_never(function):
    """A function of the same kind and signature that must not run."""

    def plain(kind):
        never(kind)

    async def coroutine(kind):
        never(kind)

    def generator(kind):
        yield never(kind)

    async def async_generator(kind):
        yield never(kind)

    for is_kind, made in (
        (inspect.isasyncgenfunction, async_generator),
        (inspect.isgeneratorfunction, generator),
        (inspect.iscoroutinefunction, coroutine),
    ):
        if is_kind(function):
            return made
    return plain


def outcome(function, kind):
    """What calling it comes to: a value with its type, items, or an error."""
    items = []

    async def run():
        if inspect.isasyncgenfunction(function):
            async for item in function(kind):
                items.append(item)  # noqa: PERF401 - what came before an error counts
            return None
        return await function(kind)

    try:
        if inspect.isgeneratorfunction(function):
            for item in function(kind):
                items.append(item)  # noqa: PERF402 - what came before an error counts
            return items
        if inspect.isasyncgenfunction(function) or inspect.iscoroutinefunction(function):
            return asyncio.run(run()), items
        value = function(kind)
    except Exception as error:  # noqa: BLE001 - which one is compared
        return items, type(error), str(error)
    else:
        return type(value), value


@pytest.mark.parametrize("function", [look, look_slowly, stream, stream_slowly])
@pytest.mark.parametrize("kind", [*VALUES, *ERRORS])
def test_results_and_errors_come_back(tmp_path, function, kind):
    """As they were: value, type, items given before an error, class and text of the error."""
    found = []
    path = recorded(tmp_path, lambda tool: found.append(outcome(tool(function), kind)))
    with runtape.replay(path) as rp:
        served = rp.tool(as_never(function), name=function.__name__)
        assert outcome(served, kind) == found[0]
    assert inspect.isgeneratorfunction(served) is inspect.isgeneratorfunction(function)
    assert inspect.iscoroutinefunction(served) is inspect.iscoroutinefunction(function)


def test_equal_calls_are_served_in_order(tmp_path):
    """First recorded, first served; others whenever they come."""
    results = iter("abc")

    def work(tool):
        roll = tool(lambda n: next(results) * n, name="roll")
        assert [roll(n) for n in (1, 2, 1)] == ["a", "bb", "c"]

    with runtape.replay(recorded(tmp_path, work)) as rp:
        roll = rp.tool(lambda n: never(n), name="roll")  # noqa: PLW0108 - the signature counts
        assert [roll(2), roll(1), roll(n=1)] == ["bb", "a", "c"]


def test_calls_within_a_tool_are_not_mistaken_for_others(tmp_path):
    """A served tool does not make the calls it made; equal ones of the program come first."""
    results = iter("xyz")

    def work(tool):
        inner = tool(lambda n: next(results) * n, name="inner")
        outer = tool(lambda: inner(1), name="outer")
        assert (outer(), inner(1)) == ("x", "y")

    with runtape.replay(recorded(tmp_path, work)) as rp:
        inner = rp.tool(lambda n: never(n), name="inner")  # noqa: PLW0108
        assert rp.tool(never, name="outer")() == "x"
        assert inner(1) == "y"


def call(path, function, *args, **options):
    """Call a tool in a replay."""
    with runtape.replay(path, **options) as rp:
        return rp.tool(function, name="look")(*args)


def test_other_arguments_diverge(tmp_path):
    """With both sides of the first difference."""
    path = recorded(tmp_path, lambda tool: tool(look)("plain"))
    with pytest.raises(runtape.ReplayDiverged, match=r"call of look differs .* at \$\.kind") as e:
        call(path, look, "tuple")
    assert 'recorded: "plain"' in str(e.value)
    with pytest.warns(runtape.ReplayWarning):
        assert call(path, look, "tuple", on_diverge="warn") == VALUES["plain"]


def test_a_changed_signature_diverges_where_it_matters(tmp_path):
    """A renamed parameter does; one that was added with a default does not."""
    path = recorded(tmp_path, lambda tool: tool(look)("plain"))
    assert call(path, lambda kind, depth=1: never(kind, depth), "plain") == VALUES["plain"]
    with pytest.raises(runtape.ReplayDiverged) as caught:
        call(path, lambda sort: never(sort), "plain")  # noqa: PLW0108
    assert "now:      (nothing)" in str(caught.value)


def test_a_tool_that_was_never_called_diverges(tmp_path):
    """There is nothing to serve."""
    path = recorded(tmp_path, lambda tool: tool(look, name="other")("plain"))
    with pytest.raises(runtape.ReplayDiverged, match="never called"):
        call(path, look, "plain")


def test_a_call_without_a_result_is_told(tmp_path):
    """The run was killed while the tool ran."""
    path = recorded(tmp_path, lambda tool: tool(look)("plain"))
    last = events_on(path, TOOL_CALL)[0].id
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: last + 1]))
    with pytest.raises(runtape.ReplayDiverged, match="no result"):
        call(path, look, "plain")


def test_a_likeness_is_not_served(tmp_path):
    """What could not be recorded exactly is never passed off as the result."""
    path = recorded(tmp_path, lambda tool: tool(lambda: object(), name="look")())  # noqa: PLW0108
    with pytest.raises(runtape.ReplayDiverged, match="only a likeness"):
        call(path, never)
    assert call(path, lambda: "real", tools="run") == "real"


def test_tools_may_run(tmp_path):
    """With ``tools="run"`` nothing of them is compared."""
    path = recorded(tmp_path, lambda tool: tool(look)("plain"))
    assert call(path, look, "tuple", tools="run") == VALUES["tuple"]


@pytest.mark.parametrize("error", ERRORS.values())
def test_errors_are_made_again(error):
    """With their class and text, whatever their constructor wants."""
    again = raised_again(describe_error(error))
    assert (type(again), str(again)) == (type(error), str(error))


@pytest.mark.parametrize("name", ["subprocess:Popen", "nowhere:Lost", "builtins:print", ""])
def test_only_exceptions_are_made(name):
    """A tape cannot have anything else called."""
    made = raised_again({"type": "Lost", "message": "gone", "class": name})
    assert type(made) is RecordedError
    assert "gone" in str(made)
