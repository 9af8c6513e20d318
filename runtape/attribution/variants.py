"""The context as the search sees it: a tree of numbers, and a body for every change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from runtape.attribution.protocol import Change, Wording
from runtape.context.context import Context
from runtape.context.edits import Edit, Fill, quote, remove
from runtape.context.pieces import Piece, PieceKind
from runtape.errors import InvalidEdit
from runtape.jsonio import Json

QUOTED = "quoted"
"""Name of the recheck that keeps a text but quotes it as data."""


_ASIDE = (PieceKind.TOOL_CALL, PieceKind.TOOL_DEFINITION)


class PieceTree:
    """A context as the search's tree; pieces in `expand` give way to their parts.

    Top-level pieces that are `masked` are not in it.
    """

    def __init__(
        self, context: Context, expand: Sequence[str] = (), masked: Sequence[Piece] = ()
    ) -> None:
        self._context = context
        self._opened: set[int] = set()
        inside = frozenset(i for ref in expand for i in self.lineage(context.piece(ref).id))
        shown = [root for root in context.roots if root not in masked]
        self.pieces = tuple(_opened(context, shown, inside))
        self.roots = tuple(piece.id for piece in self.pieces)
        self._apart = frozenset(_apart(self.pieces))

    def lineage(self, piece: int) -> Iterator[int]:
        """A piece and everything around it, from the inside out."""
        step: int | None = piece
        while step is not None:
            yield step
            step = self._context.by_id(step).parent

    def piece(self, number: int) -> Piece:
        """The piece with a number."""
        return self._context.by_id(number)

    def parts(self, piece: int) -> tuple[Piece, ...]:
        """The parts of a piece in reading order; empty at a leaf."""
        self._opened.add(piece)
        return self._context.children(self._context.by_id(piece))

    def children(self, piece: int) -> tuple[int, ...]:
        """Numbers of the parts in reading order; empty at a leaf."""
        return tuple(part.id for part in self.parts(piece))

    def known(self) -> Iterator[Piece]:
        """Every piece whose existence came up, in reading order, the whole before its parts."""
        waiting = list(reversed(self.pieces))
        while waiting:
            piece = waiting.pop()
            yield piece
            if piece.id in self._opened:
                waiting.extend(reversed(self.parts(piece.id)))

    def given(self, piece: int) -> bool:
        """Whether it stands in text that was given (system, user) rather than read."""
        return self._context.by_id(piece).given

    def apart(self, piece: int) -> bool:
        """Whether it is never removed in a group."""
        return piece in self._apart

    def aside(self, piece: int) -> bool:
        """Whether it is a tool's definition, or arguments of an earlier call."""
        return self._context.by_id(piece).kind in _ASIDE

    def read(self, piece: int) -> bool:
        """Whether it was read by a tool."""
        *_, root = self.lineage(piece)
        return self._context.by_id(root).kind is PieceKind.TOOL_RESULT

    def size(self, piece: int) -> int:
        """Characters it covers."""
        return len(self._context.by_id(piece).text)


class Variants:
    """Bodies of changed contexts. The body of a change is made once and then remembered.

    `masked` pieces are taken out of every body, the unchanged one's too.

    Attributes:
        unreachable: pieces that cannot be taken out of the request; they stay where they are.
    """

    def __init__(self, context: Context, fill: Fill | str, masked: Sequence[Piece] = ()) -> None:
        self._context = context
        self._fill = fill
        self._masks = [remove(piece, fill) for piece in masked]
        self._other_fill = Fill.MARKER if fill is Fill.EMPTY else Fill.EMPTY
        self._bodies: dict[Change, Json | None] = {}
        self.unreachable: list[Piece] = []

    def body(self, change: Change) -> Json | None:
        """The request with `change` made; None when it cannot be made at all."""
        if change not in self._bodies:
            self._bodies[change] = self._edited(change)
        return self._bodies[change]

    def recheck_name(self, wording: Wording) -> str:
        """What a report calls taking text out of play this way: a fill, or ``quoted``."""
        if wording is Wording.QUOTE:
            return QUOTED
        fill = self._fill if wording is Wording.REMOVE else self._other_fill
        return fill.value if isinstance(fill, Fill) else fill

    def _edited(self, change: Change) -> Json | None:
        pieces = [self._context.by_id(number) for number in sorted(change.pieces)]
        edit = self._editor(change.wording)
        try:
            return self._context.edited([*self._masks, *(edit(piece) for piece in pieces)])
        except InvalidEdit:
            if change.wording is Wording.QUOTE:
                return None  # quoting what is no text: a recheck less
        # Without the stuck ones a group still tells something; alone they show no effect.
        free = [piece for piece in pieces if self._reachable(piece)]
        return self._context.edited([*self._masks, *(edit(piece) for piece in free)])

    def _reachable(self, piece: Piece) -> bool:
        try:
            self._context.edited([remove(piece, self._fill)])
        except InvalidEdit:
            if piece not in self.unreachable:
                self.unreachable.append(piece)
            return False
        return True

    def _editor(self, wording: Wording) -> Callable[[Piece], Edit]:
        if wording is Wording.QUOTE:
            return quote
        fill = self._fill if wording is Wording.REMOVE else self._other_fill
        return lambda piece: remove(piece, fill)


def _opened(context: Context, pieces: Iterable[Piece], inside: frozenset[int]) -> Iterator[Piece]:
    """`pieces`, those that are to be looked into from the start replaced by their parts."""
    for piece in pieces:
        parts = context.children(piece) if piece.id in inside else ()
        if parts:
            yield from _opened(context, parts, inside)
        else:
            yield piece


def _apart(pieces: Sequence[Piece]) -> Iterator[int]:
    """The system prompt, the first user text and the newest message."""
    yield from (piece.id for piece in pieces if piece.kind is PieceKind.SYSTEM)
    yield from islice((piece.id for piece in pieces if piece.kind is PieceKind.USER), 1)
    messages = (p.id for p in reversed(pieces) if p.kind is not PieceKind.TOOL_DEFINITION)
    yield from islice(messages, 1)
