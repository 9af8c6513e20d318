"""LangChain's runs as they are announced, one inside the other, and what of them goes to the tape.

A run is known by its id and the id of the run it is part of: LangChain runs things at once, and
what came last says nothing.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any
from uuid import UUID

from runtape.jsonio import Json, dumps
from runtape.recording import scope, units
from runtape.recording.calls import Call, Calls, End, Sent
from runtape.recording.journal import Journal
from runtape.recording.langchain_chat import DIALECT, request_body, response_body
from runtape.recording.tools import Run, Tools
from runtape.recording.units import Kind, Unit
from runtape.recording.values import describe_error, encode
from runtape.tape.events import ERROR

_MOST_OPEN = 10_000
"""Runs announced and not ended; beyond that the oldest are forgotten."""
_HANDS_OVER_CONTEXT = sys.version_info >= (3, 11)
"""Whether LangChain can give a task that it starts a context of its own."""
_STEERING = "GraphBubbleUp"
"""The class of LangGraph's exceptions that are no failures (an interrupt, a jump)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """What LangChain says when a run begins.

    Attributes:
        run_id, parent: ids of the run, and of the run it is part of.
        name: of what runs.
        display: of this run: a node's name, say.
        metadata: LangGraph's node and step are in it.
        tool_call_id: the model's id of a tool call.
    """

    run_id: UUID
    parent: UUID | None
    name: str
    display: str
    metadata: Json
    tool_call_id: str | None = None


@dataclass(slots=True, eq=False)
class _Told:
    """A model call, as LangChain tells of it."""

    messages: list[Any]
    parameters: Json
    metadata: Json
    began: float = field(default_factory=time.perf_counter)
    body: Json = field(default_factory=dict)
    call: Call | None = None


@dataclass(slots=True, eq=False)
class _Open:
    """A run that has begun and not ended.

    Attributes:
        unit: the run.
        parent: what it is part of, if that was announced.
        root: id of the outermost run.
        told: for a model.
        arguments: for a tool.
        record: for a tool: its record, unless the tool keeps that itself.
        failures: exceptions that something within it has ended by: they have been dealt with.
    """

    unit: Unit
    parent: _Open | None
    root: str
    told: _Told | None = None
    arguments: Json = field(default_factory=dict)
    record: Run | None = None
    failures: list[BaseException] = field(default_factory=list)


class Runs:
    """The open runs of one recording."""

    def __init__(self, journal: Journal, calls: Calls, tools: Tools, root: int | None) -> None:
        self._journal = journal
        self._calls = calls
        self._tools = tools
        self._root = root
        self._open: dict[UUID, _Open] = {}

    def begin(self, kind: Kind, announced: Announced, prompt: str = "") -> _Open:
        """A run begins, in this context. `prompt`: the last thing a model is told."""
        parent = None if announced.parent is None else self._open.get(announced.parent)
        root = str(announced.run_id) if parent is None else parent.root
        unit = Unit(
            self._journal,
            event=None,
            outer=None if parent is None else parent.unit,
            kind=kind,
            name=announced.name,
            labels={"langchain": _labels(announced, root, parent)},
            is_running=_running_check(),
            call_id=announced.tool_call_id,
            prompt=prompt,
        )
        unit.begin()
        begun = self._open[announced.run_id] = _Open(unit, parent, root)
        while len(self._open) > _MOST_OPEN:
            self._open.pop(next(iter(self._open)), None)
        return begun

    def end(self, run_id: UUID, error: BaseException | None = None) -> _Open | None:
        """A run ends, by an exception or not; None when it is not known."""
        ended = self._open.pop(run_id, None)
        if ended is not None:
            ended.unit.end()
            if error is not None and ended.parent is not None:
                ended.parent.failures.append(error)
        return ended

    def chain_failed(self, run_id: UUID, error: BaseException) -> None:
        """Whatever holds other runs failed: recorded where it comes up first."""
        ended = self.end(run_id, error)
        if ended is not None and not any(seen is error for seen in ended.failures):
            self._write_error(ended.unit, error)

    def begin_tool(self, announced: Announced, arguments: Json) -> None:
        """A tool begins; one that records itself writes its event itself."""
        begun = self.begin(Kind.TOOL, announced)
        begun.arguments = encode(arguments).value
        if announced.name not in self._tools.names:
            self._record_tool(begun)

    def tool_returned(self, run_id: UUID, output: Any) -> None:
        """A tool returned, or LangChain made a message of how it failed."""
        record = self._ended_tool(run_id)
        if record is not None:
            content, error = _result(output)
            record.returned(content, error)

    def tool_raised(self, run_id: UUID, error: BaseException) -> None:
        """A tool raised."""
        record = self._ended_tool(run_id, error)
        if record is not None:
            record.raised(error)

    def begin_model(self, announced: Announced, messages: list[Any], parameters: Json) -> None:
        """A model call begins."""
        begun = self.begin(Kind.MODEL, announced, _last_text(messages))
        begun.told = _Told(messages, parameters, announced.metadata)

    def model_speaks(self, run_id: UUID) -> None:
        """The answer begins to arrive: now it is known whether a wire shows the call."""
        begun = self._open.get(run_id)
        if begun is not None and begun.told is not None and not begun.unit.sent:
            self._record_call(begun.unit, begun.told)

    def model_answered(self, run_id: UUID, result: Any) -> None:
        """The model answered."""
        ended = self.end(run_id)
        if ended is not None and ended.told is not None:
            call = self._told_call(ended.unit, ended.told)
            document = None if call is None else response_body(result, ended.told.body)
            if call is not None and document is not None:
                call.answered(200, {"content-type": "application/json"})
                call.take(dumps(document))
            if call is not None:
                call.end(End.EOF)

    def model_failed(self, run_id: UUID, error: BaseException) -> None:
        """The call failed, or whoever read the answer stopped."""
        ended = self.end(run_id, error)
        if ended is None or ended.told is None:
            return
        call = self._told_call(ended.unit, ended.told)
        if call is None:
            if not ended.unit.sent[-1].failed:  # a good answer, and an error at reading it
                self._write_error(ended.unit, error)
        elif isinstance(error, GeneratorExit):
            call.end(End.CLOSED)
        else:
            call.broke(error)

    def _told_call(self, unit: Unit, told: _Told) -> Call | None:
        """The record of a call that no wire shows; None for the others: those are recorded."""
        if told.call is None and not unit.sent:
            self._record_call(unit, told)
        return told.call

    def _record_call(self, unit: Unit, told: _Told) -> None:
        told.body = request_body(told.messages, told.parameters, told.metadata)
        version = import_module("langchain_core.version").VERSION
        sent = Sent(
            api=DIALECT.name,
            provider=str(told.metadata.get("ls_provider") or "langchain"),
            dialect=DIALECT,
            body=dumps(told.body),
            sdk={"name": "langchain-core", "version": version},
            fidelity={"body": "callback"},
            unit=unit,
            began=told.began,
        )
        told.call = self._calls.begin(sent)

    def _record_tool(self, begun: _Open) -> None:
        unit = begun.unit
        call_id = unit.call_id or self._tools.asked(unit.name, begun.arguments)
        begun.record = self._tools.begin(unit.name, begun.arguments, call_id, unit)

    def _ended_tool(self, run_id: UUID, error: BaseException | None = None) -> Run | None:
        """The record of a tool that has ended, unless the tool wrote that itself."""
        ended = self.end(run_id, error)
        if ended is not None and ended.unit.event is None:
            self._record_tool(ended)  # it did not come to that: its arguments did not fit, say
        return None if ended is None else ended.record

    def _write_error(self, unit: Unit, error: BaseException) -> None:
        steering = any(cls.__name__ == _STEERING for cls in type(error).__mro__)
        if isinstance(error, Exception) and not steering:
            payload = {**describe_error(error), "scope": units.place(self._journal, unit)}
            parent = scope.enclosing(self._journal, unit)
            self._journal.write(ERROR, payload, parent=self._root if parent is None else parent)


def _labels(announced: Announced, root: str, parent: _Open | None) -> Json:
    """What tells a run's events apart: absent where there is nothing to say."""
    around: Json = {} if parent is None else parent.unit.labels["langchain"]
    metadata = announced.metadata
    labels = {
        "run_id": str(announced.run_id),
        "parent_run_id": None if announced.parent is None else str(announced.parent),
        "root_run_id": root,
        "name": announced.display or None,
        "node": metadata.get("langgraph_node"),
        "step": metadata.get("langgraph_step"),
        "checkpoint_ns": metadata.get("langgraph_checkpoint_ns"),
        "thread_id": metadata.get("thread_id"),
        "tool_call_id": announced.tool_call_id or around.get("tool_call_id"),
    }
    plain: Json = encode({name: value for name, value in labels.items() if value is not None}).value
    return plain


def _running_check() -> Callable[[], bool]:
    """Whether the caller runs inside the run that begins here and now.

    LangChain runs what a run holds with a configuration of its own; where that is still the one of
    before, somebody reads a stream of it and does something else.
    """
    variable = import_module("langchain_core.runnables.config").var_child_runnable_config
    before = variable.get()

    def is_running() -> bool:
        return variable.get() is not before or (not _HANDS_OVER_CONTEXT and _in_task())

    return is_running


def _in_task() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False


def _last_text(messages: list[Any]) -> str:
    content = getattr(messages[-1], "content", "") if messages else ""
    return content if isinstance(content, str) else ""


def _result(output: Any) -> tuple[Any, Json | None]:
    """What a tool returned: the content, where LangChain has put it into a message."""
    if type(output).__name__ != "ToolMessage":
        return output, None
    failed = getattr(output, "status", None) == "error"
    return output.content, {"type": "error", "message": str(output.content)} if failed else None
