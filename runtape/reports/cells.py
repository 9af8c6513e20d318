"""Widths on a terminal: how many cells a text takes, cutting and wrapping by cells.

Widths follow Unicode's East Asian Width (UAX #11): wide and full-width characters take two cells,
combining marks none. Terminals differ on emoji: numbers and bars stand to the left of foreign text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

ELLIPSIS = "…"


def width(text: str) -> int:
    """Cells that `text` takes on one line."""
    if text.isascii():
        return len(text)
    return sum(_cell(character) for character in text)


def _cell(character: str) -> int:
    if character < "\u0300":
        return 1
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 0 if unicodedata.category(character) in {"Mn", "Me"} else 1


def pad(text: str, cells: int) -> str:
    """`text` followed by blanks up to `cells`; longer text is returned as it is."""
    return text + " " * max(0, cells - width(text))


def cut(text: str, cells: int) -> str:
    """`text` shortened to at most `cells`, an ellipsis at its end when something was lost."""
    if len(text) <= cells and width(text) <= cells:
        return text
    return _fitting(text, max(0, cells - 1)).rstrip() + ELLIPSIS


def cut_start(text: str, cells: int) -> str:
    """Like :func:`cut`, losing the beginning instead of the end."""
    if len(text) <= cells and width(text) <= cells:
        return text
    return ELLIPSIS + _fitting(text[::-1][: cells + 1], max(0, cells - 1))[::-1].lstrip()


def _fitting(text: str, cells: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += _cell(character)
        if used > cells:
            return text[:index]
    return text


def one_line(text: str, limit: int = 400) -> str:
    """At most `limit` characters of `text`, every run of white space as one blank."""
    return " ".join(text[: limit * 2].split())[:limit]


def wrap(text: str, cells: int) -> Iterator[str]:
    """The lines of `text` at most `cells` wide, broken at blanks, inside a word only if need be.

    Line breaks of the text are kept, and so is the indentation of each line.
    """
    for line in text.split("\n"):
        yield from _wrap_line(line.expandtabs(4).rstrip(" "), max(2, cells))


def _wrap_line(line: str, cells: int) -> Iterator[str]:
    """Works on positions: cutting the rest off again and again would copy it as often."""
    indent = len(line) - len(line.lstrip(" "))
    start = 0
    while True:
        end = _fit(line, start, cells)
        if end == len(line):
            yield line[start:]
            return
        at = end if line[end] == " " else line.rfind(" ", start, end)
        if at <= (indent if start == 0 else start):
            at = end
        yield line[start:at].rstrip(" ")
        start = at
        while line[start : start + 1] == " ":
            start += 1


def _fit(line: str, start: int, cells: int) -> int:
    """Where the part of `line` from `start` ends that takes at most `cells`."""
    part = line[start : start + cells]
    return start + (len(part) if part.isascii() else len(_fitting(part, cells)))
