"""A Python function that answers instead of a provider: ``--model-fn file.py:function``."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
import traceback
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from runtape.dialects.base import Dialect, Reply, Stop, ToolCall
from runtape.errors import ModelFunctionError, RuntapeError
from runtape.jsonio import Json, dumps, loads

ModelFunction: TypeAlias = Callable[[Json], Any]
"""Takes a request body; returns, or resolves to, what :func:`as_reply` reads."""

_EXPECTED = (
    'return a str, a Reply, {"tool": NAME, "arguments": {…}}, {"tool_calls": […]}, {"text": …} '
    "or a response document of the API"
)
_SHOWN = 80


class FunctionModel:
    """Answers with a function.

    A function that is not async runs in a thread of its own for each call, so that slow ones
    overlap as far as there are workers.
    """

    batches = False
    drifts = False

    def __init__(
        self, function: ModelFunction, *, name: str, identity: str, dialect: Dialect
    ) -> None:
        """Wrap `function`.

        Args:
            function: answers one request body.
            name: how messages call it, such as ``fake.py:answer``.
            identity: what its answers are cached under.
            dialect: reads the response documents it may return.
        """
        self.identity = identity
        self._function = function
        self._name = name
        self._dialect = dialect

    async def sample(self, body: Json, n: int) -> list[Reply]:  # noqa: ARG002 - one each
        """Call the function once, with a copy of the body; raises ModelFunctionError."""
        returned = await self._call(loads(dumps(body)))
        reply = as_reply(returned, self._dialect)
        if reply is None:
            raise ModelFunctionError(
                f"The model function {self._name} returned {_describe(returned)}.", hint=_EXPECTED
            )
        return [reply]

    async def aclose(self) -> None:
        """Nothing to release."""

    async def _call(self, body: Json) -> Any:
        returned, error = await _attempt(self._function, body)
        if error is None:
            return returned
        if isinstance(error, RuntapeError):
            raise error
        raise ModelFunctionError(
            f"The model function {self._name} raised {type(error).__name__}:"
            f" {error}{_raised_at(error)}."
        ) from error


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine (``async def``, or an object whose ``__call__`` is)."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - not whether, but of what kind
    )


def as_reply(returned: Any, dialect: Dialect) -> Reply | None:
    """Read what a model function returned; None when it is nothing a model could have said.

    Read are: a str (text), a Reply, ``{"tool": name, "arguments": {…}}``, ``{"tool_calls": […]}``,
    ``{"text": …}``, a response document of `dialect`, and SDK objects of one (``model_dump``).
    """
    if isinstance(returned, Reply):
        return returned
    if isinstance(returned, str):
        return Reply(text=returned)
    if hasattr(returned, "model_dump"):
        returned = returned.model_dump(mode="json")
    if not isinstance(returned, dict):
        return None
    return _from_short_form(returned) or _from_document(returned, dialect)


def _from_short_form(answer: Json) -> Reply | None:
    text = answer.get("text", answer.get("content"))
    entries = [answer] if "tool" in answer else answer.get("tool_calls") or []
    if not isinstance(text, str | None) or not isinstance(entries, list | tuple):
        return None
    calls = [_call_of(entry) for entry in entries]
    if None in calls or (text is None and not calls):
        return None
    return Reply(
        text=text,
        tool_calls=tuple(cast("list[ToolCall]", calls)),
        stop=Stop.TOOL_CALLS if calls else Stop.END,
    )


def _call_of(entry: Any) -> ToolCall | None:
    if isinstance(entry, ToolCall):
        return entry
    if not isinstance(entry, dict):
        return None
    inner = entry["function"] if isinstance(entry.get("function"), dict) else entry
    name = inner.get("tool", inner.get("name"))
    arguments = inner.get("arguments", {})
    if not isinstance(name, str):
        return None
    if isinstance(arguments, str):
        arguments = _parsed(arguments)
    return ToolCall(name=name, arguments=arguments, id=entry.get("id"))


def _parsed(arguments: str) -> Any:
    try:
        return loads(arguments)
    except ValueError:
        return arguments


def _from_document(document: Json, dialect: Dialect) -> Reply | None:
    try:
        replies = dialect.replies(document)
    except ValueError:
        return None
    return replies[0] if replies else None


async def _attempt(function: ModelFunction, body: Json) -> tuple[Any, BaseException | None]:
    """What the function returned, or what it raised (a coroutine cannot raise StopIteration)."""
    try:
        if is_async(function):
            return await function(body), None
        returned, error = await _in_thread(function, body)
        if inspect.isawaitable(returned):
            returned = await returned
    except (Exception, SystemExit) as caught:  # noqa: BLE001 - the user's code can raise anything
        return None, caught
    return returned, error


async def _in_thread(function: ModelFunction, body: Json) -> tuple[Any, BaseException | None]:
    """Run it in a daemon thread: one that never returns must not keep the program from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if not future.done():
            future.set_result((value, error))

    def work() -> None:
        value, error = None, None
        try:
            value = context.run(function, body)
        except BaseException as caught:  # noqa: BLE001 - handed to whoever awaits it
            error = caught
        with contextlib.suppress(RuntimeError):  # the loop may be gone by now
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, daemon=True, name="runtape-model-function").start()
    return await future


def _raised_at(error: BaseException) -> str:
    """`` (file:line)`` of the user's innermost line; empty when the call itself failed."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
    if not frames:
        return ""
    last = next(f for f in reversed(frames) if f.filename == frames[0].filename)
    return f" ({last.filename}:{last.lineno})"


def _describe(returned: Any) -> str:
    if returned is None:
        return "None"
    shown = repr(returned)
    cut = shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"
    return f"{type(returned).__name__} {cut}"
