"""Lines: which line breaks end something, and which only fold a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice, pairwise

from runtape.context.json_spans import Span
from runtape.context.refs import Counted, Word
from runtape.context.splitting.documents import split_document
from runtape.context.splitting.intact import unbroken
from runtape.context.splitting.parts import (
    Part,
    Shape,
    Split,
    bears,
    sentence_parts,
    several,
    trimmed,
)
from runtape.context.splitting.tags import tagged_sentences

_LINE = re.compile(r"^[^\n]*\S[^\n]*", re.MULTILINE)
_BULLET = re.compile(
    r"[ \t]*(?:[-*+•‣◦▪–]|\(?(?:\d{1,3}|[a-z])[.)]|\(?[A-Z]\))[ \t]+(?:\[[ xX]\][ \t]+)?"
)
_FRESH = re.compile(
    r"[ \t]*(?:"
    r"#{1,6}[ \t]|[|<>{]|\[[{\[]|[-=*_]{3,}|\d+[:|\t]|\$ |[\w.-]+ = "  # heading, row, tag …
    r"|\[?(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d)"  # a log's date or time
    r"|\[[\w ./:+-]+\]|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
    r"|[A-Z][\w-]*(?:[ ][A-Z]?[\w-]+)?:(?:[ \t]|$)"  # Subject: …
    r")"
)
_CODE = re.compile(
    r"(?:(?:def|class|import|return|while|elif|except|function|const|let|var|public)\b"
    r"|private\b|#include|//|/\*|@\w|\$ |>>> |.*[;{}=\[(]\s*$)"
)
_STATEMENT = re.compile(
    r"(?:\d+[:|\t→][ \t]*)?(?:"
    r"(?:async |export )?(?:def|class|import|function|const|let|var|public|private|static)\s+\w"
    r"|from\s+[\w.]+\s+import\b|#include\b|@\w+|(?:if|for|while|with|elif|except)\b.*:\s*$"
    r"|return\b[^.]*$|(?:else|try|finally|raise|pass|break|continue|end|fi|done)\b\W*(?:\w+\W*)?$"
    r"|[\w.\[\]]+\s*[-+*/]?=\s*\S|[\w.]+\(.*\)\s*$|.*[;{]\s*$|[)}\]]+[;,]?\s*$)"
)
_PROGRAM_LINES = 4
_PROGRAM_SHARE = 0.4
_ENDED = re.compile(r"[.!?:;。！？…}>\]][\"'”’)\]*_`]*\Z")
_END = 8
"""Characters at the end of a line that are looked at."""
_FIRST_WORD = re.compile(r"\s*\S+")

_WIDEST_FOLD = 120
"""Longer lines are not folded text: every line break ends one."""
_NARROWEST_FOLD = 50
"""In narrower text a line that begins with a capital begins something."""
_SHORT = 0.4
"""A line this short, compared with the longest, was not folded there."""
_BULK_LINES = 100_000
_NEWLINE = re.compile(r"\n")
_FLAT = 12
"""Most sentences that are listed without a level of lines between."""
_CODE_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines that belong together: one line, or several over which words run on."""

    start: int
    end: int
    inner: Span
    folded: bool

    @property
    def marked(self) -> bool:
        """Whether a bullet stands in front."""
        return self.inner[0] > self.start


def split_lines(text: str) -> Split | None:
    """Lines, list items, sentences of a text without paragraphs; None when it is one sentence."""
    units = list(_units(text))
    if len(units) > _FLAT or any(unit.marked or _is_solid(text, unit) for unit in units):
        return _listed(text, units)
    found = [tagged_sentences(text, *unit.inner) for unit in units]
    alone = all(len(spans) <= 1 for spans in found)
    if len(units) > 1 and (alone or sum(map(len, found)) > _FLAT):
        return _listed(text, units)
    return several(sentence_parts(span for spans in found for span in spans if bears(text, *span)))


def line_sentences(text: str) -> Iterator[tuple[int, Span]]:
    """The sentences of all lines: none goes on over the end of a line that ends something.

    With each sentence comes where it begins with its marks: at the bullet in front of it, if any.
    """
    for unit in _units(text):
        for number, span in enumerate(tagged_sentences(text, *unit.inner)):
            yield (span[0] if number else unit.start), span


