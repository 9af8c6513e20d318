"""The events of a run, one line each: number, kind, tokens, latency, what happened, errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from runtape.context.recorded import recorded_reply
from runtape.dialects.base import Reply
from runtape.jsonio import Json, dumps_text
from runtape.reports.cells import cut, one_line
from runtape.reports.sheet import Line, Part, Span, Tone, line
from runtape.reports.times import local_time
from runtape.reports.words import call, duration, listed, plural, quoted, tokens
from runtape.tape.events import (
    ERROR,
    LLM_REQUEST,
    LLM_RESPONSE,
    NOTE,
    RECORD_ERROR,
    RUN_END,
    RUN_START,
    STATE,
    TOOL_CALL,
    TOOL_RESULT,
    Event,
)
from runtape.tape.reader import Tape

GLYPHS = {
    RUN_START: "▷",
    RUN_END: "■",
    LLM_REQUEST: "▲",
    LLM_RESPONSE: "▼",
    TOOL_CALL: "⚙",
    TOOL_RESULT: "↩",
    STATE: "≡",
    NOTE: "✎",
    ERROR: "✗",
    RECORD_ERROR: "✗",
}
"""A glyph for each type of event; others get a dot."""
KINDS = {
    RUN_START: "start",
    RUN_END: "end",
    LLM_REQUEST: "model call",
    LLM_RESPONSE: "reply",
    TOOL_CALL: "tool call",
    TOOL_RESULT: "result",
    STATE: "state",
    NOTE: "note",
    ERROR: "error",
    RECORD_ERROR: "record error",
}
"""A short word for each type of event; others are named by their type."""
_FAILURE = 400
"""HTTP status from which a response is an error."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the timeline shows of one event.

    Attributes:
        id: event id.
        ts: Unix time, seconds.
        type: event type.
        parent: parent id or None.
        name: model or tool, or empty.
        detail: what happened, in words, without line breaks.
        input_tokens, output_tokens: of a reply, None when not reported.
        latency_ms: None when unknown.
        attempt: 1 for the first try of a model call, 2 for its first retry …
        error: what went wrong, or None.
    """

    id: int
    ts: float
    type: str
    parent: int | None = None
    name: str = ""
    detail: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: float | None = None
    attempt: int = 1
    error: str | None = None


def rows(tape: Tape) -> Iterator[Row]:
    """One row per event, parsed as it is asked for."""
    return map(row, tape)


def row(event: Event) -> Row:
    """The row of one event."""
    describe = _DESCRIBE.get(event.type, _other)
    return describe(event)


def _plain(event: Event, **fields: Any) -> Row:
    latency = event.meta.get("latency_ms")
    return Row(
        event.id,
        event.ts,
        event.type,
        event.parent,
        latency_ms=latency if isinstance(latency, int | float) else None,
        **fields,
    )


def _start(event: Event) -> Row:
    name = str(event.payload.get("name") or "")
    words = [word for word in (name, local_time(event.ts)) if word]
    return _plain(event, name=name, detail=", ".join(words))


def _end(event: Event) -> Row:
    payload = event.payload
    took = payload.get("duration_ms")
    after = f" after {duration(took / 1000)}" if isinstance(took, int | float) else ""
    return _plain(event, detail=f"{payload.get('status') or 'ended'}{after}")


def _request(event: Event) -> Row:
    payload = event.payload
    attempt = payload.get("attempt")
    model = str(payload.get("model") or "unknown model")
    words = [model, str(payload.get("api") or "")]
    return _plain(
        event,
        name=model,
        detail=", ".join(word for word in words if word),
        attempt=attempt if isinstance(attempt, int) else 1,
    )


def _response(event: Event) -> Row:
    reply = recorded_reply(event)
    error = response_error(event.payload)
    if reply is None:
        return _plain(event, detail="" if error else _ending(event.payload), error=error)
    counted = _counted(event.meta.get("tokens"))
    usage = reply.usage
    return _plain(
        event,
        name=reply.model or "",
        detail=reply_words(reply),
        input_tokens=_first(usage.input_tokens, counted[0]),
        output_tokens=_first(usage.output_tokens, counted[1]),
        error=error,
    )


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def _counted(counts: Any) -> tuple[int | None, int | None]:
    """Tokens of ``meta.tokens``, whose keys vary by version."""
    if not isinstance(counts, dict):
        return None, None
    ins = _first(*(counts.get(key) for key in ("input", "input_tokens", "prompt_tokens")))
    outs = _first(*(counts.get(key) for key in ("output", "output_tokens", "completion_tokens")))
    return ins, outs


def reply_words(reply: Reply) -> str:
    """What a model answered, on one line."""
    if reply.tool_calls:
        made = [call(c.name, c.arguments, 100) for c in reply.tool_calls]
        return f"calls {listed(made)}"
    if reply.refusal:
        return f"refuses: {quoted(reply.refusal, 120)}"
    return f"answers {quoted(reply.text, 200)}" if reply.text else "answers nothing"


def response_error(payload: Json) -> str | None:
    """What went wrong with a model call, or None."""
    error = payload.get("error")
    if isinstance(error, dict):
        words = [str(error[key]) for key in ("type", "message") if error.get(key)]
        return ": ".join(words) or "error"
    if error:
        return str(error)
    status = payload.get("status")
    return f"HTTP {status}" if isinstance(status, int) and status >= _FAILURE else None


def _ending(payload: Json) -> str:
    end = payload.get("end")
    return f"no complete reply ({end})" if end and end != "eof" else "no reply recorded"


def _tool_call(event: Event) -> Row:
    name = str(event.payload.get("name") or "")
    return _plain(event, name=name, detail=call(name, event.payload.get("arguments")))


def _tool_result(event: Event) -> Row:
    payload = event.payload
    error = response_error({"error": payload.get("error")})
    result = payload.get("result")
    text = result if isinstance(result, str) else dumps_text(result)
    detail = "" if error else one_line(text) or "empty"
    return _plain(event, name=str(payload.get("name") or ""), detail=detail, error=error)


def _state(event: Event) -> Row:
    key = str(event.payload.get("key") or "")
    return _plain(event, name=key, detail=f"{key} = {dumps_text(event.payload.get('value'))[:400]}")


def _note(event: Event) -> Row:
    return _plain(event, detail=one_line(str(event.payload.get("text") or "")))


def _error(event: Event) -> Row:
    message = response_error({"error": event.payload.get("error") or event.payload})
    return _plain(event, error=one_line(message or "error"))


def _other(event: Event) -> Row:
    return _plain(event, detail=one_line(dumps_text(event.payload)[:800]))


_DESCRIBE = {
    RUN_START: _start,
    RUN_END: _end,
    LLM_REQUEST: _request,
    LLM_RESPONSE: _response,
    TOOL_CALL: _tool_call,
    TOOL_RESULT: _tool_result,
    STATE: _state,
    NOTE: _note,
    ERROR: _error,
    RECORD_ERROR: _error,
}


def timeline_lines(tape: Tape, columns: int = 80) -> Iterator[Line]:
    """A heading, and a line per event as it is read."""
    yield line(
        Span(tape.name, Tone.STRONG),
        f"  {plural(len(tape), 'event')}  ",
        Span(str(tape.path), Tone.QUIET),
    )
    yield Line()
    digits = max(2, len(str(tape.heads[-1].id)))
    for entry in rows(tape):
        yield row_line(entry, digits, columns)


def row_line(entry: Row, digits: int, columns: int) -> Line:
    """One row: numbers left, foreign text right, cut to `columns`."""
    glyph, kind = GLYPHS.get(entry.type, "·"), KINDS.get(entry.type, entry.type[:12])
    head = f"{entry.id:>{digits}}  {glyph} {kind:<10}  {_spent(entry):>11}  {_took(entry):>7}  "
    parts: list[Part] = [Span(head, Tone.QUIET)]
    room = columns - len(head)
    if entry.attempt > 1:
        badge = f"try {entry.attempt}  "
        parts.append(Span(badge, Tone.WARN))
        room -= len(badge)
    if entry.error is not None:
        parts.append(Span(cut(one_line(f"{entry.name} {entry.error}".strip()), room), Tone.BAD))
    else:
        parts.append(cut(one_line(entry.detail), room))
    return line(*parts)


def _spent(entry: Row) -> str:
    if entry.input_tokens is None and entry.output_tokens is None:
        return ""
    ins = "?" if entry.input_tokens is None else tokens(entry.input_tokens)
    outs = "?" if entry.output_tokens is None else tokens(entry.output_tokens)
    return f"{ins} → {outs}"


def _took(entry: Row) -> str:
    return "" if entry.latency_ms is None else duration(entry.latency_ms / 1000)


def row_json(entry: Row) -> Json:
    """One row for a program."""
    return {
        "id": entry.id,
        "ts": entry.ts,
        "type": entry.type,
        "parent": entry.parent,
        "name": entry.name,
        "detail": entry.detail,
        "input_tokens": entry.input_tokens,
        "output_tokens": entry.output_tokens,
        "latency_ms": entry.latency_ms,
        "attempt": entry.attempt,
        "error": entry.error,
    }


def timeline_json(tape: Tape) -> Json:
    """``runtape.timeline/1``."""
    return {
        "schema": "runtape.timeline/1",
        "trace": {"path": str(tape.path), "run_id": tape.run_id, "name": tape.name},
        "ended": tape.ended,
        "events": [row_json(entry) for entry in rows(tape)],
    }
