"""Where the lines of a text break on a screen of some width."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from functools import lru_cache

from rich.cells import cell_len

TAB = "    "
"""What a tab looks like."""
_NARROWEST = 8
_LONGEST = 4_000
"""Characters of a row that is not wrapped; what is longer goes on in the next one."""


class Wrapped:
    """The rows of a text, as spans of it.

    Plain ASCII lines cost one pass of a regular expression (5 MB: about 60 ms); only lines with
    wide characters or tabs are measured character by character.

    Args:
        text: visible text.
        width: cells of a row, or None for one row per line.

    Attributes:
        widest: cells of the widest row.
    """

    __slots__ = ("_ends", "_starts", "text", "widest")

    def __init__(self, text: str, width: int | None) -> None:
        self.text = text
        self.widest = 0
        self._starts, self._ends = array("Q"), array("Q")
        if width is None:
            self._keep_lines()
        else:
            self._break_lines(max(_NARROWEST, width))

    def __len__(self) -> int:
        return len(self._starts)

    def span(self, row: int) -> tuple[int, int]:
        """Where a row begins and ends in the text, its line break not included."""
        return self._starts[row], self._ends[row]

    def row_at(self, position: int) -> int:
        """The row that holds a position of the text."""
        return max(0, bisect_right(self._starts, position) - 1)

    def _keep_lines(self) -> None:
        at = 0
        for line in self.text.split("\n"):
            for start in range(0, len(line) or 1, _LONGEST):
                part = line[start : start + _LONGEST]
                self._add(at + start, at + start + len(part))
                self.widest = max(self.widest, cells(part))
            at += len(line) + 1

    def _break_lines(self, width: int) -> None:
        simple = self.text.isascii() and "\t" not in self.text
        breaks = _breaks(width).finditer
        at = 0
        for line in self.text.split("\n"):
            if len(line) <= width and (simple or cells(line) <= width):
                self._add(at, at + len(line))
            elif simple or (line.isascii() and "\t" not in line):
                for match in breaks(line):
                    self._add(at + match.start(), at + match.end())
            else:
                self._measure(line, at, width)
            at += len(line) + 1
        self.widest = width

    def _measure(self, line: str, at: int, width: int) -> None:
        """Break a line whose characters differ in width; at a blank where there is one."""
        start = 0
        while start < len(line):
            end = start + _fitting(line, start, width)
            if end < len(line):
                blank = max(line.rfind(" ", start, end + 1), line.rfind("\t", start, end + 1))
                end = blank + 1 if blank >= start else end
            self._add(at + start, at + end)
            start = end

    def _add(self, start: int, end: int) -> None:
        self._starts.append(start)
        self._ends.append(end)


def cells(text: str) -> int:
    """Cells that a visible text takes on one line."""
    if text.isascii():
        return len(text) + (len(TAB) - 1) * text.count("\t")
    return cell_len(text.replace("\t", TAB))


def _fitting(line: str, start: int, width: int) -> int:
    """How many characters from `start` on fit into `width` cells: at least one.

    Starts from a guess and corrects it: a row costs a few measurements, not one per character.
    """
    count = min(width, len(line) - start)
    while count > 1 and (used := cells(line[start : start + count])) > width:
        count = max(1, min(count - 1, count * width // used + 1))
    while start + count < len(line) and cells(line[start : start + count + 1]) <= width:
        count += 1
    return count


@lru_cache(maxsize=32)
def _breaks(width: int) -> re.Pattern[str]:
    """As many characters as fit up to a blank, which hangs over, or up to the end; else any."""
    return re.compile(rf".{{1,{width}}}(?: |\Z)|.{{{width}}}", re.DOTALL)