def _listed(text: str, units: Sequence[Unit]) -> Split | None:
    """A part for each line; None when a single one is the whole text."""
    whole = len(units) == 1 and units[0].inner == (0, len(text))
    return None if whole else Split(tuple(_parts(units)))


def _is_solid(text: str, unit: Unit) -> bool:
    """Whether a line is a JSON document, to be divided as such."""
    return text[unit.inner[0]] in "[{" and split_document(text[slice(*unit.inner)]) is not None


def split_bulk(text: str) -> Split | None:
    """A text of very many lines in runs of a thousand, so that looking into it stays quick."""
    if text.count("\n") < _BULK_LINES:
        return None
    bounds = [0, *(m.end() for m in islice(_NEWLINE.finditer(text), 999, None, 1000)), len(text)]
    return several(
        Part(Counted(Word.LINE, first, first + 999), start, end, trimmed(text, start, end))
        for first, (start, end) in zip(count(1, 1000), pairwise(bounds), strict=False)
        if bears(text, start, end)
    )


def split_code(text: str) -> Split | None:
    """Every line that says something."""
    return several(
        _parts([_unit(text, line.span(), folded=False) for line in _LINE.finditer(text)])
    )


def split_program(text: str) -> Split | None:
    """The lines of a text that is program code, with line numbers or without."""
    lines = [line.group().strip() for line in _LINE.finditer(unbroken(text))]
    statements = sum(map(bool, map(_STATEMENT.match, lines)))
    if len(lines) < _PROGRAM_LINES or statements < _PROGRAM_SHARE * len(lines):
        return None
    return split_code(text)


def split_flow(text: str) -> Split | None:
    """The sentences of a text."""
    return several(sentence_parts(tagged_sentences(text, 0, len(text))))


def _parts(units: Iterable[Unit]) -> Iterator[Part]:
    for number, unit in enumerate(units, start=1):
        shape = Shape.FLOW if unit.folded else Shape.TEXT
        yield Part(Counted(Word.LINE, number), unit.start, unit.end, unit.inner, shape=shape)


def _units(text: str) -> Iterator[Unit]:
    lines = [line.span() for line in _LINE.finditer(unbroken(text))]
    contents = [text[start:end].rstrip() for start, end in lines]
    width = max(map(len, contents), default=0)
    hard = width > _WIDEST_FOLD or _is_code(contents)
    first = 0
    for at in range(1, len(lines) + 1):
        if at == len(lines) or hard or _ends(contents[at - 1], contents[at], width):
            span = (lines[first][0], lines[at - 1][1])
            if bears(text, *span):
                yield _unit(text, span, folded=at - first > 1)
            first = at


def _unit(text: str, span: Span, *, folded: bool) -> Unit:
    start, end = span
    bullet = _BULLET.match(text, start, end)
    inner = trimmed(text, bullet.end() if bullet else start, end)
    return Unit(start, inner[1], inner if bears(text, *inner) else trimmed(text, *span), folded)


def _is_code(lines: Sequence[str]) -> bool:
    statements = sum(_CODE.match(line.lstrip()) is not None for line in lines)
    return len(lines) > 1 and statements >= _CODE_SHARE * len(lines)


def _ends(line: str, following: str, width: int) -> bool:
    """Whether the break between two lines ends something.

    Words run on over a break when the next line does not look like a new beginning and its first
    word would not have fitted (or, in small letters, would only just have fitted) behind them.
    """
    if _ENDED.search(line[-_END:]) or _FRESH.match(following) or _BULLET.match(following):
        return True
    if " " not in line.strip() and " " not in following.strip():
        return True
    if _indent(line) != _indent(following) and _indent(following):
        return True
    runs_on = following.lstrip()[:1].islower()
    if width < _NARROWEST_FOLD and not runs_on:
        return True
    word = _FIRST_WORD.match(following)
    needed = len(line) + 1 + len(word.group().strip() if word else "")
    return needed <= (_SHORT * width if runs_on else width)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
