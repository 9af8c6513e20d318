"""One event in full, and as it was recorded, as sections of a document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtape.context import recorded_reply
from runtape.dialects.base import Reply
from runtape.jsonio import Json, dumps_text, loads
from runtape.reports.sheet import Tone
from runtape.reports.timeline import KINDS, response_error, row
from runtape.reports.times import local_time
from runtape.reports.words import duration, plural, size, tokens
from runtape.tape.events import LLM_REQUEST, LLM_RESPONSE, Event, Request
from runtape.tape.reader import Tape
from runtape_tui.view_models.sections import Section

_PLUMBING = frozenset(
    {"body", "splice", "base", "base64", "body_base64", "derived", "chunks", "sha256", "bytes"}
)
"""Fields of a payload that are shown put together, or only under raw."""
_CONTENT = frozenset({"messages", "input", "system", "tools", "instructions"})
_MOST_CHILDREN = 8


def event_sections(tape: Tape, event: Event) -> tuple[Section, ...]:
    """All of an event: measurements first, then the content.

    Raises what :meth:`runtape.tape.reader.Tape.request` raises.
    """
    if event.type == LLM_REQUEST:
        content = _request(tape.request(event.id), event)
    elif event.type == LLM_RESPONSE:
        content = _response(event)
    else:
        content = _payload(event.payload)
    title = f"{event.id} {KINDS.get(event.type, event.type)}"
    return (_facts(title, _common(tape, event)), *content)


def raw_sections(tape: Tape, event: Event) -> tuple[Section, ...]:
    """The event as it was recorded, as JSON; a request's body put back together."""
    from runtape.reports.event_text import event_json  # noqa: PLC0415 - brings the commands along

    document = event_json(tape, event)
    del document["schema"], document["trace"]
    body = document.pop("body", None)
    found = [_json("raw", "as recorded", document)]
    if body is not None:
        found.insert(0, _json("body", "request body", body))
    return tuple(found)


def _json(key: str, title: str, value: Any) -> Section:
    return Section(key, title=title, text=dumps_text(value, indent=True), is_json=True)


def _facts(title: str, facts: Iterator[tuple[str, str]]) -> Section:
    wanted = [(name, text) for name, text in facts if text]
    widest = max((len(name) for name, _ in wanted), default=0)
    members = tuple(
        Section(f"facts.{name}", label=name.ljust(widest), text=text, level=1)
        for name, text in wanted
    )
    return Section("facts", title=title, members=members)


def _common(tape: Tape, event: Event) -> Iterator[tuple[str, str]]:
    entry = row(event)
    yield "time", local_time(event.ts)
    if event.parent is not None:
        yield "belongs to", f"#{event.parent}"
    children = tape.children(event.id)
    if children:
        named = [f"#{head.id} {KINDS.get(head.type, head.type)}" for head in children]
        more = f" and {len(named) - _MOST_CHILDREN} more" if len(named) > _MOST_CHILDREN else ""
        yield "leads to", ", ".join(named[:_MOST_CHILDREN]) + more
    if entry.latency_ms is not None:
        yield "took", duration(entry.latency_ms / 1000)
    if entry.input_tokens is not None or entry.output_tokens is not None:
        yield (
            "tokens",
            f"{tokens(entry.input_tokens or 0)} in, {tokens(entry.output_tokens or 0)} out",
        )


def _request(request: Request, event: Event) -> Iterator[Section]:
    payload = event.payload
    facts = [
        ("api", request.api),
        ("posted to", f"{request.origin or ''}{request.path or ''}"),
        ("stream", "yes" if request.stream else ""),
        ("attempt", _attempt(payload.get("attempt"))),
        ("scope", _inline(payload.get("scope"))),
    ]
    inexact = {part: how for part, how in request.fidelity.items() if how != "exact"}
    facts.append(("not exact", ", ".join(f"{part}: {how}" for part, how in inexact.items())))
    yield _facts("call", iter(facts))
    body = request.body
    if isinstance(body, dict):
        settings = {name: value for name, value in body.items() if name not in _CONTENT}
        yield _json("settings", "settings", settings)
        content = ((name, _extent(body[name])) for name in body if name in _CONTENT)
        yield _facts("content", content)


def _attempt(number: Any) -> str:
    return str(number) if isinstance(number, int) and number > 1 else ""


def _extent(value: Any) -> str:
    count = f"{plural(len(value), 'entry', 'entries')}, " if isinstance(value, list) else ""
    return f"{count}{size(len(dumps_text(value)))}"


def _response(event: Event) -> Iterator[Section]:
    payload = event.payload
    first = payload.get("first_byte_ms")
    facts = [
        ("status", str(payload.get("status") or "")),
        ("first byte", duration(first / 1000) if isinstance(first, int | float) else ""),
        ("end", str(payload.get("end") or "")),
    ]
    reply = recorded_reply(event)
    if reply is not None:
        facts.append(("stop", reply.stop.value))
    yield _facts("response", iter(facts))
    error = response_error(payload)
    if error:
        yield Section("error", title="error", text=error, tone=Tone.BAD)
    if reply is not None:
        yield from reply_sections(reply)
    elif isinstance(payload.get("body"), str):
        yield Section("body", title="body", text=_pretty(payload["body"]))


def reply_sections(reply: Reply) -> Iterator[Section]:
    """What a model answered, in full."""
    for number, made in enumerate(reply.tool_calls):
        text = _pretty(made.arguments)
        yield Section(f"call[{number}]", title=f"calls {made.name}", text=text, is_json=True)
    if reply.refusal:
        yield Section("refusal", title="refuses", text=reply.refusal)
    if reply.text:
        yield Section("says", title="says", text=reply.text)


def _payload(payload: Json) -> Iterator[Section]:
    short = {n: v for n, v in payload.items() if v is not None and n not in _PLUMBING}
    long = {name: value for name, value in short.items() if _is_long(name, value)}
    facts = [(name, _inline(value)) for name, value in short.items() if name not in long]
    if facts:
        yield _facts("payload", iter(facts))
    for name, value in long.items():
        tone = Tone.BAD if name == "error" else Tone.PLAIN
        text = _pretty(value)
        json = text[:2] in {"{\n", "[\n"}
        yield Section(f"payload.{name}", title=name, text=text, tone=tone, is_json=json)


def _is_long(name: str, value: Any) -> bool:
    return name in {"arguments", "result", "text", "value", "error"} or len(_inline(value)) > 60  # noqa: PLR2004 - a line


def _inline(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else dumps_text(value)


def _pretty(value: Any) -> str:
    """A text as it stands; JSON, also inside a text, with line breaks."""
    if isinstance(value, str):
        if value[:1] not in {"{", "["}:
            return str(value)
        try:
            value = loads(value)
        except ValueError:
            return str(value)
    return dumps_text(value, indent=True)
