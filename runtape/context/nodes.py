"""The piece tree: nodes that know where their text stands, unfolded when somebody looks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from runtape.context.pieces import Piece, PieceKind
from runtape.context.refs import Counted, Index, Ref, Step, Word
from runtape.context.splitting import Part, Shape, Split, split
from runtape.context.splitting.views import View
from runtape.dialects.base import Slot

MOST_CHILDREN = 16
"""More parts are listed as runs of parts: whoever narrows tries children one by one."""

_DEEPEST = 250
_DEPTHS = 256
_MOST_PASSED = 8
"""Levels with one part that are passed through at once; hostile text has thousands."""


@dataclass(frozen=True, slots=True)
class Place:
    """Parts number `first` … `last` of a split of the text of `view`."""

    view: View
    split: Split
    first: int
    last: int

    @property
    def live(self) -> list[int]:
        """Numbers of the parts that say something."""
        return [at for at in self.numbers if self.split.parts[at].step is not None]

    @property
    def numbers(self) -> range:
        """Numbers of all parts."""
        return range(self.first, self.last + 1)


@dataclass(slots=True, eq=False)
class Node:
    """A piece with its place.

    Attributes:
        piece: what is known of it outside.
        ref: its address.
        base: the address its parts go on from (it names members that were passed through).
        origin: where its slot begins when all slots are laid end to end.
        depth: levels above it.
        slots: the slots it stands in: one, or all of a message of several.
        view: the text that takes part in replacing it; None for media and several slots.
        place: where it stands in the text around it; None for whole slots.
        inside: the parts of its text; None at a leaf.
        literal: spells a text that replaces it as a whole, where encoding is not enough.
        run: whether it stands for several parts side by side.
        parent: the node around it.
        children: its parts once they were asked for.
    """

    piece: Piece
    ref: Ref
    base: Ref
    origin: int
    depth: int
    slots: tuple[Slot, ...]
    view: View | None = None
    place: Place | None = None
    inside: Place | None = None
    literal: Callable[[str], str] | None = None
    run: bool = False
    parent: Node | None = field(default=None, repr=False)
    children: tuple[Node, ...] | None = field(default=None, repr=False)

    def holds(self, target: Ref) -> bool:
        """Whether `target` is this node or below it."""
        if self.ref.starts(target):
            return True
        if not self.run or self.place is None or not self.base.starts(target):
            return False
        below = target.steps[len(self.base.steps) :]
        return bool(below) and any(
            self.place.split.parts[at].step == below[0] for at in self.place.live
        )


@dataclass(frozen=True, slots=True)
class Grown:
    """How a text goes on: its parts, after passing through levels with a single one."""

    inside: Place | None
    innermost: View
    through: tuple[Step, ...]


def grow(view: View, shape: Shape) -> Grown:
    """Divide a text until it has several parts."""
    through: list[Step] = []
    while found := split(view.text, shape):
        live = [part for part in found.parts if part.step is not None]
        if len(live) > 1 or (live and len(through) == _MOST_PASSED):
            return Grown(Place(view, found, 0, len(found.parts) - 1), view, tuple(through))
        if not live or _is_same(live[0], view, shape):
            break
        view, shape = view.opened(*live[0].inner, live[0].codec), live[0].shape
        through += [part.step for part in live if part.step]
    return Grown(None, view, tuple(through))


def _is_same(part: Part, view: View, shape: Shape) -> bool:
    """Whether passing into the only part would change nothing."""
    return part.inner == (0, len(view.text)) and part.codec is None and part.shape is shape


def node_id(origin: int, position: int, depth: int) -> int:
    """Number of a piece: by where it begins, the whole before its parts; always the same."""
    return (origin + position) * _DEPTHS + depth


def unfold(node: Node) -> tuple[Node, ...]:
    """The parts of a node's text."""
    if node.inside is None:
        return ()
    return tuple(
        _part(node, node.inside, run[0]) if len(run) == 1 else _run(node, node.inside, run)
        for run in _runs(node.inside.live)
    )


def _runs(live: Sequence[int]) -> Iterator[Sequence[int]]:
    """The parts one by one; more than MOST_CHILDREN in runs of equal length, on few levels."""
    count = len(live)
    levels = 1
    while MOST_CHILDREN**levels < count:
        levels += 1
    width = count if levels == 1 else math.ceil(count ** (1 / levels))
    for at in range(width):
        yield live[at * count // width : (at + 1) * count // width]


def _part(node: Node, place: Place, number: int) -> Node:
    part = place.split.parts[number]
    view = place.view.opened(*part.inner, part.codec)
    shape = part.shape if node.depth < _DEEPEST else Shape.LEAF
    grown = grow(view, shape)
    leaf = grown.inside is None
    step = (part.step,) if part.step else ()
    ref = node.base.below(*step)
    text = grown.innermost if leaf else view
    at = place.view.source(part.start)
    return Node(
        piece=_piece(node, ref, _kind(part, leaf=leaf), text.text, at, divisible=not leaf),
        ref=ref,
        base=ref.below(*named(grown.through)),
        origin=node.origin,
        depth=node.depth + 1,
        slots=node.slots,
        view=text,
        place=Place(place.view, place.split, number, number),
        inside=grown.inside,
        literal=None if leaf and grown.through else part.literal,
        parent=node,
    )


def _kind(part: Part, *, leaf: bool) -> PieceKind:
    """A paragraph that is not divided is a sentence; several sentences are a paragraph."""
    if part.kind is PieceKind.ITEM:
        return part.kind
    return PieceKind.SENTENCE if leaf else PieceKind.PARAGRAPH


def _run(node: Node, place: Place, run: Sequence[int]) -> Node:
    first, last = (place.split.parts[at] for at in (run[0], run[-1]))
    ref = node.base.below(_run_step(first.step, last.step, run, place))
    text = place.view.text[first.start : last.end]
    within = Place(place.view, place.split, run[0], run[-1])
    at = place.view.source(first.start)
    return Node(
        piece=_piece(node, ref, _kind(first, leaf=False), text, at, divisible=True),
        ref=ref,
        base=node.base,
        origin=node.origin,
        depth=node.depth + 1,
        slots=node.slots,
        place=within,
        inside=within,
        run=True,
        parent=node,
    )


def _run_step(first: Step | None, last: Step | None, run: Sequence[int], place: Place) -> Step:
    if isinstance(first, Index) and isinstance(last, Index):
        return Index(first.first, last.first)
    words = {getattr(place.split.parts[at].step, "word", None) for at in run}
    if len(words) == 1 and isinstance(first, Counted) and isinstance(last, Counted):
        return Counted(first.word, first.first, last.first)
    before = sum(part.step is not None for part in place.split.parts[: run[0]])
    return Counted(Word.PART, before + 1, before + len(run))


def _piece(node: Node, ref: Ref, kind: PieceKind, text: str, at: int, *, divisible: bool) -> Piece:
    return replace(
        node.piece,
        id=node_id(node.origin, at, node.depth + 1),
        ref=str(ref),
        kind=kind,
        parent=node.piece.id,
        text=text,
        divisible=divisible,
    )


def named(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps that tell something: names and indices, not “the only paragraph”."""
    return (step for step in steps if not isinstance(step, Counted))
