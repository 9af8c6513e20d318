"""Hostile text made visible: what a terminal would obey or hide is shown as a picture.

A trace holds text that somebody else wrote. Control characters in it move the cursor, set the
clipboard and recolour the screen; bidirectional controls, zero-width and tag characters hide words
from the reader that the model reads. They are evidence, so they are shown, never dropped: ``␛``,
``<U+202E>``.

Left as they are: line feed and tab; a joiner or variation selector inside an emoji (👩‍🚒, ❤️),
where it can carry nothing but the emoji. A joiner anywhere else is shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from runtape.offsets import OffsetMap

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u27bf\u2934\u2935\u2b05-\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_IN_EMOJI = re.compile(
    f"(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])|(?<=[{_EMOJI}0-9#*])[\ufe0e\ufe0f]"
)
_PICTURES = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}


@dataclass(frozen=True, slots=True)
class Shown:
    """A text that is safe to print.

    Attributes:
        text: the visible form.
        origins: from positions in `text` to positions in the original, and back.
        marks: spans of `text` that stand for hidden characters, in order, neighbours merged.
    """

    text: str
    origins: OffsetMap
    marks: tuple[tuple[int, int], ...] = ()


def visible(text: str) -> Shown:
    """Make control, bidi, zero-width, tag and surrogate characters visible.

    One pass of a regular expression (5 MB: 40 ms) when there are none; each one found costs about a
    microsecond.
    """
    parts: list[str] = []
    anchors: list[tuple[int, int]] = []
    marks: list[tuple[int, int]] = []
    done = at = 0
    for match in _HIDDEN.finditer(text):
        start = match.start()
        if _IN_EMOJI.match(text, start):
            continue
        picture = _picture(match.group())
        parts += (text[done:start], picture)
        at += start - done
        end = at + len(picture)
        anchors += ((at, start), (end, start + 1))
        first = marks.pop()[0] if marks and marks[-1][1] == at else at
        marks.append((first, end))
        at, done = end, start + 1
    parts.append(text[done:])
    return Shown("".join(parts), OffsetMap(anchors), tuple(marks))


def _picture(hidden: str) -> str:
    code = ord(hidden)
    return chr(_PICTURES[code]) if code in _PICTURES else f"<U+{code:04X}>"
