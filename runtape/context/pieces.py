"""Pieces: the addressable parts of what one model call saw."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class PieceKind(Enum):
    """What a piece is; the value is printed and stands in ``why --json``."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TOOL_DEFINITION = "tool_definition"
    MEDIA = "media"
    ITEM = "item"
    """A member of a JSON array or object inside a string."""
    PARAGRAPH = "paragraph"
    SENTENCE = "sentence"


@dataclass(frozen=True, slots=True)
class Piece:
    """One node of the piece tree.

    Attributes:
        id: number within its context, stable for one body; parents come before children.
        ref: printable address, such as ``12.body para 4 sentence 1``.
        kind: what it is.
        event: event its text first entered with.
        parent: id of the enclosing piece, or None for a top-level piece.
        text: the source text it covers (as it stands in the string; media: a short description).
        given: whether it stands in text that was given (system, user) rather than read (tool
            results).
        tool: name of the tool it came from or describes, or None.
        call: (name, canonical arguments) of the lookup that produced it, for pieces in tool
            results.
        divisible: whether it has children that can be asked for.
    """

    id: int
    ref: str
    kind: PieceKind
    event: int
    parent: int | None
    text: str
    given: bool
    tool: str | None = None
    call: tuple[str, str] | None = None
    divisible: bool = False
