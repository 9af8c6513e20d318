"""Standard output: lines, plain or in colour, or one JSON document; nothing a terminal obeys."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable

from runtape.jsonio import Json, dumps_text
from runtape.reports.sheet import Line, Sheet

_WIDEST = 100
_NARROWEST = 40
_HIDDEN = re.compile(
    "[\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
"""What JSON may hold as it is, but a terminal obeys or hides."""


def colours(stream_is_terminal: bool) -> bool:  # noqa: FBT001 - the one thing it depends on
    """Whether colours are wanted: a terminal, not dumb, and NO_COLOR is not set (no-color.org)."""
    return (
        stream_is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def columns() -> int:
    """Cells of a line: those of the terminal within reason, or 80."""
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size((80, 24)).columns))


def print_lines(lines: Iterable[Line]) -> None:
    """Write lines as they come."""
    colour = colours(sys.stdout.isatty())
    write = sys.stdout.write
    for entry in lines:
        write(f"{entry.text(colour=colour)}\n")


def print_sheet(sheet: Sheet) -> None:
    """Write a whole sheet."""
    print_lines(sheet.lines)


def print_json(document: Json) -> None:
    """Write one document, indented for a terminal, on one line for a program."""
    sys.stdout.write(f"{json_text(document, indent=sys.stdout.isatty())}\n")


def json_text(document: Json, *, indent: bool = False) -> str:
    r"""JSON with hidden characters escaped (``\u202e``): the same document, safe to look at."""
    return _HIDDEN.sub(_escape, dumps_text(document, indent=indent))


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code <= 0xFFFF:  # noqa: PLR2004 - the basic plane
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def note(text: str) -> None:
    """A remark on standard error."""
    from runtape.reports.sheet import safe  # noqa: PLC0415 - rarely needed

    sys.stderr.write(f"{safe(text)}\n")
