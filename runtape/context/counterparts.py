"""The same text in another context: of another call of the same run, or of another run."""

from __future__ import annotations

from collections.abc import Iterator

from runtape.context.context import Context
from runtape.context.pieces import Piece
from runtape.errors import RefNotFound
from runtape.jsonio import dumps_text


def counterpart(context: Context, piece: Piece, *, anywhere: bool = False) -> Piece | None:
    """The piece of `context` that came with the same event as `piece` and holds its very text.

    The system prompt and tool definitions came with no event of their own: their refs and texts
    have to be equal. `anywhere`: whatever event it came with, for contexts of another run. None
    when there is no such piece.
    """
    try:
        found = context.piece(piece.ref)
    except RefNotFound:
        found = None
    if found is not None and found.text == piece.text:
        return found
    spellings = (piece.text, dumps_text(piece.text)[1:-1])
    roots = (root for root in context.roots if anywhere or root.event == piece.event)
    return next((p for root in roots for p in _equal(context, root, spellings)), None)


def _equal(context: Context, piece: Piece, spellings: tuple[str, ...]) -> Iterator[Piece]:
    """`piece`, or the pieces in it, whose text is the first spelling."""
    if piece.text == spellings[0]:
        yield piece
    elif any(text in piece.text for text in spellings):
        for part in context.children(piece):
            yield from _equal(context, part, spellings)
