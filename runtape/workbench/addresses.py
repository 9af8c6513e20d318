"""From what the user typed to an event, and from an event to the model call that decided it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from runtape.attribution.options import Asking
from runtape.attribution.provenance import recorded_replies, who_asked
from runtape.context.recorded import recorded_reply
from runtape.decision import Decision, Target, decide
from runtape.decision.reading import calls_of
from runtape.dialects.base import Reply, ToolCall
from runtape.errors import EventNotFound, NotADecision
from runtape.tape.events import (
    ERROR,
    LLM_REQUEST,
    LLM_RESPONSE,
    TOOL_CALL,
    TOOL_RESULT,
    Event,
)
from runtape.tape.reader import Tape
from runtape.workbench.traces import LAST, Trace

TOOL = "tool:"
"""Prefix of ``tool:NAME``: the last call of that tool."""
_NUMBER = re.compile(r"-?\d+")
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Call:
    """The model call behind an event.

    Attributes:
        event: the event that was pointed at.
        request: event of the model request.
        reply: what the model answered; None when that was not recorded.
        pointed: the tool call, when `event` is about one of a tool.
    """

    event: int
    request: int
    reply: Reply | None
    pointed: ToolCall | None = None


def find_event(trace: Trace, spec: int | str) -> int:
    """The id of the event that `spec` names.

    Args:
        trace: where to look.
        spec: an event number (negative: from the end), ``tool:NAME`` (the last call of that tool,
            be it a tool event or only in a model's reply), ``last`` (the last model response) or
            ``error`` (the last thing that went wrong).

    Raises:
        EventNotFound: there is no such event; the message says what there is.
    """
    tape = trace.tape
    tape.refresh()
    if isinstance(spec, int) or _NUMBER.fullmatch(spec):
        return _by_number(tape, int(spec))
    if spec == LAST:
        return _last_response(tape)
    if spec == "error":
        return _last_error(tape)
    if spec.startswith(TOOL):
        return _last_call(tape, spec.removeprefix(TOOL))
    raise EventNotFound(
        f"{spec!r} names no event.",
        hint="give a number, tool:NAME, last or error",
        path=str(tape.path),
    )


def find_call(trace: Trace, spec: int | str) -> Call:
    """The model call that decided an event; raises EventNotFound or NotADecision."""
    tape = trace.tape
    event = tape[find_event(trace, spec)]
    return replace(_call_behind(tape, event), event=event.id)


def find_decision(trace: Trace, spec: int | str, asking: Asking | None = None) -> Decision:
    """The decision at an event, as the user means it.

    ``tool:NAME`` also names what is explained, unless `asking` does.

    Raises:
        EventNotFound: no such event.
        NotADecision: no model decided there, or not what was named.
        UsageError: a bad pattern, or two ways of naming the decision.
    """
    asking = asking or Asking()
    target = Target(tool=asking.tool, match=asking.match, judged=asking.judge is not None)
    call = find_call(trace, spec)
    by_name = isinstance(spec, str) and spec.startswith(TOOL) and call.pointed is None
    if target == Target() and by_name:
        target = Target(tool=str(spec).removeprefix(TOOL))
    return decide(call.event, call.request, call.reply, pointed=call.pointed, target=target)


def _by_number(tape: Tape, number: int) -> int:
    if number >= 0:
        return tape[number].id
    if -number > len(tape):
        raise EventNotFound(
            f"There is no event {number} in {tape.path.name}.",
            hint=f"it has {len(tape)} events",
            path=str(tape.path),
            event=number,
        )
    return tape.heads[number].id


def _last_response(tape: Tape) -> int:
    """The last reply; a response without one (an error) only when there is nothing else."""
    for event, _ in recorded_replies(tape):
        return event.id
    responses = tape.of_type(LLM_RESPONSE)
    if responses:
        return responses[-1].id
    requests = len(tape.of_type(LLM_REQUEST))
    raise EventNotFound(
        f"No model response was recorded in {tape.path.name}.",
        hint="point at a request and name the decision with --tool or --match"
        if requests
        else "the run made no model call that was recorded",
        path=str(tape.path),
    )


def _last_error(tape: Tape) -> int:
    for head in reversed(tape.of_type(ERROR, TOOL_RESULT, LLM_RESPONSE)):
        if head.type == ERROR or tape.event(head).payload.get("error"):
            return head.id
    raise EventNotFound(f"Nothing went wrong in {tape.path.name}.", path=str(tape.path))


def _last_call(tape: Tape, name: str) -> int:
    run = next((e.id for e in _tool_calls(tape) if e.payload.get("name") == name), None)
    said = next((e.id for e, reply in recorded_replies(tape) if _calls_of(reply, name)), None)
    found = [event for event in (run, said) if event is not None]
    if found:
        return max(found)
    names = {str(event.payload.get("name")) for event in _tool_calls(tape)}
    names |= {call.name for _, reply in recorded_replies(tape) for call in calls_of(reply)}
    raise EventNotFound(
        f"No call of {name or 'a tool without a name'} in {tape.path.name}.",
        hint=f"called were {', '.join(sorted(names))}" if names else "no tool was called",
        path=str(tape.path),
    )


def _call_behind(tape: Tape, event: Event) -> Call:
    if event.type == LLM_REQUEST:
        response = tape.response_to(event.id)
        return Call(event.id, event.id, recorded_reply(response) if response else None)
    if event.type == LLM_RESPONSE and event.parent is not None:
        return Call(event.id, event.parent, recorded_reply(event))
    if event.type == TOOL_CALL:
        return _call_of_tool(tape, event)
    if event.type in {TOOL_RESULT, ERROR} and event.parent is not None:
        return _call_behind(tape, tape[event.parent])
    raise NotADecision(
        f"Event {event.id} is a {event.type}: no model decided anything there.",
        hint=_where_decisions_are(tape),
        path=str(tape.path),
        event=event.id,
    )


def _call_of_tool(tape: Tape, event: Event) -> Call:
    payload = event.payload
    made = ToolCall(str(payload.get("name")), payload.get("arguments"), payload.get("call_id"))
    asked = who_asked(tape, made, event.id)
    if asked is not None:
        return Call(event.id, asked.request, asked.reply, asked.call)
    raise NotADecision(
        f"No recorded reply asks for the call of {payload.get('name')} at event {event.id}.",
        hint=_where_decisions_are(tape),
        path=str(tape.path),
        event=event.id,
    )


def _tool_calls(tape: Tape) -> Iterator[Event]:
    """Tool call events, newest first."""
    return (tape.event(head) for head in reversed(tape.of_type(TOOL_CALL)))


def _calls_of(reply: Reply, name: str) -> list[ToolCall]:
    return [call for call in calls_of(reply) if call.name == name]


def _where_decisions_are(tape: Tape) -> str:
    ids = [str(head.id) for head in tape.of_type(LLM_RESPONSE)]
    if not ids:
        return "no model response was recorded in this trace"
    more = f" and {len(ids) - _SHOWN} earlier ones" if len(ids) > _SHOWN else ""
    return f"model responses are events {', '.join(ids[-_SHOWN:])}{more}"
