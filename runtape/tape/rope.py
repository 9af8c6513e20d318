"""A request body under repair: pieces of text that remember which request brought them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from runtape.tape.events import Span

Piece: TypeAlias = tuple[bytes, int]
"""Bytes of a body and the id of the request they first came with."""


class Rope:
    """Pieces with a gap at the last splice.

    The next splice is nearly always where the last one was, so a chain of n requests costs about n
    steps and one join; a splice elsewhere moves the gap there, piece by piece.
    """

    def __init__(self, body: bytes, event: int) -> None:
        self._left: list[Piece] = [(body, event)]
        self._right: list[Piece] = []  # reversed: its end is at the gap
        self._before = len(body)
        self._after = 0

    def __len__(self) -> int:
        """Bytes of the body."""
        return self._before + self._after

    def __iter__(self) -> Iterator[Piece]:
        yield from self._left
        yield from reversed(self._right)

    def copy(self) -> Rope:
        """An independent rope with the same pieces."""
        twin = Rope(b"", 0)
        twin._left, twin._right = self._left.copy(), self._right.copy()
        twin._before, twin._after = self._before, self._after
        return twin

    def splice(self, head: int, tail: int, insert: bytes, event: int) -> None:
        """Keep `head` bytes and `tail` bytes and put `insert` between them.

        Raises ValueError when the body is not that long.
        """
        if head < 0 or tail < 0 or head + tail > len(self):
            raise ValueError("splice reaches beyond its base")
        self._move_gap(head)
        while self._after > tail:
            self._right_trimmed(self._after - tail)
        if insert:
            self._left.append((insert, event))
            self._before += len(insert)

    def _move_gap(self, position: int) -> None:
        while self._before > position:
            data, event = self._left.pop()
            cut = max(0, len(data) - (self._before - position))
            if cut:
                self._left.append((data[:cut], event))
            self._right.append((data[cut:], event))
            self._before -= len(data) - cut
            self._after += len(data) - cut
        while self._before < position:
            data, event = self._right.pop()
            cut = min(len(data), position - self._before)
            if cut < len(data):
                self._right.append((data[cut:], event))
            self._left.append((data[:cut], event))
            self._before += cut
            self._after -= cut

    def _right_trimmed(self, surplus: int) -> None:
        """Drop up to `surplus` bytes from the piece right of the gap."""
        data, event = self._right.pop()
        cut = min(len(data), surplus)
        if cut < len(data):
            self._right.append((data[cut:], event))
        self._after -= cut


def lay_out(pieces: Iterable[tuple[str, int]]) -> tuple[str, tuple[Span, ...]]:
    """The joined text, and spans in characters with neighbours of one request merged."""
    texts: list[str] = []
    spans: list[Span] = []
    start = position = 0
    current: int | None = None
    for text, event in pieces:
        if not text:
            continue
        if current is not None and event != current:
            spans.append(Span(start, position, current))
            start = position
        current = event
        texts.append(text)
        position += len(text)
    if current is not None:
        spans.append(Span(start, position, current))
    return "".join(texts), tuple(spans)
