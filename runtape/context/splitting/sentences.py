"""Sentences, as spans of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentencex import segment  # type: ignore[import-untyped]  # ships without types

from runtape.context.json_spans import Span
from runtape.context.splitting.parts import bears, trimmed

# What the segmenter does not see. It slices its text by bytes around white space and panics on
# space of several bytes; a lone surrogate has no UTF-8 form; and it never divides what stands in
# quotes or brackets, where an instruction may be one sentence of several (finding their ends takes
# it quadratic time besides).
_UNSEEN = re.compile(r"[^\S \t\r\n]|[\ud800-\udfff\"“”„‘«»()\[\]`]|(?<!\w)'|'(?!\w)")

_MISSED = re.compile(
    r"(?<![!?‽])[!?][!?‽]+\s+(?=\S)"  # ?! before a small letter
    r"|…\s+(?=[A-ZÀ-Þ])"
    # Words it takes for abbreviations (states, months, units) before a capital.
    r"|(?<![\w.])(?:[Oo]k|[Nn]o|me|id|ill|miss|may|art|etc|ref|min|sec|la|pa|or|in|[a-z])\."
    r"\s+(?=[A-Z])"
)
"""Ends of sentences that the segmenter passes over."""

_OPENING = re.compile(r"(?:(?<=\s)[\"“„«(\[]+|(?<=[:;]\s)\d{1,2}[.)])\s*\Z")
"""What stands at the end of a segment but belongs to the next: an opening quote, a number."""

_MARK = re.compile(r"[(\[]?(?:\d{1,3}|[A-Za-z]|e\.g|i\.e)[.)\]]*\Z")
"""What stands in front of a sentence: a number, a letter, an abbreviation."""

_REACH = 20
"""Characters before an end that are searched for an opening."""


def sentences(text: str, start: int, end: int) -> list[Span]:
    """Spans of the sentences in ``text[start:end]``, without the space around them.

    Uses sentencex (Wikimedia), whose language rules cover abbreviations, initials, CJK and
    sentences folded over lines. Fragments without words (``1.``, ``)``) go with their neighbour.
    """
    found: list[Span] = []
    at, standing = start, True
    for stop in _ends(text, start, end):
        first, last = trimmed(text, at, max(at, stop))
        at = max(at, stop)
        stands = _stands(text, (first, last))
        if found and (not standing or not bears(text, first, last)):
            found[-1] = (found[-1][0], max(found[-1][1], last))
            standing = standing or stands
        elif first < last:
            found.append((first, last))
            standing = stands
    if len(found) > 1 and not standing:
        *found, (before, _), (_, last) = found
        found.append((before, last))
    return found


def _ends(text: str, start: int, end: int) -> Iterator[int]:
    """Where sentences end, the space behind them included."""
    plain = _UNSEEN.sub(" ", text[start:end])
    at = 0
    for piece in segment("en", plain):
        for missed in _MISSED.finditer(plain, at, at + len(piece)):
            yield _before_opening(text, start, start + missed.end())
        at += len(piece)
        yield _before_opening(text, start, start + at) if start + at < end else end


def _before_opening(text: str, start: int, at: int) -> int:
    """Where the opening before `at` begins, or `at`."""
    floor = max(start, at - _REACH)
    opening = _OPENING.search(text[floor:at])
    return floor + opening.start() if opening else at


def _stands(text: str, span: Span) -> bool:
    """Whether a segment is a sentence, not the number in front of one."""
    return bears(text, *span) and _MARK.fullmatch(text, *span) is None
