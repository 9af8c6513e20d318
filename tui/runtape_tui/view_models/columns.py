"""The columns of the heatmap: which fit a width, and what stands in them."""

from __future__ import annotations

from dataclasses import dataclass

from runtape.attribution.facts import PieceState
from runtape.reports.cells import pad
from runtape.reports.codes import STATE_GLYPHS, STATE_WORDS
from runtape.reports.words import p_value, tally
from runtape_tui.view_models.heat_rows import HeatRow
from runtape_tui.view_models.sections import tail

_WORD, _P, _COUNT, _MARK = 12, 8, 7, 2
_BARS = ((110, 16), (90, 12), (60, 10), (0, 8))
"""Width of the view → cells of a bar."""
_WIDE = 90
"""From here on the unchanged runs have a column of their own."""
_SHORT = {
    PieceState.UNTESTED: "",
    PieceState.IN_GROUP: "in group",
    PieceState.NO_EFFECT: "no effect",
    PieceState.CONTRIBUTES: "helps",
}
_HOLDS = "▾ holds it"


@dataclass(frozen=True, slots=True)
class Columns:
    """Where things stand in a row of the heatmap.

    Attributes:
        bar: cells of the bar of the drop.
        unchanged: whether the runs of the unchanged context have a column.
    """

    bar: int
    unchanged: bool

    @classmethod
    def fitting(cls, width: int) -> Columns:
        """The columns for a view of `width` cells."""
        return cls(next(bar for least, bar in _BARS if width >= least), width >= _WIDE)

    @property
    def fixed(self) -> int:
        """Cells left of the ref."""
        return 1 + _WORD + _P + _COUNT + _MARK + self.unchanged * _COUNT + self.bar + 1

    def heading(self) -> str:
        """Names of the columns."""
        with_it = pad("with", _COUNT) if self.unchanged else ""
        return (
            f" {pad('verdict', _WORD)}{pad('p', _P)}{pad('without', _COUNT + _MARK)}{with_it}"
            f"{pad('drop', self.bar + 1)}piece"
        )


def verdict(row: HeatRow, state: PieceState) -> str:
    """Glyph and word, as wide as their column."""
    if row.holds and row.cause is None:
        return pad(_HOLDS, _WORD)
    return pad(f"{STATE_GLYPHS[state]} {_SHORT.get(state, STATE_WORDS[state])}", _WORD)


def p_cell(row: HeatRow) -> str:
    """P, left-aligned: exponents stand out at the right end."""
    return pad("" if row.p is None else p_value(row.p), _P)


def without_cell(row: HeatRow) -> str:
    """Runs without the piece."""
    return pad(tally(row.tally) if row.tally.runs else "", _COUNT)


def unchanged_cell(words: str) -> str:
    """Runs of the unchanged context."""
    return pad(words, _COUNT)


def short_ref(row: HeatRow) -> str:
    """What the ref adds to that of the row it is a part of."""
    return row.piece.ref if row.parent is None else tail(row.piece.ref, row.parent.piece.ref)


def place_cell(row: HeatRow) -> str:
    """The short ref, indented."""
    return f"{'  ' * row.depth}{short_ref(row)}"
