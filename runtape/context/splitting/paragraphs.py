"""Paragraphs and sections; quotes, fences and printed line breaks around them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from runtape.context.json_spans import Span
from runtape.context.refs import Counted, Word
from runtape.context.splitting.intact import FENCE, unbroken
from runtape.context.splitting.parts import (
    Part,
    Shape,
    Split,
    bears,
    several,
    trimmed,
)
from runtape.context.splitting.views import Codec

_HEADING = re.compile(r"^(#{1,6})[ \t]+\S", re.MULTILINE)
_BLANK = re.compile(r"\n(?:[ \t\r]*\n)+")
_QUOTED = re.compile(r"(?:[ \t]*>[^\n]*(?:\n|\Z))+\Z")
_PRINTED = re.compile(r"(?<!\\)(?:\\\\)*\\n(?:[\s\\A-Z0-9<*#•-]|\Z)")

QUOTE = Codec(
    re.compile(r"\n[ \t]*>[ \t]?"), lambda _: "\n", lambda text: text.replace("\n", "\n> ")
)
"""Lines behind ``>``, as in e-mail and Markdown."""

PRINTED = Codec(
    re.compile(r"\\[nrt\\]"),
    lambda token: {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}[token[1]],
    lambda text: text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t"),
)
"""Text in which line breaks were printed as ``\\n``."""


def split_blocks(text: str) -> Split | None:
    """Markdown sections, or what blank lines divide.

    Neither headings nor blank lines count inside of elements, comments, fences and JSON.
    """
    kept = unbroken(text)
    return several(_parts(text, Word.SECTION, _sections(kept))) or several(
        _parts(text, Word.PARA, _between_blanks(kept))
    )


def split_fence(text: str) -> Split | None:
    """The code inside a fence that is the whole text."""
    fence = FENCE.fullmatch(text.rstrip())
    if fence is None or not bears(fence["inner"]):
        return None
    start, end = fence.span("inner")
    return _wrapped(text, (start, start + len(text[start:end].rstrip())), shape=Shape.CODE)


def split_quote(text: str) -> Split | None:
    """The text behind ``>`` in front of every line."""
    if not text.lstrip().startswith(">") or not _QUOTED.match(text):
        return None
    return _wrapped(text, trimmed(text, text.index(">") + 1, len(text)), codec=QUOTE)


def split_printed(text: str) -> Split | None:
    r"""The text whose line breaks are printed as ``\n``."""
    if "\n" in text.strip() or not _PRINTED.search(text):
        return None
    return _wrapped(text, trimmed(text, 0, len(text)), codec=PRINTED)


def _wrapped(
    text: str, inner: Span, *, codec: Codec | None = None, shape: Shape = Shape.TEXT
) -> Split:
    """A split into one part: what stands inside the marks."""
    return Split((Part(Counted(Word.TEXT, 1), 0, len(text), inner, codec=codec, shape=shape),))


def _parts(text: str, word: Word, spans: Iterable[Span]) -> Iterator[Part]:
    number = 0
    for start, end in spans:
        inner = trimmed(text, start, end)
        if bears(text, *inner):
            number += 1
            begin = max(text.rfind("\n", start, inner[0]) + 1, start)
            yield Part(Counted(word, number), begin, inner[1], inner)


def _sections(text: str) -> Iterator[Span]:
    """Sections at the topmost level that has several headings."""
    headings = [(m.start(), len(m[1])) for m in _HEADING.finditer(text)]
    counts = Counter(level for _, level in headings)
    top = min((level for level, count in counts.items() if count > 1), default=None)
    if top is not None:
        yield from pairwise([0, *(start for start, level in headings if level <= top), len(text)])


def _between_blanks(text: str) -> Iterator[Span]:
    done = 0
    for blank in _BLANK.finditer(text):
        yield done, blank.start()
        done = blank.end()
    yield done, len(text)
