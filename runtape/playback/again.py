"""Recorded exceptions, made again as the class they had."""

from __future__ import annotations

import ast
from typing import Any

from runtape.jsonio import Json
from runtape.recording.values import Inexact, loaded_class
from runtape.recording.wire import LIBRARIES


class RecordedError(RuntimeError):
    """Stands for an exception whose class is not loaded here; its message names the class."""


def raised_again(described: Json, library: Any = None, request: Any = None) -> BaseException:
    """The exception that was described on the tape.

    Errors of an http library become those of `library`, the one in use now, with its `request`.
    """
    message = str(described.get("message") or "")
    name = str(described.get("class") or "")
    module, _, kind = name.partition(":")
    if library is not None and module.partition(".")[0] in LIBRARIES:
        cls: Any = getattr(library, kind, None)
        if isinstance(cls, type) and issubclass(cls, library.RequestError):
            return cls(message, request=request)  # type: ignore[no-any-return]
    else:
        cls = _class_called(name)
    if not (isinstance(cls, type) and issubclass(cls, BaseException)):
        return RecordedError(f"{described.get('type')}: {message}")
    return _made(cls, message)


def _class_called(name: str) -> Any:
    try:
        return loaded_class(name)
    except Inexact:
        return None


def _made(cls: type[BaseException], message: str) -> BaseException:
    """An exception with this text: made as usual, or past an ``__init__`` that wants something."""
    for argument in (message, _literal(message)):
        error = _tried(cls, argument)
        if error is not None and str(error) == message:
            return error
    error = cls.__new__(cls)
    error.args = (message,) if message else ()
    return error


def _tried(cls: type[BaseException], argument: Any) -> BaseException | None:
    try:
        return cls(argument)
    except Exception:  # noqa: BLE001 - a foreign class may want and do anything
        return None


def _literal(text: str) -> Any:
    """What the text is the repr of, as in the message of a KeyError."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
