"""Functions whose calls are recorded: to everybody else they are the functions they were."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from functools import partial, wraps
from typing import Any, NamedTuple, TypeAlias

from runtape.errors import RecordingError
from runtape.recording.calls import End
from runtape.recording.tools import Called, Run, Tools

_Start: TypeAlias = Callable[[Called], Run]


class Makers(NamedTuple):
    """For each kind of function, what makes the function to be called in its place."""

    function: Callable[[Any, Any], Any]
    coroutine: Callable[[Any, Any], Any]
    generator: Callable[[Any, Any], Any]
    async_generator: Callable[[Any, Any], Any]


def replaced(function: Any, makers: Makers, extra: Any) -> Any:
    """What `makers` make of `function` (and `extra`): of the same kind, with the same signature.

    Functions, coroutine functions, generator functions, async generator functions; static and class
    methods; objects that can be called. Raises RecordingError for what cannot be called.
    """
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(replaced(function.__func__, makers, extra))
    if not callable(function):
        raise RecordingError(
            f"A {type(function).__qualname__} cannot be called.", hint="decorate functions"
        )
    return wraps(function)(_maker(function, makers)(function, extra))


def recorded(function: Any, name: str | None, tools: Tools) -> Any:
    """`function` with its calls recorded; kinds and errors as for :func:`replaced`."""
    called, signature = name_of(function, name), signature_of(function)
    start: _Start = partial(tools.start, called, signature)
    made = replaced(function, _RECORDED, start)
    tools.names.add(called)
    return made


def name_of(function: Any, name: str | None) -> str:
    """What a tool is called: as it is told, or like its function."""
    function = _plain(function)
    return name or getattr(function, "__name__", None) or type(function).__name__


def signature_of(function: Any) -> inspect.Signature | None:
    """The signature of a tool; some functions written in C have none."""
    try:
        return inspect.signature(_plain(function))
    except (TypeError, ValueError):
        return None


def _plain(function: Any) -> Any:
    """The function in a static or class method."""
    return function.__func__ if isinstance(function, (staticmethod, classmethod)) else function


def _maker(function: Any, makers: Makers) -> Callable[[Any, Any], Any]:
    for is_kind, make in (
        (inspect.isasyncgenfunction, makers.async_generator),
        (inspect.isgeneratorfunction, makers.generator),
        (inspect.iscoroutinefunction, makers.coroutine),
    ):
        if is_kind(function) or is_kind(type(function).__call__):
            return make
    return makers.function


def _function(function: Any, start: _Start) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        run = start((args, kwargs))
        try:
            with run.inside():
                result = function(*args, **kwargs)
        except BaseException as error:
            run.raised(error)
            raise
        run.returned(result)
        return result

    return call


def _coroutine(function: Any, start: _Start) -> Any:
    async def call(*args: Any, **kwargs: Any) -> Any:
        run = start((args, kwargs))
        try:
            with run.inside():
                result = await function(*args, **kwargs)
        except BaseException as error:
            run.raised(error)
            raise
        run.returned(result)
        return result

    return call


def _generator(function: Any, start: _Start) -> Any:
    """As ``yield from`` does it, but entering and leaving the run at every step."""

    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        run = start((args, kwargs))
        items = _made(function, args, kwargs, run)
        resume: Callable[[Any], Any] = items.send
        value: Any = None
        while True:
            try:
                with run.inside():
                    item = resume(value)
            except StopIteration as stop:
                run.exhausted(End.EOF)
                return stop.value
            except BaseException as error:
                run.exhausted(End.ERROR, error)
                raise
            run.yielded(item)
            try:
                value = yield item
                resume = items.send
            except GeneratorExit:
                try:
                    with run.inside():
                        items.close()
                finally:
                    run.exhausted(End.CLOSED)
                raise
            except BaseException as error:  # noqa: BLE001 - thrown in by the consumer: passed on
                resume, value = items.throw, error

    return call


def _async_generator(function: Any, start: _Start) -> Any:
    """The same for asynchronous generators."""

    async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        run = start((args, kwargs))
        items = _made(function, args, kwargs, run)
        resume: Callable[[Any], Any] = items.asend
        value: Any = None
        while True:
            try:
                with run.inside():
                    item = await resume(value)
            except StopAsyncIteration:
                run.exhausted(End.EOF)
                return
            except BaseException as error:
                run.exhausted(End.ERROR, error)
                raise
            run.yielded(item)
            try:
                value = yield item
                resume = items.asend
            except GeneratorExit:
                try:
                    with run.inside():
                        await items.aclose()
                finally:
                    run.exhausted(End.CLOSED)
                raise
            except BaseException as error:  # noqa: BLE001 - thrown in by the consumer: passed on
                resume, value = items.athrow, error

    return call


def _made(function: Any, args: Any, kwargs: Any, run: Run) -> Any:
    """The generator; making it fails when the arguments do not fit."""
    try:
        return function(*args, **kwargs)
    except BaseException as error:
        run.exhausted(End.ERROR, error)
        raise


_RECORDED = Makers(_function, _coroutine, _generator, _async_generator)
