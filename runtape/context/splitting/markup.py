"""Markup: a text divided at its elements and comments, tagged blocks such as ``<INFORMATION>…``."""

from __future__ import annotations

from collections.abc import Iterator

from runtape.context.pieces import PieceKind
from runtape.context.refs import Word
from runtape.context.splitting.lines import line_sentences
from runtape.context.splitting.parts import Names, Part, Shape, Split, trimmed
from runtape.context.splitting.tags import Element, outermost, says


def split_markup(text: str) -> Split | None:
    """Elements, comments and the sentences between them; None when nothing divides the text."""
    names = Names()
    parts: list[Part] = []
    done = 0
    for element in outermost(text):
        parts += _run(text, done, element.start, names)
        parts += _part(text, element, names)
        done = element.end
    if not done:
        return None
    parts += _run(text, done, len(text), names)
    return Split(tuple(parts)) if parts else None


def _part(text: str, element: Element, names: Names) -> Iterator[Part]:
    inner = trimmed(text, *element.inner)
    if says(text[slice(*inner)]):
        yield Part(names.next(element.word), element.start, element.end, inner)
    elif says(text[element.start : element.end]):  # words in an attribute only
        span = (element.start, element.end)
        yield Part(names.next(element.word), *span, span, shape=Shape.LEAF)


def _run(text: str, start: int, end: int, names: Names) -> Iterator[Part]:
    """Text between elements: its paragraphs as one part, else its sentences."""
    start, end = trimmed(text, start, end)
    if "\n\n" in text[start:end]:
        yield Part(names.next(Word.TEXT), start, end, (start, end))
        return
    for begin, (first, last) in line_sentences(text[start:end]):
        outer, inner = (start + begin, start + last), (start + first, start + last)
        if says(text[slice(*outer)]):
            read = inner if says(text[slice(*inner)]) else outer
            step = names.next(Word.SENTENCE)
            yield Part(step, *outer, read, PieceKind.SENTENCE, shape=Shape.LEAF)
