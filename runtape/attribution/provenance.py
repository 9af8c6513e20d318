"""Which recorded reply asked for a tool call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from runtape.context import Context
from runtape.context.pieces import Piece, PieceKind
from runtape.context.recorded import recorded_reply
from runtape.decision.reading import calls_of, same_arguments
from runtape.dialects.base import Reply, ToolCall
from runtape.jsonio import loads
from runtape.tape.events import LLM_RESPONSE, TOOL_RESULT, Event
from runtape.tape.reader import Tape


@dataclass(frozen=True, slots=True)
class Asked:
    """A reply that asks for a tool call.

    Attributes:
        response: event of the reply.
        request: event of the model call that it answers.
        reply: all of it.
        call: the call, as the model made it.
    """

    response: int
    request: int
    reply: Reply
    call: ToolCall


def recorded_replies(tape: Tape) -> Iterator[tuple[Event, Reply]]:
    """Responses that hold a reply, newest first."""
    for head in reversed(tape.of_type(LLM_RESPONSE)):
        event = tape.event(head)
        reply = recorded_reply(event)
        if reply is not None:
            yield event, reply


def who_asked(tape: Tape, made: ToolCall, at: int) -> Asked | None:
    """The reply that asked for a call seen at event `at`: by its id, else by name and arguments.

    Replies before that event are looked at first, the nearest first: the same call may be made
    twice. None when no recorded reply asks for it.
    """
    found = sorted(recorded_replies(tape), key=lambda entry: entry[0].id > at)
    candidates = [
        Asked(response.id, response.parent, reply, call)
        for response, reply in found
        if response.parent is not None
        for call in calls_of(reply)
    ]
    for fits in (_same_id, _same_call, _same_but_defaults):
        for candidate in candidates:
            if fits(candidate.call, made):
                return candidate
    return None


def _same_id(call: ToolCall, made: ToolCall) -> bool:
    return call.id is not None and call.id == made.id


def _same_call(call: ToolCall, made: ToolCall) -> bool:
    return call.name == made.name and same_arguments(call.arguments, made.arguments)


def _same_but_defaults(call: ToolCall, made: ToolCall) -> bool:
    """Recorded arguments are bound to the function's signature: defaults were added."""
    asked, bound = call.arguments, made.arguments
    if call.name != made.name or not isinstance(asked, dict) or not isinstance(bound, dict):
        return False
    return all(key in bound and same_arguments(asked[key], bound[key]) for key in asked)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a top-level piece that no human wrote came from.

    Attributes:
        event: event that shows the call: that of the tool where there is one, else the reply.
        asked: the reply that asked for it.
    """

    event: int
    asked: Asked


def origin_of(tape: Tape, context: Context, piece: Piece) -> Origin | None:
    """The call that brought a tool result, or that an earlier tool call is; None when unknown."""
    call, at = _call_behind(tape, piece)
    if call is None:
        return None
    asked = who_asked(tape, call, at)
    if asked is None or asked.response >= context.request.event:
        return None
    return Origin(_tool_event(tape, piece) or asked.response, asked)


def _call_behind(tape: Tape, piece: Piece) -> tuple[ToolCall | None, int]:
    """The call as far as the piece shows it, and the event at which it was seen."""
    if piece.kind is PieceKind.TOOL_CALL and piece.tool is not None:
        return ToolCall(piece.tool, _parsed(piece.text)), piece.event
    if piece.call is None:
        return None, piece.event
    name, arguments = piece.call
    event = _tool_event(tape, piece)
    call_id = tape[event].payload.get("call_id") if event is not None else None
    return ToolCall(name, _parsed(arguments), call_id), piece.event


def _tool_event(tape: Tape, piece: Piece) -> int | None:
    """The tool_call event behind a tool result, if the tool was recorded."""
    event = tape[piece.event]
    return event.parent if event.type == TOOL_RESULT else None


def _parsed(arguments: str) -> object:
    try:
        return loads(arguments)
    except ValueError:
        return arguments
