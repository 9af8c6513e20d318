"""The only way text of a trace gets on the screen.

Terminals obey control characters wherever they come from, and Textual passes them on. So every text
goes through :func:`runtape.visible.visible` and becomes segments; hidden characters are shown as
pictures in a warning colour. No trace text is ever handed to a widget as ``str``, where it would be
read as markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.content import Content, Span
from textual.filter import LineFilter

from runtape.visible import visible
from runtape_tui.view_models.wrapping import TAB

_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BREAKS = str.maketrans({"\n": "↵", "\t": TAB, "\r": "␍"})

Layer = tuple[int, int, Style]
"""A style for the characters ``start:end`` of a visible text."""


def segments(text: str, style: Style, hidden: Style) -> list[Segment]:
    """One line of trace text as segments; hidden characters in the style `hidden`.

    Line feeds become a visible return sign: whoever wants lines splits first.
    """
    shown = visible(text)
    layers = [(start, end, hidden) for start, end in shown.marks]
    return painted(shown.text, 0, len(shown.text), style, layers)


def painted(
    text: str, start: int, end: int, style: Style, layers: Iterable[Layer] = ()
) -> list[Segment]:
    """Characters ``start:end`` of a text that :func:`visible` made, styled in layers.

    Args:
        text: the visible text.
        start: first character.
        end: the one after the last.
        style: what lies under all layers.
        layers: later ones lie on top; they may overlap and reach beyond the span.
    """
    within = [(max(start, a), min(end, b), over) for a, b, over in layers if a < end and b > start]
    if not within:
        return [Segment(_line(text[start:end]), style)] if start < end else []
    edges = sorted({start, end, *(a for a, _, _ in within), *(b for _, b, _ in within)})
    parts = []
    for a, b in pairwise(edges):
        own = style
        for first, last, over in within:
            if first <= a and b <= last:
                own += over
        parts.append(Segment(_line(text[a:b]), own))
    return parts


def content(text: str, style: str = "", hidden: str = "$warning") -> Content:
    """Trace text for a widget that takes content: one line, never read as markup."""
    shown = visible(text)
    plain = shown.text.replace("\n", " ").replace("\t", " ")
    return Content(
        plain,
        spans=[
            *([Span(0, len(plain), style)] if style else []),
            *(Span(start, end, hidden) for start, end in shown.marks),
        ],
    )


def _line(text: str) -> str:
    return text.translate(_BREAKS)


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
