"""How the text of a piece is tinted while its influence is tested."""

from __future__ import annotations

from runtape.attribution.facts import PieceState
from runtape_tui.view_models.document import Tint
from runtape_tui.view_models.heatmap import Heatmap

_TINTS = {
    PieceState.UNTESTED: Tint.NONE,
    PieceState.RUNNING: Tint.RUNNING,
    PieceState.IN_GROUP: Tint.IN_GROUP,
    PieceState.SUSPECTED: Tint.SUSPECTED,
    PieceState.NO_EFFECT: Tint.NO_EFFECT,
    PieceState.CAUSE: Tint.CAUSE,
    PieceState.REQUIRED: Tint.REQUIRED,
    PieceState.CONTRIBUTES: Tint.CONTRIBUTES,
}


def tint_of(heat: Heatmap, piece: int) -> Tint:
    """The tint of a piece.

    One that is looked into leaves its text to its parts: those that nobody asked about yet take
    its tint on, unless something was claimed there.
    """
    row = heat.row(piece)
    if row is None or (row.parts and row.cause is None):
        return Tint.NONE
    standing = heat.standing(row)
    if standing is PieceState.UNTESTED:
        for outer in row.around():
            if outer.holds:
                break
            if heat.standing(outer) is not PieceState.UNTESTED:
                return _TINTS[heat.standing(outer)]
    return _TINTS[standing]
