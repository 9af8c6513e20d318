"""Tags: elements and comments in HTML or in prose, and sentences that have tags in them.

Tags are found by one regular expression and paired by name; unclosed ones are tolerated, as
browsers tolerate them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from runtape.context.json_spans import Span
from runtape.context.refs import Word
from runtape.context.splitting.parts import bears, trimmed
from runtape.context.splitting.sentences import sentences

_TAG = re.compile(
    r"<!--(?P<comment>.*?)(?:-->|\Z)|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)|<[!?][^<>]*>"
    r"|<(?P<close>/?)(?P<name>[A-Za-z][\w:.-]*)"
    r"(?:\s(?:\"[^\"]*\"|'[^']*'|[^'\"<>])*)?(?P<empty>/?)>",
    re.DOTALL,
)
_OPENING_TAIL = re.compile(r"(?:<[A-Za-z][^<>]*>\s*)+\Z")
_WORDS_IN_ATTRIBUTE = re.compile(r"=\s*(?:\"[^\"]*\w\s+\w[^\"]*\"|'[^']*\w\s+\w[^']*')")
_INLINE = frozenset(
    (
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "del"),
        *("dfn", "em", "font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "q"),
        *("rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup"),
        *("time", "tt", "u", "var", "wbr"),
    )
)


@dataclass(frozen=True, slots=True)
class Element:
    """An element or comment that divides a text: its place, and that of its content."""

    start: int
    end: int
    inner: Span
    word: Word = Word.ELEMENT


def outermost(text: str) -> Iterator[Element]:
    """Comments and elements that stand in no other, in order.

    Inline elements of HTML are none, unless they go over several lines.
    """
    end = -1
    for element in sorted(_elements(text), key=lambda element: (element.start, -element.end)):
        if element.start >= end:
            yield element
            end = element.end


def _elements(text: str) -> Iterator[Element]:
    if "</" not in text and "<!" not in text:
        return
    opened: list[tuple[str, re.Match[str]]] = []
    waiting: Counter[str] = Counter()
    for tag in _TAG.finditer(text):
        name = (tag["name"] or "").lower()
        if not name:
            yield from _comment(tag)
        elif tag["close"] and waiting[name]:
            opening = _opening(name, opened, waiting)
            if name not in _INLINE or text.find("\n", opening.end(), tag.start()) >= 0:
                yield Element(opening.start(), tag.end(), (opening.end(), tag.start()))
        elif not tag["close"] and not tag["empty"]:
            opened.append((name, tag))
            waiting[name] += 1


def _comment(tag: re.Match[str]) -> Iterator[Element]:
    for group in ("comment", "data"):
        if tag[group] is not None:
            yield Element(*tag.span(), tag.span(group), Word.COMMENT)


def _opening(
    name: str, opened: list[tuple[str, re.Match[str]]], waiting: Counter[str]
) -> re.Match[str]:
    """The tag that the next closing one belongs to; tags left open inside it are forgotten."""
    while True:
        last, tag = opened.pop()
        waiting[last] -= 1
        if last == name:
            return tag


def tagged_sentences(text: str, start: int, end: int) -> list[Span]:
    """Sentences of ``text[start:end]``, in which inline tags are no words.

    A tag goes with the words before it, an opening one with those behind.
    """
    if "<" not in text[start:end]:
        return sentences(text, start, end)
    plain = _TAG.sub(lambda tag: " " * len(tag.group()), text[start:end])
    starts = [start + first for first, _ in sentences(plain, 0, len(plain))]
    if not starts:
        return [(start, end)] if start < end else []
    bounds = [start, *(_before_tags(text, at, start) for at in starts[1:]), end]
    return [trimmed(text, *span) for span in pairwise(bounds)]


def _before_tags(text: str, at: int, start: int) -> int:
    """Where the opening tags right before `at` begin, or `at`."""
    floor = max(start, at - 500)
    tags = _OPENING_TAIL.search(text[floor:at])
    return floor + tags.start() if tags else at


def says(text: str) -> bool:
    """Whether there are words beside the tags, in a comment, or in an attribute."""
    if bears(_TAG.sub(lambda tag: tag["comment"] or tag["data"] or " ", text)):
        return True
    return any(_WORDS_IN_ATTRIBUTE.search(tag.group()) for tag in _TAG.finditer(text))
