"""Rows of the heatmap, and what is to be painted again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from runtape.attribution.facts import Cause, PieceState
from runtape.context.pieces import Piece
from runtape.trials import Tally


@dataclass(frozen=True, slots=True)
class Fall:
    """How much rarer the decision is without a piece: a difference of rates and its interval."""

    drop: float
    low: float
    high: float


@dataclass(eq=False, slots=True)
class HeatRow:
    """One piece, and all that is known of it.

    Attributes:
        piece: the piece.
        number: its place in reading order.
        parent: the row it is a part of, or None.
        parts: rows of its parts, once it was looked into.
        state: where it stands.
        tally: runs without exactly this piece.
        p: Fisher p of `tally` against the baseline; None without runs and at temperature 0.
        pending: runs without exactly this piece that are under way.
        grouped: whether it is under way only together with others.
        cause: the claim it belongs to, or None.
        holds: whether something that was claimed is a part of it.
    """

    piece: Piece
    number: int = 0
    parent: HeatRow | None = None
    parts: list[HeatRow] = field(default_factory=list)
    state: PieceState = PieceState.UNTESTED
    tally: Tally = field(default_factory=Tally)
    p: float | None = None
    pending: int = 0
    grouped: bool = False
    cause: Cause | None = None
    holds: bool = False

    @property
    def depth(self) -> int:
        """Levels above it."""
        return 0 if self.parent is None else self.parent.depth + 1

    @property
    def in_flight(self) -> bool:
        """Whether the model is being asked without it."""
        return self.pending > 0 or self.grouped

    def around(self) -> Iterator[HeatRow]:
        """The rows it is a part of, from the inside out."""
        row = self.parent
        while row is not None:
            yield row
            row = row.parent


@dataclass(frozen=True, slots=True)
class Changes:
    """What to paint again.

    Attributes:
        rows: positions in :attr:`Heatmap.rows`.
        pieces: ids of the pieces behind them.
        moved: whether rows came or changed places: all of them are to be painted.
        head: whether what stands around the rows changed (baseline, phase, calls, result).
    """

    rows: tuple[int, ...] = ()
    pieces: tuple[int, ...] = ()
    moved: bool = False
    head: bool = False
