"""Texts that attack a terminal or a reader; and a check that nothing of them got through."""

from __future__ import annotations

import re

PAYLOADS = {
    "osc52": "before \x1b]52;c;ZXZpbA==\x07 after",
    "csi": "before \x1b[2J\x1b[31m after",
    "c1": "before \x9b2J\x9d52;c;ZXZpbA==\x9c after",
    "markup": "before [/nope] [bold]x[/bold] [link=file:///x] after",
    "open_bracket": "before [true, false] [[ after",
    "bidi": "before \u202egnp.exe\u202c \u2066x\u2069 after",
    "nul": "before \x00\x08\x7f after",
    "zwj_emoji": "before 👩\u200d🚒 and a hid\u200den w\u200bord after",
    "tags": "before \U000e0041\U000e0042\U000e0043 after",
    "surrogate": "before \ud83d after",
    "carriage": "before \roverwritten after",
    "separators": "before \u2028line\u2029para\x85next after",
}

_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u2028\u2029\ufeff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


def smuggled(printed: str) -> list[str]:
    """Characters in `printed` that a terminal would obey or hide."""
    return [f"U+{ord(character):04X}" for character in _FORBIDDEN.findall(printed)]
