"""The matches of a search in a document."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from runtape_tui.view_models.sections import Section

_MOST = 10_000
"""Matches lit in one document."""

Spans = Sequence[tuple[int, int]]
"""Places in a text: first character, and the one after the last."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A match: characters ``start:end`` of the text of a section, as recorded."""

    section: Section
    start: int
    end: int


class Hits:
    """All matches of a pattern in some sections, in reading order.

    Attributes:
        all: the matches.
    """

    def __init__(
        self, sections: Sequence[Section] = (), pattern: re.Pattern[str] | None = None
    ) -> None:
        self._order = {id(section): at for at, section in enumerate(sections)}
        found = () if pattern is None else _matches(sections, pattern)
        self.all = list(islice(found, _MOST))
        self._lit: dict[int, list[tuple[int, int]]] = {}
        for hit in self.all:
            derived = hit.section.shown.origins.derived
            spans = self._lit.setdefault(id(hit.section), [])
            spans.append((derived(hit.start), derived(hit.end)))

    def lit(self, section: Section) -> Spans:
        """The matches in a section, as spans of its visible text."""
        return self._lit.get(id(section), [])

    def after(self, section: Section, position: int, by: int) -> tuple[Hit | None, bool]:
        """The first match after (or before) a place, and whether it lies beyond the end."""
        if not self.all:
            return None, False
        here = (self._order[id(section)], position)
        places = [(self._order[id(hit.section)], hit.start) for hit in self.all]
        at = bisect_left(places, here) if by > 0 else bisect_left(places, here) - 1
        return self.all[at % len(places)], not 0 <= at < len(places)


def touching(spans: Spans, start: int, end: int) -> Spans:
    """Those of ascending, disjoint spans that touch the characters ``start:end``."""
    first = bisect_right(spans, start, key=lambda span: span[1])
    last = bisect_left(spans, end, first, key=lambda span: span[0])
    return spans[first:last]


def _matches(sections: Iterable[Section], pattern: re.Pattern[str]) -> Iterator[Hit]:
    for section in sections:
        for match in pattern.finditer(section.text):
            if match.end() > match.start():
                yield Hit(section, match.start(), match.end())
