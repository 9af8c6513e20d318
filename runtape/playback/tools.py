"""Tools that answer from the tape: recorded results with their types; errors are raised again."""

from __future__ import annotations

import threading
import warnings
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from runtape.jsonio import Json, canonical
from runtape.playback.again import raised_again
from runtape.playback.divergence import ReplayDiverged, ReplayWarning, first_difference
from runtape.playback.matching import nested_events
from runtape.playback.options import OnDiverge, ToolSource
from runtape.playback.player import Course
from runtape.recording.callables import Makers, name_of, replaced, signature_of
from runtape.recording.tools import Called, bound_arguments, without_defaults
from runtape.recording.values import Inexact, encode, restored
from runtape.tape.events import TOOL_CALL, TOOL_RESULT, Event


@dataclass(slots=True, eq=False)
class RecordedTool:
    """One recorded call of a tool.

    Attributes:
        event: id of the tool_call event.
        name: the tool's.
        arguments: by parameter name, as JSON.
        nested: whether it happened within another tool's call.
        used: whether it has been played.
    """

    event: int
    name: str
    arguments: Any
    nested: bool
    used: bool = False


class Served:
    """What a recorded call came to.

    Attributes:
        items: what a generator gave before its end; empty for other tools.
    """

    def __init__(self, value: Any, items: list[Any], error: BaseException | None) -> None:
        self.items = items
        self._value = value
        self._error = error

    def result(self) -> Any:
        """The value; raises what the tool raised."""
        if self._error is not None:
            raise self._error
        return self._value


