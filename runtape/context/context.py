"""The context of one model call as a tree of pieces, and request bodies with pieces changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from difflib import get_close_matches

from runtape.context.assembly import assemble
from runtape.context.editing import carry_out
from runtape.context.edits import Edit
from runtape.context.nodes import Node, unfold
from runtape.context.origins import Sources, slot_events
from runtape.context.pieces import Piece
from runtape.context.refs import Counted, Ref, parse
from runtape.context.roots import build_roots
from runtape.dialects import dialect_for
from runtape.dialects.base import Dialect
from runtape.errors import RefNotFound
from runtape.jsonio import Json
from runtape.tape.events import Request
from runtape.tape.reader import Tape

_NEAREST = 3
_CANDIDATES = 400


class Context:
    """What one model call saw, as pieces that can be addressed and taken out.

    Attributes:
        request: the recorded call.
        dialect: its API shape.
        body: its body; folded into a stateless one when the server held earlier turns.
    """

    def __init__(
        self, request: Request, dialect: Dialect, body: Json, roots: Sequence[Node]
    ) -> None:
        self.request = request
        self.dialect = dialect
        self.body = body
        self._roots = tuple(roots)
        self._nodes = {
            node.piece.id: node for root in roots for node in (root, *(root.children or ()))
        }

    @property
    def roots(self) -> tuple[Piece, ...]:
        """Top-level pieces in reading order: system, messages, tool definitions last."""
        return tuple(node.piece for node in self._roots)

    def children(self, piece: Piece) -> tuple[Piece, ...]:
        """The parts of a piece in reading order, found out when asked for; empty at a leaf."""
        return tuple(child.piece for child in self._children(self._node(piece.id)))

    def piece(self, ref: str) -> Piece:
        """The piece with this ref; raises RefNotFound, which names the nearest refs."""
        target = parse(ref)
        level, node = self._roots, None
        passed = list(level)
        while found := _next(level, target):
            node = found
            if target in (node.ref, node.base):
                return node.piece
            level = self._children(node)
            passed[:0] = level
        if node is None:
            below = [root for root in self._roots if target.starts(root.ref)]
            if len(below) == 1:
                return below[0].piece
        elif _means(node, target):
            return node.piece
        raise self._not_found(ref, passed)

    def by_id(self, id: int) -> Piece:  # noqa: A002 - pieces have an id
        """The piece with this number; raises KeyError when there is none."""
        return self._node(id).piece

    def edited(self, edits: Sequence[Edit]) -> Json:
        """The body after these edits, valid for its API, every other byte as it was.

        Of nested edits the outer one wins. Raises InvalidEdit when an edit cannot be made.
        """
        return carry_out(self.body, self.dialect, edits, self._node, self._children)

    def _children(self, node: Node) -> tuple[Node, ...]:
        if node.children is None:
            node.children = unfold(node)
            self._nodes.update((child.piece.id, child) for child in node.children)
        return node.children

    def _node(self, number: int) -> Node:
        """The node with a number; nodes nobody asked for yet are unfolded on the way to it."""
        level = self._roots
        while number not in self._nodes:
            at = bisect_right([node.piece.id for node in level], number) - 1
            if at < 0 or not (level := self._children(level[at])):
                raise KeyError(number)
        return self._nodes[number]

    def _not_found(self, ref: str, level: Sequence[Node]) -> RefNotFound:
        known = [str(node.ref) for node in level[:_CANDIDATES]]
        nearest = get_close_matches(ref, known, _NEAREST, cutoff=0)
        return RefNotFound(
            f"this context has no piece {ref}",
            hint=f"nearest: {', '.join(nearest)}" if nearest else "it has no pieces",
            event=self.request.event,
            ref=ref,
        )


def build_context(tape: Tape, request_event: int) -> Context:
    """The context of a model call.

    Raises what :meth:`Tape.request` raises, and IncompleteContext when the body cannot be read or
    the server held parts of it that the tape does not have.
    """
    request = tape.request(request_event)
    dialect = dialect_for(request.api)
    assembled = assemble(tape, request, dialect)
    slots = dialect.slots(assembled.body)
    sources = Sources(tape, request_event)
    events = slot_events(slots, assembled.body, assembled.entered, sources)
    roots = build_roots(assembled.body, dialect, slots, events)
    return Context(request, dialect, assembled.body, roots)


def _next(level: Sequence[Node], target: Ref) -> Node | None:
    return next((node for node in level if node.holds(target)), None)


def _means(node: Node, target: Ref) -> bool:
    """Whether an address below a node is the node: of its only member, or its only paragraph."""
    if target.starts(node.base):
        return True
    rest = target.steps[len((node.base if node.base.starts(target) else node.ref).steps) :]
    return node.inside is None and all(isinstance(s, Counted) and s.first == 1 for s in rest)
