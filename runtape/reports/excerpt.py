"""A causing text shown where it stands: marked within its surroundings."""

from __future__ import annotations

from dataclasses import dataclass

from runtape.attribution.facts import Cause
from runtape.context.pieces import Piece
from runtape.reports.cells import wrap
from runtape.reports.sheet import Sheet, Span, Tone
from runtape.visible import visible

_BAR = "▌ "
_NEAR = 2
"""Lines of surroundings shown on each side."""
_TELLING = 60
"""Characters of surroundings that tell a reader where a text stands."""
_LONGEST = 12
"""Lines of a causing text that are shown."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text between what stands around it; empty surroundings where they are unknown."""

    before: str
    text: str
    after: str


def excerpt(cause: Cause, piece: Piece) -> Excerpt:
    """`piece` within the smallest piece passed on the way to it that shows something around it.

    Where the text occurs twice in there, or is written differently, it is shown alone.
    """
    enclosing = [step.piece.text for step in cause.narrowed if step.piece.ref != piece.ref]
    holding = sorted((text for text in enclosing if text.count(piece.text) == 1), key=len)
    if not holding or not piece.text.strip():
        return Excerpt("", piece.text, "")
    enough = (text for text in holding if len(text) >= len(piece.text) + _TELLING)
    before, _, after = next(enough, holding[-1]).partition(piece.text)
    return Excerpt(before, piece.text, after)


def add_excerpt(sheet: Sheet, shown: Excerpt) -> None:
    """The text behind a bar, a few quiet lines of its surroundings above and below."""
    room = sheet.room - len(_BAR)
    before = _near_end(shown.before, room)
    after = _near_start(shown.after, room)
    for text in before:
        sheet.row("", Span(" " * len(_BAR) + text, Tone.QUIET))
    for text in _marked(shown.text, room):
        sheet.row("", Span(_BAR, Tone.MARK), Span(text, Tone.MARK))
    for text in after:
        sheet.row("", Span(" " * len(_BAR) + text, Tone.QUIET))


def _marked(text: str, room: int) -> list[str]:
    lines = _filled(text[: (_LONGEST + 1) * room], room)
    if len(lines) <= _LONGEST and len(text) <= (_LONGEST + 1) * room:
        return lines
    kept = lines[: _LONGEST - 1]
    return [*kept, f"… {len(text) - sum(map(len, kept)):,} more characters"]


def _near_end(text: str, room: int) -> list[str]:
    """The last lines of what stands before."""
    near = text.rstrip()[-_NEAR * (room - 4) :]
    whole = len(near) == len(text.rstrip())
    if not whole:
        near = near.partition(" ")[2] or near
    lines = _filled(near, room - 2)
    if whole and len(lines) <= _NEAR + 1:
        return lines
    first, *others = lines[-_NEAR - 1 :]
    return [f"… {first.lstrip()}", *others]


def _near_start(text: str, room: int) -> list[str]:
    """The first lines of what stands after."""
    text = text.strip(" ")
    lines = _filled(text[: room * (_NEAR + 1)], room - 2)
    if len(lines) <= _NEAR and len(text) <= room * (_NEAR + 1):
        return lines
    *others, last = lines[:_NEAR]
    return [*others, f"{last} …"]


def _filled(text: str, room: int) -> list[str]:
    return [line for line in wrap(visible(text).text, room) if line.strip()]
