"""What a model saw, with what is known of each piece: the map that pages and pictures draw."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from runtape.attribution.facts import Investigation, PieceState, Role
from runtape.context import Context
from runtape.context.pieces import Piece
from runtape.trials import Tally

_RUN = re.compile(r"(?:\[\d+-\d+\]| \w+ \d+-\d+)\Z")
"""End of the ref of a run of parts, which is no place of its own to a reader."""
_LARGE = 200_000
"""Characters from which a calm text is not taken apart into its members."""
_MEMBERS = 400
"""Members of one context shown apart."""
_DEEPEST = 8

_CLAIMED = {
    Role.REQUIRED: PieceState.REQUIRED,
    Role.CONTRIBUTES: PieceState.CONTRIBUTES,
    Role.DIFFUSE: PieceState.CONTRIBUTES,
}


@dataclass(frozen=True, slots=True)
class Heat:
    """What runs without a piece say.

    Attributes:
        state: where it stands.
        tally: runs without it.
        p: one-sided Fisher p against the baseline; None where there is none.
        headline: whether it is (part of) the answer.
    """

    state: PieceState
    tally: Tally
    p: float | None = None
    headline: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """A tested part of a text, with what stands in it."""

    piece: Piece
    heat: Heat
    parts: tuple[Run, ...]


Run: TypeAlias = str | Stretch
"""A plain stretch of text, or a tested one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A piece with an address of its own: a message, or a named member of its text.

    Attributes:
        piece: which.
        label: its address, a member's within the entry around it.
        heat: what is known of it; None when it was never tested by itself.
        text: its text; empty when all of it is told by the members.
        members: entries inside it.
    """

    piece: Piece
    label: str
    heat: Heat | None
    text: tuple[Run, ...] = ()
    members: tuple[Entry, ...] = ()

    @property
    def hot(self) -> bool:
        """Whether it, or something in it, was claimed or is suspected."""
        return (
            _is_hot(self.heat)
            or any(_hot_run(run) for run in self.text)
            or any(member.hot for member in self.members)
        )


def _is_hot(heat: Heat | None) -> bool:
    calm = {PieceState.UNTESTED, PieceState.IN_GROUP, PieceState.NO_EFFECT, PieceState.RUNNING}
    return heat is not None and heat.state not in calm


def _hot_run(run: Run) -> bool:
    return not isinstance(run, str) and (_is_hot(run.heat) or any(map(_hot_run, run.parts)))


def heat_map(found: Investigation, context: Context | None = None) -> tuple[Entry, ...]:
    """The pieces of the context in reading order.

    Without `context` the pieces are those of the investigation, with as much of their texts as it
    holds: beginnings only, where it was read from a saved report.
    """
    return _Mapper(found, context).entries()


class _Mapper:
    """Builds the map; without a context from what the investigation tells."""

    def __init__(self, found: Investigation, context: Context | None) -> None:
        self._known = _known_pieces(found)
        self._context = context if context and _fits(context, self._known) else None
        self._heats = _heats(found)
        self._holders = {number: self._holder(piece) for number, piece in self._known.items()}
        self._around = {number for piece in self._known.values() for number in self._above(piece)}
        self._left = _MEMBERS

    def entries(self) -> tuple[Entry, ...]:
        """One entry for each top-level piece."""
        roots = self._context.roots if self._context else self._inside(None)
        return tuple(self._entry(root, root.ref, 0) for root in roots)

    def _entry(self, piece: Piece, label: str, level: int) -> Entry:
        heat = self._heats.get(piece.id)
        parts = self._parts(piece) if level < _DEEPEST and self._opens(piece) else ()
        named = bool(parts) and all(tail(p.ref, piece.ref)[:1] in {".", "["} for p in parts)
        if not named or self._left < 0:
            return Entry(piece, label, heat, self._text(piece))
        self._left -= len(parts)
        members = tuple(self._entry(p, tail(p.ref, piece.ref), level + 1) for p in parts)
        return Entry(piece, label, heat, () if self._context else (piece.text,), members)

    def _opens(self, piece: Piece) -> bool:
        """Whether a look at its parts is worth it."""
        structured = piece.text.lstrip()[:1] in {"{", "["} and len(piece.text) < _LARGE
        return piece.divisible and (structured or piece.id in self._around)

    def _text(self, piece: Piece) -> tuple[Run, ...]:
        """The text of a piece, its tested parts marked where they are found in order."""
        runs: list[Run] = []
        done = 0
        for part in self._parts(piece) if piece.id in self._around else ():
            start = piece.text.find(part.text, done) if part.text else -1
            if start < 0 or not (part.id in self._around or part.id in self._heats):
                continue
            inner, heat = self._text(part), self._heats.get(part.id)
            runs += (piece.text[done:start], *((Stretch(part, heat, inner),) if heat else inner))
            done = start + len(part.text)
        return tuple(run for run in (*runs, piece.text[done:]) if run)

    def _parts(self, piece: Piece) -> Sequence[Piece]:
        if self._context is None:
            return self._inside(piece.id)
        return tuple(self._passed_through(self._context, piece))

    def _inside(self, holder: int | None) -> list[Piece]:
        return [self._known[n] for n, around in sorted(self._holders.items()) if around == holder]

    def _passed_through(self, context: Context, piece: Piece) -> Iterator[Piece]:
        """Parts of a piece; of a run that was not tested as such, its own parts."""
        for part in context.children(piece) if piece.divisible else ():
            if part.divisible and part.id not in self._heats and _RUN.search(part.ref):
                yield from self._passed_through(context, part)
            else:
                yield part

    def _above(self, piece: Piece) -> Iterator[int]:
        """Ids of all pieces around a piece."""
        if self._context is None:
            number = self._holders[piece.id]
            while number is not None:
                yield number
                number = self._holders[number]
            return
        while piece.parent is not None:
            yield piece.parent
            piece = self._context.by_id(piece.parent)

    def _holder(self, piece: Piece) -> int | None:
        """The nearest known piece around a piece, by id or else by its address."""
        if piece.parent is None or piece.parent in self._known:
            return piece.parent
        around = [known for known in self._known.values() if _is_inside(piece.ref, known.ref)]
        return max(around, key=lambda known: len(known.ref)).id if around else None


def _fits(context: Context, known: Mapping[int, Piece]) -> bool:
    """Whether a context is the one that was investigated: it divides into the same pieces."""
    try:
        return all(context.by_id(number).ref == piece.ref for number, piece in known.items())
    except KeyError:
        return False


def _known_pieces(found: Investigation) -> dict[int, Piece]:
    """Every piece the investigation tells of; the fullest text of each."""
    told = [result.piece for result in found.pieces]
    told += found.untested
    told += (step.piece for cause in found.causes for step in cause.narrowed)
    told += (piece for cause in found.causes for piece in cause.pieces)
    known: dict[int, Piece] = {}
    for piece in told:
        if piece.id not in known or len(piece.text) > len(known[piece.id].text):
            known[piece.id] = piece
    return known


def _heats(found: Investigation) -> dict[int, Heat]:
    heats = {result.piece.id: Heat(result.state, result.tally, result.p) for result in found.pieces}
    for piece in found.untested:
        heats.setdefault(piece.id, Heat(PieceState.UNTESTED, Tally()))
    for cause in sorted(found.causes, key=lambda cause: cause.headline):  # the answer has its say
        state = _CLAIMED.get(cause.role, PieceState.CAUSE)
        for piece in cause.pieces:
            alone = len(cause.pieces) == 1
            before = heats.get(piece.id)
            if before is None or alone:
                heats[piece.id] = Heat(state, cause.without, cause.p, cause.headline)
            else:  # the runs of the whole set are not the runs of this one
                heats[piece.id] = Heat(state, before.tally, before.p, cause.headline)
    return heats


def tail(ref: str, around: str) -> str:
    """What a ref adds to that of the piece around it; the whole ref when it does not start so."""
    return ref[len(around) :].lstrip() if _is_inside(ref, around) else ref


def _is_inside(ref: str, around: str) -> bool:
    return ref.startswith(around) and ref[len(around) : len(around) + 1] in {".", "[", " "}


def holds_all(found: Investigation, context: Context | None) -> bool:
    """Whether `context` is the one that was investigated, so that all its texts can be shown."""
    return context is not None and _fits(context, _known_pieces(found))
