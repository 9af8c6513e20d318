"""What a model saw at one call, piece by piece, each with the ref that addresses it."""

from __future__ import annotations

from collections.abc import Iterator

from runtape.context import Context
from runtape.context.pieces import Piece
from runtape.jsonio import Json
from runtape.reports.cells import cut, one_line, wrap
from runtape.reports.sheet import Line, Span, Tone, line
from runtape.reports.words import piece_words, plural
from runtape.tape.reader import Tape
from runtape.visible import visible

_INDENT = 2


def context_lines(tape: Tape, context: Context, columns: int = 80) -> Iterator[Line]:
    """The whole context in reading order: a heading with the ref, then the text."""
    yield _heading(tape, context)
    for piece in context.roots:
        yield Line()
        yield line(
            Span(piece.ref, Tone.NAME),
            "  ",
            Span(piece_words(piece), Tone.STRONG),
            "  ",
            Span(_size(piece), Tone.QUIET),
        )
        for text in wrap(visible(piece.text).text, columns - _INDENT):
            yield line(" " * _INDENT, text)


def piece_lines(tape: Tape, context: Context, columns: int = 80) -> Iterator[Line]:
    """The tree of pieces, down to sentences: a ref and the beginning of its text on each line."""
    yield _heading(tape, context)
    yield Line()
    for depth, piece in walk(context):
        head = f"{'  ' * depth}{piece.ref}"
        room = columns - len(head) - 2
        glimpse = one_line(piece.text)
        if depth == 0:
            glimpse = f"{piece_words(piece)}: {glimpse}"
        yield line(Span(head, Tone.NAME), "  ", cut(glimpse, max(12, room)))


def walk(context: Context) -> Iterator[tuple[int, Piece]]:
    """Every piece with its depth, parents first."""
    stack = [(0, piece) for piece in reversed(context.roots)]
    while stack:
        depth, piece = stack.pop()
        yield depth, piece
        if piece.divisible:
            stack += [(depth + 1, child) for child in reversed(context.children(piece))]


def _heading(tape: Tape, context: Context) -> Line:
    request = context.request
    model = context.body.get("model") if isinstance(context.body, dict) else None
    words = (
        f"model call {request.event}, {model or request.api}, {plural(len(context.roots), 'piece')}"
    )
    return line(Span(words, Tone.STRONG), "  ", Span(str(tape.path), Tone.QUIET))


def _size(piece: Piece) -> str:
    return plural(len(piece.text), "character")


def context_json(tape: Tape, context: Context, *, deep: bool = False) -> Json:
    """``runtape.context/1``: the pieces, only the top ones unless `deep`."""
    found = walk(context) if deep else ((0, piece) for piece in context.roots)
    return {
        "schema": "runtape.context/1",
        "trace": {"path": str(tape.path), "run_id": tape.run_id, "name": tape.name},
        "request": context.request.event,
        "api": context.request.api,
        "fidelity": context.request.fidelity,
        "pieces": [
            {
                "ref": piece.ref,
                "depth": depth,
                "kind": piece.kind.value,
                "event": piece.event,
                "tool": piece.tool,
                "given": piece.given,
                "characters": len(piece.text),
                "text": piece.text,
            }
            for depth, piece in found
        ],
    }
