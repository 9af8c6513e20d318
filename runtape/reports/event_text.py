"""One event in full."""

from __future__ import annotations

from typing import Any

from runtape.context.recorded import recorded_reply
from runtape.dialects.base import Reply
from runtape.jsonio import Json, dumps_text
from runtape.reports.commands import shell_word
from runtape.reports.sheet import Sheet, Span, Tone
from runtape.reports.timeline import KINDS, response_error, row
from runtape.reports.times import local_time
from runtape.reports.words import call, duration, plural, size, tokens
from runtape.tape.events import LLM_REQUEST, LLM_RESPONSE, Event
from runtape.tape.reader import Tape

_BODY = frozenset({"body", "splice", "base", "base64", "body_base64", "derived", "chunks"})
"""Fields of a payload that are shown resolved, or not at all."""


def event_sheet(tape: Tape, event: Event, columns: int = 80) -> Sheet:
    """All of an event for a person: measurements first, then the content."""
    sheet = Sheet(columns)
    sheet.prose("Event", f"{event.id} {KINDS.get(event.type, event.type)}", Tone.STRONG)
    sheet.prose("Time", local_time(event.ts), Tone.QUIET)
    if event.parent is not None:
        sheet.prose("Parent", str(event.parent), Tone.QUIET)
    if event.type == LLM_REQUEST:
        _request(sheet, tape, event)
    elif event.type == LLM_RESPONSE:
        _response(sheet, event)
    else:
        _payload(sheet, event.payload)
    children = tape.children(event.id)
    if children:
        ids = ", ".join(f"{head.id} {KINDS.get(head.type, head.type)}" for head in children[:8])
        sheet.prose("Leads to", ids, Tone.QUIET)
    return sheet


def _request(sheet: Sheet, tape: Tape, event: Event) -> None:
    request = tape.request(event.id)
    where = f"{request.origin or ''}{request.path or ''}"
    sheet.prose("Call", " ".join(word for word in (request.api, where) if word))
    _fields(sheet, {k: v for k, v in event.payload.items() if k in {"stream", "attempt", "scope"}})
    inexact = {part: how for part, how in request.fidelity.items() if how != "exact"}
    if inexact:
        sheet.prose(
            "Not exact", ", ".join(f"{part} {how}" for part, how in inexact.items()), Tone.WARN
        )
    if isinstance(request.body, dict):
        _body(sheet, request.body)
    words = f"runtape context {shell_word(str(tape.path))} {request.event}"
    sheet.prose("", f"piece by piece: {words}", Tone.QUIET)


def _body(sheet: Sheet, body: Json) -> None:
    settings = [f"{key} {dumps_text(value)}" for key, value in body.items() if key not in _CONTENT]
    sheet.prose("Settings", ", ".join(settings))
    label = "Content"
    for name in _CONTENT:
        if name not in body:
            continue
        value = body[name]
        count = f"{plural(len(value), 'entry', 'entries')}, " if isinstance(value, list) else ""
        sheet.prose(label, f"{name}: {count}{size(len(dumps_text(value)))}")
        label = ""


_CONTENT = ("system", "instructions", "messages", "input", "tools")
"""Fields of a body that hold content, in reading order."""


def _response(sheet: Sheet, event: Event) -> None:
    payload = event.payload
    measured = [
        f"status {payload['status']}" if payload.get("status") else "",
        _took(event.meta.get("latency_ms"), "in all"),
        _took(payload.get("first_byte_ms"), "to the first byte"),
        f"end {payload['end']}" if payload.get("end") else "",
    ]
    sheet.joined("Response", [text for text in measured if text])
    error = response_error(payload)
    if error:
        sheet.prose("Error", error, Tone.BAD)
    reply = recorded_reply(event)
    if reply is not None:
        add_reply(sheet, reply, event)
    elif isinstance(payload.get("body"), str):
        sheet.prose("Body", payload["body"])


def _took(value: Any, what: str) -> str:
    return f"{duration(value / 1000)} {what}" if isinstance(value, int | float) else ""


def add_reply(sheet: Sheet, reply: Reply, event: Event) -> None:
    """What the model answered, in full."""
    entry = row(event)
    if entry.input_tokens is not None or entry.output_tokens is not None:
        ins, outs = entry.input_tokens or 0, entry.output_tokens or 0
        sheet.prose("Tokens", f"{tokens(ins)} in, {tokens(outs)} out", Tone.QUIET)
    sheet.prose("Stop", reply.stop.value, Tone.QUIET)
    for made in reply.tool_calls:
        sheet.prose("Calls", call(made.name, made.arguments, 100_000))
    if reply.refusal:
        sheet.prose("Refuses", reply.refusal)
    if reply.text:
        sheet.prose("Says", reply.text)


def _payload(sheet: Sheet, payload: Json) -> None:
    sheet.blank()
    _fields(sheet, payload)


def _fields(sheet: Sheet, fields: Json) -> None:
    for name, value in fields.items():
        if value is None or name in _BODY:
            continue
        text = value if isinstance(value, str) else dumps_text(value, indent=_is_long(value))
        if len(name) < sheet.margin:
            sheet.prose(name, text)
        else:
            sheet.row("", Span(name, Tone.STRONG))
            sheet.prose("", text)


def _is_long(value: Any) -> bool:
    return isinstance(value, dict | list) and len(dumps_text(value)) > 60  # noqa: PLR2004 - a line


def event_json(tape: Tape, event: Event) -> Json:
    """``runtape.event/1``: the event as recorded; a request's body put back together."""
    document: Json = {
        "schema": "runtape.event/1",
        "trace": {"path": str(tape.path), "run_id": tape.run_id, "name": tape.name},
        "id": event.id,
        "ts": event.ts,
        "type": event.type,
        "parent": event.parent,
        "payload": event.payload,
        "meta": event.meta,
    }
    if event.type == LLM_REQUEST:
        document["body"] = tape.request(event.id).body
    return document
