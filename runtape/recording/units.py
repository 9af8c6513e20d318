"""Work that a framework announces, names and ends: LangChain's runs of chains, models and tools.

The wire knows what was sent; a unit knows where in the framework that belongs. They meet in the
context variable of :mod:`runtape.recording.scope`: a framework calls back where it is going to do
the work, so what is sent before it reports the end is sent by the innermost unit.

Two things make that harder than it sounds. A framework may announce several units in one context
(one for each prompt of a batch), so what a unit is part of is taken from the ids it came with. And
a generator runs in its consumer's context: while a stream is being read its unit is still open,
although the consumer may be doing something else. So a model that has begun to answer asks no more,
and a framework that knows better what is running here is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from runtape.jsonio import Json, dumps
from runtape.recording import scope
from runtape.recording.scope import Frame


class Kind(Enum):
    """What kind of work a unit is."""

    CHAIN = "chain"
    """A graph, a node, a sequence: whatever holds other units."""
    MODEL = "model"
    TOOL = "tool"


class Sending(Protocol):
    """A model call on its way."""

    @property
    def status(self) -> int | None:
        """HTTP status; None until there is a response."""

    @property
    def failed(self) -> bool:
        """Whether it was refused or broken off."""


@dataclass(slots=True, eq=False)
class Unit(Frame):
    """One announced piece of work. `outer` is what it is part of, by the framework's own ids.

    Attributes:
        kind: model, tool, or what holds others.
        name: of the model class, the tool, the node.
        labels: what `scope` says of events in it: ids, names, under the framework's name.
        is_running: whether, as far as the framework knows, the caller runs in this unit.
        call_id: for a tool: the model's id of the call.
        prompt: for a model: the last thing it is told, as text.
        before: the innermost frame of the context in which it began.
        sent: for a model: its calls at the wire.
        over: whether it has ended.
    """

    kind: Kind
    name: str
    labels: Json
    is_running: Callable[[], bool]
    call_id: str | None = None
    prompt: str = ""
    before: Frame | None = None
    sent: list[Sending] = field(default_factory=list)
    over: bool = False

    def back(self) -> Frame | None:
        """What was the innermost frame in this context before this one."""
        return self.before

    @property
    def awaits_answer(self) -> bool:
        """Whether it is a model that may still have something to send."""
        if self.over or self.kind is not Kind.MODEL:
            return False
        return all(call.status is None or call.failed for call in self.sent)

    def begin(self) -> None:
        """What happens in this context from now on happens in this unit."""
        self.before = _still_open(scope.innermost())
        if self.outer is None:
            self.outer = _holder(self.before)
        scope.enter(self)

    def end(self) -> None:
        """The unit is over; what was around it in this context is innermost again."""
        self.over = True
        frame = scope.innermost()
        open_frame = _still_open(frame)
        if open_frame is not frame:
            scope.enter(open_frame)


def asking(owner: object, body: bytes | None) -> Unit | None:
    """The unit of `owner` that a model request with this body, sent now, belongs to."""
    waiting = _waiting_models(scope.innermost(owner))
    if len(waiting) > 1:  # prompts of one batch: the first that this could be, and that has not yet
        waiting.sort(key=lambda unit: (not _mentions(unit, body), len(unit.sent)))
    return waiting[0] if waiting else surrounding(owner)


def surrounding(owner: object) -> Unit | None:
    """The chain or tool of `owner` that the caller runs in."""
    frame = scope.innermost(owner)
    while frame is not None:
        if isinstance(frame, Unit) and frame.owner is owner and _holds(frame):
            return frame
        frame = frame.outer
    return None


def serving(owner: object, name: str) -> Unit | None:
    """The announced call of the tool `name` that the caller carries out; none if it has an event.

    For a tool that a framework runs and that is recorded itself as well: one call, one event.
    """
    unit = surrounding(owner)
    fits = unit is not None and unit.kind is Kind.TOOL and unit.name == name
    return unit if fits and unit is not None and unit.event is None else None


def place(owner: object, unit: Unit | None = None) -> Json:
    """The ``scope`` of an event: thread, task, and what is known of the unit it happens in."""
    found = unit or surrounding(owner)
    return scope.here() if found is None else {**scope.here(), **found.labels}


def _waiting_models(frame: Frame | None) -> list[Unit]:
    """The model that runs innermost, and those announced together with it, first come first."""
    waiting: list[Unit] = []
    first = frame
    while isinstance(frame, Unit) and isinstance(first, Unit) and frame.kind is Kind.MODEL:
        if frame.awaits_answer and frame.outer is first.outer:
            waiting.insert(0, frame)
        frame = frame.before
    return waiting


def _mentions(unit: Unit, body: bytes | None) -> bool:
    return bool(unit.prompt) and body is not None and dumps(unit.prompt)[1:-1] in body


def _holds(unit: Unit) -> bool:
    return not unit.over and unit.kind is not Kind.MODEL and unit.is_running()


def _holder(frame: Frame | None) -> Frame | None:
    """The first frame that holds others: no model does."""
    while isinstance(frame, Unit) and (frame.over or frame.kind is Kind.MODEL):
        frame = frame.before
    return frame


def _still_open(frame: Frame | None) -> Frame | None:
    while isinstance(frame, Unit) and frame.over:
        frame = frame.before
    return frame
