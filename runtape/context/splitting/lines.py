"""Lines: which line breaks end something, and which only fold a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runtape.context.json_spans import Span
from runtape.context.pieces import PieceKind
from runtape.context.refs import Word
from runtape.context.splitting.markup import tagged_sentences
from runtape.context.splitting.parts import (
    Names,
    Part,
    Shape,
    Split,
    bears,
    sentence,
    several,
    trimmed,
)

_LINE = re.compile(r"[^\n]*[^\s][^\n]*")
_BULLET = re.compile(r"[ \t]*(?:[-*+•‣◦▪–]|\(?(?:\d{1,3}|[a-zA-Z])[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_FRESH = re.compile(
    r"[ \t]*(?:"
    r"#{1,6}[ \t]|[|<>{]|[-=*_]{3,}|\d+[:|\t]"  # heading, row, tag, quote, object, rule, line number
    r"|\[?(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d)"  # a log's date or time
    r"|\[[\w ./:+-]+\]|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
    r"|[A-Z][\w-]*(?:[ ][A-Z]?[\w-]+)?:(?:[ \t]|$)"  # Subject: …
    r")"
)
_CODE = re.compile(
    r"[ \t]*(?:def|class|import|from|return|if|for|while|else|elif|try|except|function|const|let|var"
    r"|public|private|static|void|#include|//|/\*|\*|@\w|\$|>>>)\b|.*[;{}()\[\],:=]\s*$"
)
_STATEMENT = re.compile(
    r"[ \t]*(?:\d+[:|\t→][ \t]*)?(?:"
    r"(?:async |export )?(?:def|class|import|function|const|let|var|public|private|static)\s+\w"
    r"|from\s+[\w.]+\s+import\b|#include\b|@\w+|(?:if|for|while|with|elif|except)\b.*:\s*$"
    r"|(?:return|else|try|finally|raise|pass|break|continue|end|fi|done)\b\W*(?:\w+\W*)?$"
    r"|[\w.\[\]]+\s*[-+*/]?=\s*\S|[\w.]+\(.*\)\s*$|.*[;{]\s*$|[)}\]]+[;,]?\s*$)"
)
_PROGRAM_LINES = 4
_PROGRAM_SHARE = 0.4
_ENDED = re.compile(r".*[.!?:;。！？…][\"'”’)\]*_`]*\s*", re.DOTALL)
_FIRST_WORD = re.compile(r"\s*\S+")

_WIDEST_FOLD = 120
"""Longer lines are not folded text: every line break ends one."""
_SHORT = 0.6
"""A line this short, compared with the longest, was not folded there."""
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
    """Lines, list items and sentences of a text without paragraphs; None when it is one sentence."""
    units = list(_units(text))
    if len(units) == 1 and units[0].marked:
        return Split(tuple(_parts(units)))
    found = [tagged_sentences(text, *unit.inner) for unit in units]
    alone = all(len(spans) <= 1 for spans in found)
    flat = sum(map(len, found)) <= _FLAT and not any(unit.marked for unit in units)
    if len(units) == 1 or (flat and not alone):
        names = Names()
        return several(sentence(names, s) for spans in found for s in spans if bears(text, *s))
    return several(_parts(units))


def split_code(text: str) -> Split | None:
    """Every line that says something."""
    return several(
        _parts([_unit(text, line.span(), folded=False) for line in _LINE.finditer(text)])
    )


def split_program(text: str) -> Split | None:
    """The lines of a text that is program code, with line numbers or without."""
    lines = [line.group() for line in _LINE.finditer(text)]
    statements = sum(map(bool, map(_STATEMENT.match, lines)))
    if len(lines) < _PROGRAM_LINES or statements < _PROGRAM_SHARE * len(lines):
        return None
    return split_code(text)


def split_flow(text: str) -> Split | None:
    """The sentences of a text."""
    names = Names()
    return several(sentence(names, span) for span in tagged_sentences(text, 0, len(text)))


def _parts(units: Sequence[Unit]) -> Iterator[Part]:
    names = Names()
    for unit in units:
        shape = Shape.FLOW if unit.folded else Shape.TEXT
        yield Part(
            names.next(Word.LINE),
            unit.start,
            unit.end,
            unit.inner,
            PieceKind.PARAGRAPH,
            shape=shape,
        )


def _units(text: str) -> Iterator[Unit]:
    lines = [line.span() for line in _LINE.finditer(text)]
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
    return len(lines) > 1 and sum(map(bool, map(_CODE.match, lines))) >= _CODE_SHARE * len(lines)


def _ends(line: str, following: str, width: int) -> bool:
    """Whether the break between two lines ends something.

    Words run on over a break when the next line does not look like a new beginning and its first
    word would not have fitted (or, in small letters, would only just have fitted) behind them.
    """
    if _ENDED.fullmatch(line) or _FRESH.match(following) or _BULLET.match(following):
        return True
    if " " not in line.strip() and " " not in following.strip():
        return True
    if _indent(line) != _indent(following) and _indent(following):
        return True
    word = _FIRST_WORD.match(following)
    needed = len(line) + 1 + len(word.group().strip() if word else "")
    runs_on = following.lstrip()[:1].islower()
    return needed <= (_SHORT * width if runs_on else width)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
