"""From a remedy to the request that is run with it, in whatever context."""

from __future__ import annotations

from collections.abc import Sequence

from runtape.context import Context, Piece, add_system, quote, remove
from runtape.context.counterparts import counterpart
from runtape.context.edits import Edit, Fill
from runtape.dialects.base import Dialect, SlotKind
from runtape.dialects.paths import replaced_at, value_at
from runtape.errors import InvalidEdit
from runtape.jsonio import Json
from runtape.remedies.facts import Remedy
from runtape.remedies.rules import CLOSE, OPEN


class Treatment:
    """Bodies of contexts under remedies.

    Args:
        sources: the causing texts, as pieces of the failed context.
        fill: what stands in for a whole message that is taken out.
    """

    def __init__(self, sources: Sequence[Piece], fill: Fill | str) -> None:
        self._sources = {piece.ref: piece for piece in sources}
        self._fill = fill

    def body(self, remedy: Remedy, context: Context, *, elsewhere: bool = False) -> Json | None:
        """The request of `context` under a remedy; None when that changes nothing there.

        `elsewhere`: it is a context of another run, in which the causing text may stand anywhere.
        """
        try:
            body = context.edited(list(self._edits(remedy, context, elsewhere=elsewhere)))
        except InvalidEdit:
            return None
        if remedy.delimit:
            body = delimited(body, context.dialect)
        if remedy.model is not None:
            body = context.dialect.with_model(body, remedy.model)
        return None if body == context.body else body

    def _edits(self, remedy: Remedy, context: Context, *, elsewhere: bool) -> list[Edit]:
        there = {
            ref: counterpart(context, piece, anywhere=elsewhere)
            for ref, piece in self._sources.items()
        }
        edits = [remove(p, self._fill) for ref in remedy.drop if (p := there.get(ref))]
        edits += [quote(p) for ref in remedy.quote if (p := there.get(ref))]
        return [*edits, add_system(remedy.system)] if remedy.system else edits


def delimited(body: Json, dialect: Dialect) -> Json:
    """The body with every tool result between marks; marks that stand in it are taken out."""
    for slot in dialect.slots(body):
        text = value_at(body, slot.path)
        if slot.kind is SlotKind.TOOL_RESULT and isinstance(text, str):
            plain = text.replace(OPEN, "").replace(CLOSE, "")
            body = replaced_at(body, slot.path, f"{OPEN}\n{plain}\n{CLOSE}")
    return body
