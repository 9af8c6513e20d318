"""The only way text of a trace gets on the screen.

Terminals obey control characters wherever they come from, and Textual passes them on. So every text
goes through :func:`runtape.visible.visible` and becomes segments; hidden characters are shown as
pictures in a warning colour. No trace text is ever handed to a widget as ``str``, where it would be
read as markup.
"""

from __future__ import annotations

import re

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from runtape.visible import visible

_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TAB = "    "


def segments(text: str, style: Style, hidden: Style) -> list[Segment]:
    """One line of trace text as segments; hidden characters in the style `hidden`.

    Line feeds become a visible return sign: whoever wants lines splits first.
    """
    shown = visible(text)
    plain = shown.text
    parts: list[Segment] = []
    at = 0
    for start, end in shown.marks:
        if start > at:
            parts.append(Segment(_line(plain[at:start]), style))
        parts.append(Segment(plain[start:end], hidden))
        at = end
    if at < len(plain):
        parts.append(Segment(_line(plain[at:]), style))
    return parts


def _line(text: str) -> str:
    return text.replace("\n", "↵").replace("\t", _TAB)


class Backstop(LineFilter):
    """Replaces control characters that reached a strip some other way: none ever should."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Clean one line of segments."""
        del background
        return [
            segment
            if segment.control or not _FORBIDDEN.search(segment.text)
            else Segment(_FORBIDDEN.sub("␀", segment.text), segment.style)
            for segment in segments
        ]
