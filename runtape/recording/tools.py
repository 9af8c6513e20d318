"""Tool calls on the tape: what a tool was called with and what came of it."""

from __future__ import annotations

import inspect
import time
from typing import Any, TypeAlias

from runtape.jsonio import Json
from runtape.recording import scope, units
from runtape.recording.calls import End
from runtape.recording.journal import Journal
from runtape.recording.pending import Pending
from runtape.recording.scope import Frame, Inside
from runtape.recording.units import Unit
from runtape.recording.values import describe_error, encode
from runtape.tape.events import TOOL_CALL, TOOL_RESULT

Called: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional and keyword arguments of a call."""


class Tools:
    """Records the tool calls of one run.

    Attributes:
        names: of the functions that record their calls themselves.
    """

    def __init__(self, journal: Journal, pending: Pending, root: int | None) -> None:
        self.names: set[str] = set()
        self._journal = journal
        self._pending = pending
        self._root = root

    def begin(
        self, name: str, arguments: Json, call_id: str | None = None, unit: Unit | None = None
    ) -> Run:
        """Write the tool_call event of a call with these JSON arguments.

        `unit` is the framework's announcement of this very call, if there is one.
        """
        place = units.place(self._journal, unit)
        payload = {"name": name, "arguments": arguments, "call_id": call_id, "scope": place}
        enclosing = scope.enclosing(self._journal, unit)
        parent = self._root if enclosing is None else enclosing
        run = Run(self._journal, name, self._journal.write(TOOL_CALL, payload, parent=parent))
        if unit is not None:
            unit.event = run.event
            if unit.call_id is not None:
                self._pending.made(name, unit.call_id)
        return run

    def start(self, name: str, signature: inspect.Signature | None, called: Called) -> Run:
        """The same for a call as Python makes it; looks up the model's id of it. Never raises."""
        if not self._journal.closed:
            with self._journal.guard(f"a call of {name}"):
                plain, full = bound_arguments(signature, called)
                arguments, complete = encode(plain).value, encode(full).value
                unit = units.serving(self._journal, name)
                call_id = None if unit is None else unit.call_id
                if call_id is None:
                    # Frameworks pass defaults that the model left out.
                    needed = without_defaults(signature, complete)
                    call_id = self._pending.take(name, (arguments, complete, needed))
                return self.begin(name, arguments, call_id, unit)
        return Run(self._journal, name, None)

    def asked(self, name: str, arguments: Json) -> str | None:
        """The model's id of a call with these arguments that nobody has made yet."""
        return self._pending.take(name, (arguments,))


class Run:
    """One call of a tool, from the tool_call event to the tool_result event. Never raises.

    Attributes:
        event: id of the tool_call event; None when there is none: then nothing else is written.
        latency_ms: how long it took, when that is known better than by watching.
    """

    def __init__(self, journal: Journal, name: str, event: int | None) -> None:
        self.event = event
        self.latency_ms: float | None = None
        self._journal = journal
        self._name = name
        self._frame = None if event is None else Frame.within(journal, event)
        self._started = time.perf_counter()
        self._items: list[Any] = []
        self._tags: list[Json] = []

    def inside(self) -> Inside:
        """A ``with`` block for the tool's own code: what happens there is enclosed by this call."""
        return Inside(self._frame)

    def returned(self, value: Any, error: Json | None = None) -> None:
        """The tool returned a value; one that can be consumed only once is not looked into.

        `error` describes the failure that the value tells of, where a framework made it one.
        """
        if self.event is not None:
            result, tags = encode(value)
            self._finish({"result": result, "restore": tags or None, "error": error})

    def raised(self, error: BaseException) -> None:
        """The tool raised."""
        if self.event is not None:
            self._finish({"result": None, "restore": None, "error": describe_error(error)})

    def yielded(self, item: Any) -> None:
        """A generator gave an item."""
        if self.event is not None:
            value, tags = encode(item, (len(self._items),))
            self._items.append(value)
            self._tags += tags

    def exhausted(self, end: End, error: BaseException | None = None) -> None:
        """A generator ended: by itself, by an error, or closed before its end."""
        if self.event is not None:
            described = None if error is None else describe_error(error)
            result = {"result": self._items, "restore": self._tags or None, "error": described}
            self._finish({**result, "yielded": True, "end": end.value})

    def _finish(self, payload: Json) -> None:
        latency_ms = self.latency_ms
        if latency_ms is None:
            latency_ms = round((time.perf_counter() - self._started) * 1000, 3)
        self._journal.write(
            TOOL_RESULT,
            {"name": self._name, **payload},
            parent=self.event,
            meta={"latency_ms": latency_ms},
        )


def bound_arguments(signature: inspect.Signature | None, called: Called) -> tuple[Json, Json]:
    """The arguments by parameter name: as they were passed, and with defaults filled in.

    A call that does not fit the signature (it is about to fail) is kept as it was made.
    """
    args, kwargs = called
    try:
        bound = None if signature is None else signature.bind(*args, **kwargs)
    except TypeError:
        bound = None
    if bound is None:
        unbound = {"args": args, "kwargs": kwargs} if args else kwargs
        return unbound, unbound
    plain = _by_name(bound)
    bound.apply_defaults()
    return plain, _by_name(bound)


def without_defaults(signature: inspect.Signature | None, arguments: Json) -> Json:
    """The arguments (in JSON form) but for those that are what they would be anyway."""
    parameters = {} if signature is None else signature.parameters
    return {
        name: value
        for name, value in arguments.items()
        if name not in parameters or value != encode(parameters[name].default).value
    }


def _by_name(bound: inspect.BoundArguments) -> Json:
    """Keyword parameters stand beside the named ones; the object of a method is left out."""
    named: Json = {}
    for position, (name, value) in enumerate(bound.arguments.items()):
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            named.update(value)
        elif position > 0 or name not in ("self", "cls"):
            named[name] = value
    return named
