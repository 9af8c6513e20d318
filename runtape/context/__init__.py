"""What a model call saw: pieces, their addresses, and bodies with pieces changed.

Names are loaded when first used: the vocabulary (:mod:`pieces`) is needed in places that never
split a text.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtape.context.context import Context, build_context
    from runtape.context.edits import (
        Fill,
        add_system,
        quote,
        remove,
        replace,
        set_system,
        substitute,
    )
    from runtape.context.pieces import Piece, PieceKind
    from runtape.context.recorded import recorded_reply

_HOMES = {
    "Context": "context",
    "Fill": "edits",
    "Piece": "pieces",
    "PieceKind": "pieces",
    "add_system": "edits",
    "build_context": "context",
    "quote": "edits",
    "recorded_reply": "recorded",
    "remove": "edits",
    "replace": "edits",
    "set_system": "edits",
    "substitute": "edits",
}

__all__ = [
    "Context",
    "Fill",
    "Piece",
    "PieceKind",
    "add_system",
    "build_context",
    "quote",
    "recorded_reply",
    "remove",
    "replace",
    "set_system",
    "substitute",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
