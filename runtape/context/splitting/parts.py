"""What splitting a text yields: parts, each with its place, its words and how it goes on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from runtape.context.json_spans import Span
from runtape.context.pieces import PieceKind
from runtape.context.refs import Counted, Key, Step, Word
from runtape.context.splitting.views import Codec

_BEARING = re.compile(r"[^\s!-/:-@\[-`{-~¡§«»¿‐-‧‹›。、，．：；！？（）「」『』【】]")


def bears(text: str, start: int = 0, end: int | None = None) -> bool:
    """Whether ``text[start:end]`` holds anything but space and punctuation."""
    return _BEARING.search(text, start, len(text) if end is None else end) is not None


class Shape(Enum):
    """What a text is known to be before it is looked at: how it is split."""

    LEAF = auto()
    """Not divided further."""
    TEXT = auto()
    """Anything: the first shape that fits."""
    DOCUMENT = auto()
    """JSON."""
    LITERAL = auto()
    """A printed Python value."""
    INDENTED = auto()
    """YAML."""
    CODE = auto()
    """Lines that are never joined."""
    FLOW = auto()
    """Words that run on over line breaks: sentences."""
    TAB_ROW = auto()
    COMMA_ROW = auto()
    SEMICOLON_ROW = auto()
    PIPE_ROW = auto()
    """Rows of a table, by what divides their cells."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a split text.

    Attributes:
        step: how it is addressed below the text; None for a part that says nothing and only keeps
            its place (a null in an array).
        start: where it begins, with its marks (quotes, key, bullet, tags).
        end: where it ends, with its marks.
        inner: what is read of it, without its marks.
        kind: what it is.
        codec: how `inner` spells its text; None when it stands as it is.
        shape: how its text is split further.
        literal: spells a text that takes the place of `inner` as a whole, where encoding it for
            its surroundings is not enough.
    """

    step: Step | None
    start: int
    end: int
    inner: Span
    kind: PieceKind = PieceKind.PARAGRAPH
    codec: Codec | None = None
    shape: Shape = Shape.TEXT
    literal: Callable[[str], str] | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """A text divided: disjoint parts in order.

    Attributes:
        parts: the parts, those that only keep a place included.
        joined: whether what stands between two parts (space, commas) goes with the part that is
        cut.
    """

    parts: tuple[Part, ...]
    joined: bool = True

    def cuts(self, text: str, removed: Iterable[int]) -> list[Span]:
        """Spans of `text` to delete so that parts `removed` are gone and the rest stays sound.

        Of a run of removed parts the separator behind it goes too, at the end the one before it;
        separators that hold more than space and punctuation stay.
        """
        spans: list[Span] = []
        for first, last in _runs(sorted(set(removed))):
            spans += self._run(text, first, last)
        return spans

    def _run(self, text: str, first: int, last: int) -> list[Span]:
        parts = self.parts
        bounds = [(parts[at].start, parts[at].end) for at in range(first, last + 1)]
        if self.joined and last + 1 < len(parts):
            bounds.append((parts[last + 1].start,) * 2)
        elif self.joined and first > 0:
            bounds.insert(0, (parts[first - 1].end,) * 2)
        spans = [bounds[0]]
        for start, end in bounds[1:]:
            if self.joined and not bears(text, spans[-1][1], start):
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
        return [span for span in spans if span[0] < span[1]]


def _runs(numbers: list[int]) -> Iterable[tuple[int, int]]:
    start = 0
    for at, number in enumerate(numbers):
        if at + 1 == len(numbers) or numbers[at + 1] != number + 1:
            yield numbers[start], number
            start = at + 1


class Names:
    """Gives steps to the parts of one text: counts words, tells members of one name apart."""

    def __init__(self) -> None:
        self._seen: Counter[str | Word] = Counter()

    def key(self, name: str) -> Key:
        """The step of the next member of that name."""
        self._seen[name] += 1
        return Key(name, self._seen[name])

    def next(self, word: Word) -> Counted:
        """The step of the next part of that name."""
        self._seen[word] += 1
        return Counted(word, self._seen[word])


def sentence_parts(spans: Iterable[Span]) -> Iterator[Part]:
    """Sentences, numbered: read as they stand, divided no further."""
    return (
        Part(Counted(Word.SENTENCE, n), *span, span, PieceKind.SENTENCE, shape=Shape.LEAF)
        for n, span in enumerate(spans, start=1)
    )


def trimmed(text: str, start: int, end: int) -> Span:
    """The span without the space at both ends; empty spans come out empty."""
    source = text[start:end]
    first = start + len(source) - len(source.lstrip())
    return first, max(first, start + len(source.rstrip()))


def several(parts: Iterable[Part]) -> Split | None:
    """A split, when there is more than one part that says something."""
    found = tuple(parts)
    return Split(found) if sum(part.step is not None for part in found) > 1 else None
