"""The what-if bench as plain data: pieces, what is changed about them, and the rerun that makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from runtape.context import Context, Fill, remove, replace, set_system, substitute
from runtape.context.edits import Edit
from runtape.context.pieces import Piece, PieceKind
from runtape.errors import RuntapeError
from runtape.jsonio import Json
from runtape.reports.words import quoted

ARROW = "=>"
"""Between old and new text in ``--replace``."""
_SHOWN = 30


@dataclass(frozen=True, slots=True)
class BenchRow:
    """A piece on the bench.

    Attributes:
        piece: the piece.
        parent: the piece around it, or None.
        depth: levels above it.
        opened: whether its parts are listed below it.
    """

    piece: Piece
    parent: Piece | None
    depth: int
    opened: bool


class Bench:
    """A context and what a reader wants changed about it.

    Attributes:
        context: what the model saw.
        off: ids of pieces that are taken out.
        texts: piece id → its text instead.
        system: the system prompt instead, or None.
        model: the model asked instead, or None.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.off: set[int] = set()
        self.texts: dict[int, str] = {}
        self.system: str | None = None
        self.model: str | None = None
        self._opened: set[int] = set()
        self._plain: dict[tuple[int, str], bool] = {}

    # Rows

    @property
    def rows(self) -> list[BenchRow]:
        """Pieces in reading order, with the parts of those that are opened."""
        return list(self._rows(self.context.roots, None, 0))

    def _rows(
        self, pieces: tuple[Piece, ...], parent: Piece | None, depth: int
    ) -> Iterator[BenchRow]:
        for piece in pieces:
            opened = piece.id in self._opened
            yield BenchRow(piece, parent, depth, opened)
            if opened:
                yield from self._rows(self.context.children(piece), piece, depth + 1)

    def fold(self, piece: Piece) -> bool:
        """List the parts of a piece, or no longer; False when it has none."""
        if piece.id in self._opened:
            self._opened.discard(piece.id)
        elif self.context.children(piece):
            self._opened.add(piece.id)
        else:
            return False
        return True

    def reveal(self, piece: int) -> None:
        """Open everything around a piece."""
        for outer in self._around(piece):
            self._opened.add(outer)

    # Changes

    def toggle(self, piece: int) -> None:
        """Take a piece out, or put it (or what is around it) back."""
        outer = self.outermost_off(piece)
        if outer is not None:
            self.off.discard(outer)
        else:
            self.off.add(piece)

    def outermost_off(self, piece: int) -> int | None:
        """The piece that takes this one out: itself, or one around it; None when it is in."""
        lineage = [piece, *self._around(piece)]
        return next((number for number in reversed(lineage) if number in self.off), None)

    def edit(self, piece: int, text: str) -> None:
        """Give a piece another text; its own text undoes that. An edited piece is in again."""
        if text == self.context.by_id(piece).text:
            self.texts.pop(piece, None)
        else:
            self.texts[piece] = text
        outer = self.outermost_off(piece)
        if outer is not None:
            self.off.discard(outer)

    def text(self, piece: int) -> str:
        """The text of a piece as it is now."""
        return self.texts.get(piece, self.context.by_id(piece).text)

    def clear(self) -> None:
        """Change nothing."""
        self.off.clear()
        self.texts.clear()
        self.system = self.model = None

    @property
    def changed(self) -> bool:
        """Whether anything is changed."""
        return bool(self.off or self.texts or self.system is not None or self.model)

    @cached_property
    def recorded_system(self) -> str:
        """The system prompt as it was."""
        roots = self.context.roots
        return "\n".join(p.text for p in roots if p.kind is PieceKind.SYSTEM)

    # The rerun

    def fields(self, fill: Fill | str) -> dict[str, Any]:
        """The changes as fields of :class:`~runtape.attribution.options.RerunOptions`."""
        if not self._all_in_words:
            return {"edit": self._by_hand(fill), "model_name": self.model}
        return {
            "drop": tuple(self.context.by_id(number).ref for number in self._outermost()),
            "replace": {self.context.by_id(n).text: self.texts[n] for n in sorted(self.texts)},
            "system": self.system,
            "model_name": self.model,
        }

    def options(self, system_file: str) -> list[str] | None:
        """The changes as words of a command line; None when there are no words for them."""
        if not self._all_in_words:
            return None
        words: list[str] = []
        for number in self._outermost():
            words += ["--drop", self.context.by_id(number).ref]
        for number in sorted(self.texts):
            old, new = self.context.by_id(number).text, self.texts[number]
            words += ["--replace", f"{old}{ARROW}{new}"]
        if self.system is not None:
            words += ["--system-file", system_file]
        if self.model:
            words += ["--model", self.model]
        return words

    def words(self) -> list[str]:
        """The changes for a reader."""
        words = [f"without {self.context.by_id(number).ref}" for number in self._outermost()]
        words += [
            f"{self.context.by_id(number).ref} says {quoted(self.texts[number], _SHOWN)}"
            for number in sorted(self.texts)
        ]
        if self.system is not None:
            words.append(f"system prompt {quoted(self.system, _SHOWN)}")
        return [*words, f"model {self.model}"] if self.model else words

    def _outermost(self) -> list[int]:
        """What is taken out, in reading order, without parts of what is taken out anyway."""
        return sorted(number for number in self.off if self.outermost_off(number) == number)

    def _has_words(self, piece: int) -> bool:
        """Whether ``--replace OLD=>NEW`` would change exactly this piece."""
        key = (piece, self.texts[piece])
        if key not in self._plain:
            self._plain[key] = self._same_by_words(*key)
        return self._plain[key]

    def _same_by_words(self, number: int, text: str) -> bool:
        piece = self.context.by_id(number)
        if ARROW in piece.text or not piece.text:
            return False
        try:
            by_words = self.context.edited([substitute(piece.text, text)])
        except RuntapeError:
            return False
        return bool(by_words == self.context.edited([replace(piece, text)]))

    def _by_hand(self, fill: Fill | str) -> Callable[[Json], Json]:
        """All edits at once, for those that no option spells."""
        edits: list[Edit] = [remove(self.context.by_id(n), fill) for n in self._outermost()]
        edits += [replace(self.context.by_id(n), self.texts[n]) for n in sorted(self.texts)]
        if self.system is not None:
            edits.append(set_system(self.system))
        return lambda _: self.context.edited(edits)

    @property
    def _all_in_words(self) -> bool:
        return all(self._has_words(number) for number in self.texts)

    def _around(self, piece: int) -> Iterator[int]:
        parent = self.context.by_id(piece).parent
        while parent is not None:
            yield parent
            parent = self.context.by_id(parent).parent
