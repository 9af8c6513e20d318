"""What differs between two contexts, or between two runs: by message, then by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum

from runtape.context import Context
from runtape.context.recorded import recorded_reply
from runtape.jsonio import Json, dumps_text
from runtape.reports.sheet import Line, Span, Tone, line
from runtape.reports.timeline import KINDS, row
from runtape.reports.words import call, piece_words
from runtape.tape.events import RUN_END, RUN_START, TOOL_RESULT, Event
from runtape.tape.reader import Tape

_NEAR = 2
"""Unchanged lines shown around a change."""
_WHOLE = 100_000
"""Characters of a call's arguments that are compared."""


class Side(Enum):
    """Where a line stands; the value is its mark."""

    BOTH = " "
    ONLY_OLD = "-"
    ONLY_NEW = "+"


@dataclass(frozen=True, slots=True)
class Part:
    """A text with a heading: a message of a context, an event of a run."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """What changed in one part; unchanged lines far from a change are left out."""

    heading: str
    lines: tuple[tuple[Side, str], ...]


def context_parts(context: Context) -> list[Part]:
    """The messages of a context; without refs, which differ between runs."""
    return [Part(piece_words(piece), piece.text) for piece in context.roots]


def run_parts(tape: Tape) -> list[Part]:
    """The events of a run in full words, without times and numbers that differ every time."""
    return [Part(KINDS.get(event.type, event.type), _full_words(event)) for event in tape]


def _full_words(event: Event) -> str:
    if event.type == RUN_START:
        return str(event.payload.get("name") or "")
    if event.type == RUN_END:
        return str(event.payload.get("status") or "")
    if event.type == TOOL_RESULT and not event.payload.get("error"):
        result = event.payload.get("result")
        return result if isinstance(result, str) else dumps_text(result, indent=True)
    reply = recorded_reply(event)
    if reply is not None:
        calls = [call(made.name, made.arguments, _WHOLE) for made in reply.tool_calls]
        return "\n".join([*calls, reply.refusal or "", reply.text or ""]).strip()
    entry = row(event)
    return entry.error or entry.detail


def changes(old: Sequence[Part], new: Sequence[Part]) -> Iterator[Change]:
    """The parts that differ, in order; equal parts are left out."""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield from _paired(old[a:b], new[c:d])


def _paired(old: Sequence[Part], new: Sequence[Part]) -> Iterator[Change]:
    """Parts with the same heading, in order, are the same part changed."""
    at = 0
    for part in old:
        partner = next((i for i in range(at, len(new)) if new[i].heading == part.heading), None)
        if partner is None:
            yield _whole(part, Side.ONLY_OLD)
            continue
        yield from (_whole(added, Side.ONLY_NEW) for added in new[at:partner])
        yield Change(part.heading, tuple(_line_changes(part.text, new[partner].text)))
        at = partner + 1
    yield from (_whole(added, Side.ONLY_NEW) for added in new[at:])


def _whole(part: Part, side: Side) -> Change:
    return Change(part.heading, tuple((side, text) for text in part.text.split("\n")))


def _line_changes(old: str, new: str) -> Iterator[tuple[Side, str]]:
    before, after = old.split("\n"), new.split("\n")
    matcher = SequenceMatcher(None, before, after, autojunk=len(before) + len(after) > 4000)  # noqa: PLR2004
    for group in matcher.get_grouped_opcodes(_NEAR):
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from ((Side.BOTH, text) for text in before[a:b])
            else:
                yield from ((Side.ONLY_OLD, text) for text in before[a:b])
                yield from ((Side.ONLY_NEW, text) for text in after[c:d])


_TONES = {Side.BOTH: Tone.QUIET, Side.ONLY_OLD: Tone.BAD, Side.ONLY_NEW: Tone.GOOD}


def difference_lines(old: str, new: str, found: Iterator[Change]) -> Iterator[Line]:
    """A unified difference for a person; `old` and `new` name the two sides."""
    yield line(Span(f"- {old}", Tone.BAD))
    yield line(Span(f"+ {new}", Tone.GOOD))
    same = True
    for change in found:
        same = False
        yield Line()
        yield line(Span(change.heading, Tone.STRONG))
        for side, text in change.lines:
            yield line(Span(f"{side.value} {text}", _TONES[side]))
    if same:
        yield Line()
        yield line("no difference")


def difference_json(old: str, new: str, found: Iterator[Change]) -> Json:
    """``runtape.diff/1``."""
    return {
        "schema": "runtape.diff/1",
        "old": old,
        "new": new,
        "changes": [
            {
                "heading": change.heading,
                "lines": [[side.value, text] for side, text in change.lines],
            }
            for change in found
        ],
    }
