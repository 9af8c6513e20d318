"""Where a pattern stands: in events, and in the pieces that first entered with a model call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from runtape.context import Context, build_context
from runtape.context.pieces import Piece
from runtape.errors import RuntapeError, UsageError
from runtape.jsonio import Json
from runtape.reports.sheet import Line, Span, Tone, line
from runtape.reports.timeline import KINDS
from runtape.tape.events import LLM_REQUEST, LLM_RESPONSE, Event
from runtape.tape.reader import Tape

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_AROUND = 30
"""Characters shown before a match."""
_NEAR = 200
"""Characters of its line that are kept on each side of a match."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One match.

    Attributes:
        event: event it stands in.
        type: type of that event.
        place: ref of the piece, or the field of the payload.
        text: the line that holds the match, or what is near the match in a long one.
        start, end: the match within `text`.
    """

    event: int
    type: str
    place: str
    text: str
    start: int
    end: int


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A regular expression with smart case: case counts when the pattern has a capital.

    Raises:
        UsageError: it is malformed; says where.
    """
    ignore = 0 if any(character.isupper() for character in _letters(pattern)) else re.IGNORECASE
    try:
        return re.compile(pattern, ignore | re.MULTILINE)
    except re.error as error:
        raise UsageError(
            f"the pattern {pattern!r} is no regular expression: {error}",
            hint="put a backslash before a character that is meant literally",
        ) from error


def _letters(pattern: str) -> str:
    return re.sub(r"\\.", "", pattern)


def find(tape: Tape, pattern: str, events: Iterable[Event] | None = None) -> Iterator[Hit]:
    """All matches in file order; text that many calls repeat is found where it first entered.

    Args:
        tape: the run.
        pattern: a regular expression.
        events: where to look, in file order; None: everywhere.

    Raises:
        UsageError: the pattern is malformed (before the first match is asked for).
    """
    return _find(tape, compile_pattern(pattern), tape if events is None else events)


def _find(tape: Tape, wanted: re.Pattern[str], events: Iterable[Event]) -> Iterator[Hit]:
    seen: set[tuple[str, str]] = set()
    for event in events:
        if event.type != LLM_REQUEST:
            for place, text in _texts(_searched(event)):
                yield from _hits(event, place, text, wanted)
        elif _may_hold(event, wanted):
            yield from _in_request(tape, event, wanted, seen)


def _may_hold(event: Event, wanted: re.Pattern[str]) -> bool:
    """Whether a match may stand in the new part of a request; cheap: nothing is put together."""
    return any(wanted.search(_unescaped(text)) for _, text in _texts(event.payload))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_plain, text) if "\\" in text else text


def _plain(match: re.Match[str]) -> str:
    escape = match.group(1)
    if len(escape) > 1:
        return chr(int(escape[1:], 16))
    return _CONTROLS.get(escape, escape)


def _in_request(
    tape: Tape, event: Event, wanted: re.Pattern[str], seen: set[tuple[str, str]]
) -> Iterator[Hit]:
    """Matches in pieces that no earlier request had (`seen` remembers them)."""
    try:
        context = build_context(tape, event.id)
    except RuntapeError:
        for place, text in _texts(event.payload):
            yield from _hits(event, place, _unescaped(text), wanted)
        return
    for root in context.roots:
        if (root.ref, root.text) not in seen and wanted.search(root.text):
            seen.add((root.ref, root.text))
            for piece in _holders(context, root, wanted):
                yield from _hits(event, piece.ref, piece.text, wanted)


def _holders(context: Context, piece: Piece, wanted: re.Pattern[str]) -> Iterator[Piece]:
    """The smallest pieces that hold the matches of `piece` whole; sentences are not gone into."""
    parts = context.children(piece) if piece.divisible else ()
    inside = [part for part in parts if wanted.search(part.text)]
    matches = sum(1 for _ in wanted.finditer(piece.text))
    if not inside or sum(1 for p in inside for _ in wanted.finditer(p.text)) != matches:
        yield piece
        return
    for part in inside:
        yield from _holders(context, part, wanted)


def _searched(event: Event) -> Any:
    """What of an event is searched: of a response, what it says, not how it was sent."""
    if event.type != LLM_RESPONSE:
        return event.payload
    payload = event.payload
    derived = payload.get("derived")
    if isinstance(derived, dict) and derived.get("replies"):
        return {"reply": derived["replies"], "error": payload.get("error")}
    return {key: value for key, value in payload.items() if key not in {"raw", "chunks"}}


def _texts(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every string in a JSON value with its place; keys are not searched."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{place}[{index}]")


def _hits(event: Event, place: str, text: str, wanted: re.Pattern[str]) -> Iterator[Hit]:
    for match in wanted.finditer(text):
        begin, end = match.span()
        near = max(0, begin - _NEAR)
        first = max(text.rfind("\n", near, begin) + 1, near)
        line_end = text.find("\n", end, end + _NEAR)
        last = line_end if line_end >= 0 else end + _NEAR
        yield Hit(event.id, event.type, place, text[first:last], begin - first, end - first)


def hit_lines(hits: Iterable[Hit], columns: int = 80) -> Iterator[Line]:
    """A line per match: event, kind, place, then the match with what stands around it."""
    for hit in hits:
        head = f"{hit.event:>4} {KINDS.get(hit.type, hit.type):<10} "
        place = f"{hit.place}  "
        room = max(24, columns - len(head) - len(place))
        yield line(Span(head, Tone.QUIET), Span(place, Tone.NAME), *_around(hit, room))


def _around(hit: Hit, room: int) -> list[str | Span]:
    begin = max(0, hit.start - min(_AROUND, room // 3))
    before = ("…" if begin else "") + hit.text[begin : hit.start]
    match = hit.text[hit.start : hit.end][: room - len(before)]
    rest = max(0, room - len(before) - len(match))
    after = hit.text[hit.end :]
    if len(after) > rest:
        after = f"{after[: max(0, rest - 1)]}…"
    return [before, Span(match, Tone.MARK), after]


def hits_json(tape: Tape, pattern: str, hits: Iterable[Hit]) -> Json:
    """``runtape.grep/1``."""
    return {
        "schema": "runtape.grep/1",
        "trace": {"path": str(tape.path), "run_id": tape.run_id, "name": tape.name},
        "pattern": pattern,
        "hits": [
            {
                "event": hit.event,
                "type": hit.type,
                "place": hit.place,
                "text": hit.text,
                "start": hit.start,
                "end": hit.end,
            }
            for hit in hits
        ],
    }
