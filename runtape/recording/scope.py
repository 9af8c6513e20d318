"""Where in the program an event happens: within which tool call, in which thread and task.

What encloses an event is known from a context variable, never guessed from what was recorded last:
agents run tools and each other at the same time. Threads started bare do not inherit it;
:func:`carry` takes it along.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar, cast

from runtape.jsonio import Json

Params = ParamSpec("Params")
Result = TypeVar("Result")


@dataclass(slots=True, eq=False)
class Frame:
    """Something of one recorder that encloses what happens in it, and what encloses that.

    Attributes:
        owner: the recorder's journal: several recorders nest in one context.
        event: id of the enclosing event; None when it has none of its own.
        outer: the next frame outwards, of whichever recorder.
    """

    owner: object
    event: int | None
    outer: Frame | None

    def back(self) -> Frame | None:
        """What was the innermost frame in this context before this one."""
        return self.outer

    @classmethod
    def within(cls, owner: object, event: int) -> Frame:
        """The frame for what happens within `event`, itself within what encloses the caller."""
        return cls(owner, event, _innermost.get())


_innermost: ContextVar[Frame | None] = ContextVar("runtape_frame", default=None)


def innermost(owner: object = None) -> Frame | None:
    """The frame that encloses the caller; `owner` asks for the innermost one of a recorder."""
    frame = _innermost.get()
    while frame is not None and owner is not None and frame.owner is not owner:
        frame = frame.back()
    return frame


def enter(frame: Frame | None) -> None:
    """From here on, as far as this context reaches, `frame` is the innermost."""
    _innermost.set(frame)


def enclosing(owner: object, within: Frame | None = None) -> int | None:
    """Id of the event of this recorder that encloses `within`, or None at the top.

    `within` is the frame to look from, itself included; by default what encloses the caller.
    """
    frame = within or innermost(owner)
    while frame is not None and (frame.owner is not owner or frame.event is None):
        frame = frame.outer
    return None if frame is None else frame.event


class Inside:
    """Context manager: what happens in it is enclosed by `frame` (None: nothing changes)."""

    def __init__(self, frame: Frame | None) -> None:
        self._frame = frame
        self._token: Token[Frame | None] | None = None

    def __enter__(self) -> None:
        if self._frame is not None:
            self._token = _innermost.set(self._frame)

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _innermost.reset(self._token)
            self._token = None


def carry(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """`function`, made to run within what encloses the caller now, whichever thread calls it.

    Coroutine functions stay coroutine functions. Nothing else of the context is carried.
    """
    frame = _innermost.get()
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def later_async(*args: Params.args, **kwargs: Params.kwargs) -> object:
            with Inside(frame):
                return await function(*args, **kwargs)

        return cast("Callable[Params, Result]", later_async)

    @wraps(function)
    def later(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        with Inside(frame):
            return function(*args, **kwargs)

    return later


def strand() -> tuple[int, int]:
    """A key for the thread and task that is running: what one strand of calls happens in."""
    task = _task()
    return threading.get_ident(), 0 if task is None else id(task)


def here() -> Json:
    """Names of the thread and, if any, the asyncio task that is running."""
    task = _task()
    scope: Json = {"thread": threading.current_thread().name}
    return scope if task is None else {**scope, "task": task.get_name()}


def _task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no event loop runs in this thread
        return None
