"""Text of a trace in a text field: hidden characters spelled out, and back again."""

from __future__ import annotations

import re

from runtape.visible import visible

_SPELLED = re.compile(r"<U\+([0-9A-F]{4,6})>")


def editable(text: str) -> str | None:
    """`text` with every hidden character as ``<U+202E>``; None when it holds such words itself."""
    if _SPELLED.search(text):
        return None
    shown = visible(text)
    parts, done = [], 0
    for start, end in shown.marks:
        hidden = text[shown.origins.source(start) : shown.origins.source(end)]
        parts += [shown.text[done:start], "".join(f"<U+{ord(c):04X}>" for c in hidden)]
        done = end
    return "".join([*parts, shown.text[done:]])


def edited(field: str) -> str:
    """The text that a field stands for."""
    return _SPELLED.sub(lambda match: chr(min(int(match[1], 16), 0x10FFFF)), field)
