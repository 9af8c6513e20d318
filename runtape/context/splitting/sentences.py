"""Sentences, as spans of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentencex import segment  # type: ignore[import-untyped]  # ships without types

from runtape.context.json_spans import Span
from runtape.context.splitting.parts import bears, trimmed

# The segmenter slices its text by bytes around white space and panics on space of several bytes; a
# lone surrogate has no UTF-8 form. Both are replaced one for one, so that positions stay.
_UNSAFE = re.compile(r"[^\S \t\r\n]|[\ud800-\udfff]")
_MISSED = re.compile(
    r"[!?][!?‽]+[\"'”’)\]]*\s+(?=\S)"  # ?! before a small letter
    r"|…\s+(?=[A-ZÀ-Þ])"
    # Words it takes for abbreviations (states, months, units) before a capital.
    r"|(?<![\w.])(?:[Oo]k|[Nn]o|me|id|ill|miss|may|art|etc|ref|min|sec|la|pa|or|in|[a-z])\.\s+(?=[A-Z])"
)
"""Ends of sentences that the segmenter passes over."""


def sentences(text: str, start: int, end: int) -> list[Span]:
    """Spans of the sentences in ``text[start:end]``, without the space around them.

    Uses sentencex (Wikimedia), whose language rules cover abbreviations, initials, quotes, CJK and
    sentences folded over lines. Fragments without words (``1.``, ``)``) go with their neighbour.
    """
    found: list[Span] = []
    for first, last in _segments(text, start, end):
        first, last = trimmed(text, first, last)  # noqa: PLW2901
        if found and (not _stands(text, found[-1]) or not bears(text, first, last)):
            found[-1] = (found[-1][0], last)
        elif first < last:
            found.append((first, last))
    if len(found) > 1 and not _stands(text, found[-1]):
        *found, (before, _), (_, last) = found
        found.append((before, last))
    return found


def _segments(text: str, start: int, end: int) -> Iterator[Span]:
    source = text[start:end]
    at = start
    for piece in segment("en", _UNSAFE.sub(" ", source)):
        stop = at + len(piece)
        for missed in _MISSED.finditer(text, at, stop):
            yield at, missed.end()
            at = missed.end()
        yield at, stop
        at = stop


_MARK = re.compile(r"[(\[]?(?:\d{1,3}|[A-Za-z]|e\.g|i\.e)[.)\]]*\Z")
"""What stands in front of a sentence: a number, a letter, an abbreviation."""


def _stands(text: str, span: Span) -> bool:
    """Whether a segment is a sentence, not the number in front of one."""
    return bears(text, *span) and _MARK.fullmatch(text, *span) is None