class Props:
    """The recorded tool calls of a run, each given out once, and functions that do so."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._tape = course.tape
        self._lock = threading.Lock()
        self._secrets = course.secrets
        self._by_key: dict[tuple[str, bytes], list[RecordedTool]] = defaultdict(list)
        self.all = sorted(self._recorded(), key=lambda call: (call.nested, call.event))
        for call in self.all:
            self._by_key[call.name, _key(call.arguments)].append(call)

    def stand_in(self, function: Any, name: str | None = None) -> Any:
        """The function to be called instead of a tool: of the same kind, its answers recorded."""
        return replaced(function, _PLAYED, self._starter(function, name))

    def _starter(self, function: Any, name: str | None) -> Callable[[Called], Served | None]:
        called, signature = name_of(function, name), signature_of(function)

        def start(arguments: Called) -> Served | None:
            plain, full = bound_arguments(signature, arguments)
            complete = encode(full).value
            given = [encode(plain).value, complete, without_defaults(signature, complete)]
            return self._serve(called, [self._secrets.scrub_json(g, whole=True) for g in given])

        return start

    def _serve(self, name: str, given: list[Json]) -> Served | None:
        """The recorded outcome; None when the tool has to run. Raises ReplayDiverged."""
        course = self._course
        course.check()
        if course.live:
            return None
        call = self._take(name, given) or self._not_found(name, given[0])
        if call is None:
            return None
        runs = course.options.tools is ToolSource.RUN
        if self._is_edited(call):
            return None if runs else self._edited(call)
        return None if runs else self._served(call)

    def _take(self, name: str, given: list[Json]) -> RecordedTool | None:
        until = self._course.until
        with self._lock:
            for arguments in given:
                for call in self._by_key.get((name, _key(arguments)), ()):
                    if not call.used and (until is None or self._is_before(call, until)):
                        call.used = True
                        return call
        return None

    def _is_before(self, call: RecordedTool, until: int) -> bool:
        """Whether a call is replayed: it was made before `until`, or its result is edited there."""
        return call.event < until or self._is_edited(call)

    def _is_edited(self, call: RecordedTool) -> bool:
        return self._course.options.edit is not None and call.event == self._course.until

    def _edited(self, call: RecordedTool) -> Served | None:
        edit = self._course.options.edit
        served = self._served(call)
        if served is None or edit is None:
            return served
        self._course.go_live(f"live from here on: the result of event {call.event} was changed")
        return Served(edit(served.result()), served.items, None)

    def _not_found(self, name: str, arguments: Json) -> RecordedTool | None:
        """A call that is not on the tape: the one to take for it, or None: then it is live."""
        course = self._course
        if course.options.tools is ToolSource.RUN:
            return None
        until = course.until
        left = [call for call in self.all if call.name == name and not call.used]
        if until is not None and any(_key(c.arguments) == _key(arguments) for c in left):
            course.leave(course.arrived(until))
            return None
        divergence = self._difference(name, arguments, left)
        if course.options.on_diverge is OnDiverge.WARN and left:
            warnings.warn(str(divergence), ReplayWarning, stacklevel=2)
            left[0].used = True
            return left[0]
        course.leave(divergence)
        return None

    def _served(self, call: RecordedTool) -> Served | None:
        results = [h for h in self._tape.children(call.event) if h.type == TOOL_RESULT]
        if not results:
            raise self._course.stop(self._lost(call, "the tape has no result of it"))
        event = self._tape.event(results[-1])
        if "withheld" in event.payload or "unwritable" in event.payload:
            raise self._course.stop(self._lost(call, "its result was not recorded"))
        try:
            return _outcome(event)
        except Inexact as reason:
            raise self._course.stop(self._lost(call, str(reason))) from reason

    def _recorded(self) -> Iterator[RecordedTool]:
        inside = nested_events(self._tape)
        for head in self._tape.of_type(TOOL_CALL):
            payload = self._tape.event(head).payload
            name, arguments = str(payload.get("name")), payload.get("arguments")
            yield RecordedTool(head.id, name, arguments, inside(head.parent))

    def _lost(self, call: RecordedTool, why: str) -> ReplayDiverged:
        return ReplayDiverged(
            f"The call of {call.name} at event {call.event} cannot be replayed: {why}.",
            hint='tools="run" runs the tools',
            path=str(self._tape.path),
            event=call.event,
        )

    def _difference(self, name: str, arguments: Json, left: list[RecordedTool]) -> ReplayDiverged:
        tape = self._tape.path
        if not left:
            known = any(call.name == name for call in self.all)
            more = "all its recorded calls have been replayed" if known else "it was never called"
            message = f"The program calls {name}, and {tape.name} has no such call: {more}."
            return ReplayDiverged(message, path=str(tape))
        difference = first_difference(left[0].arguments, arguments)
        where = "" if difference is None else f" at {difference.place}"
        return ReplayDiverged(
            f"The program's call of {name} differs from event {left[0].event} of "
            f"{tape.name}{where}.",
            path=str(tape),
            event=left[0].event,
            difference=difference,
        )


def _key(arguments: Any) -> bytes:
    return canonical(arguments)


def _outcome(event: Event) -> Served:
    payload = event.payload
    described = payload.get("error")
    error = raised_again(described) if isinstance(described, dict) else None
    value = payload.get("result")
    if error is not None and not payload.get("yielded") and value is not None:
        error = None  # the tool returned what tells of a failure
    value = restored(value, list(payload.get("restore") or ()))
    if payload.get("yielded"):
        return Served(None, value, error)
    return Served(value, [], error)


def _function(function: Any, start: Callable[[Called], Served | None]) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        served = start((args, kwargs))
        return function(*args, **kwargs) if served is None else served.result()

    return call


def _coroutine(function: Any, start: Callable[[Called], Served | None]) -> Any:
    async def call(*args: Any, **kwargs: Any) -> Any:
        served = start((args, kwargs))
        return await function(*args, **kwargs) if served is None else served.result()

    return call


def _generator(function: Any, start: Callable[[Called], Served | None]) -> Any:
    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        served = start((args, kwargs))
        if served is None:
            return (yield from function(*args, **kwargs))
        yield from served.items
        return served.result()

    return call


def _async_generator(function: Any, start: Callable[[Called], Served | None]) -> Any:
    async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        served = start((args, kwargs))
        if served is None:
            async for item in function(*args, **kwargs):
                yield item
            return
        for item in served.items:
            yield item
        served.result()

    return call


_PLAYED = Makers(_function, _coroutine, _generator, _async_generator)
