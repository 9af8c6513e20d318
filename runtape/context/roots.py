"""The top of the piece tree: the slots of a request, those of one message and kind together."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from runtape.context.nodes import Node, grow, named, node_id
from runtape.context.pieces import Piece, PieceKind
from runtape.context.refs import Index, Key, Ref, Step
from runtape.context.splitting import Shape
from runtape.context.splitting.parts import bears
from runtape.context.splitting.views import View
from runtape.dialects.base import Dialect, JsonPath, Slot, SlotKind
from runtape.dialects.paths import value_at
from runtape.jsonio import Json, canonical, dumps_text

_GIVEN = frozenset({SlotKind.SYSTEM, SlotKind.USER, SlotKind.TOOL_DEFINITION})
_SCHEMA_STEPS = frozenset({"function", "custom", "properties"})


@dataclass(frozen=True, slots=True)
class Block:
    """A slot with what is known of it.

    Attributes:
        slot: where it stands.
        event: event its text first entered with.
        text: its text; of an object, as JSON; of media, a short description.
        origin: where it begins when all slots are laid end to end.
    """

    slot: Slot
    event: int
    text: str
    origin: int


def build_roots(
    body: Json, dialect: Dialect, slots: Sequence[Slot], events: Sequence[int]
) -> tuple[Node, ...]:
    """The top-level nodes in reading order; `events`: what each slot's text first entered with."""
    groups = list(_groups(_blocks(body, slots, events)))
    refs = _refs([_base(group) for group in groups])
    calls = _Calls(dialect, body)
    return tuple(
        _root(group, ref, calls.of(group[0].slot)) for group, ref in zip(groups, refs, strict=True)
    )


def slot_text(value: Any, kind: SlotKind) -> str:
    """The text of a slot's value."""
    if kind is SlotKind.MEDIA:
        return _media_text(value)
    return value if isinstance(value, str) else dumps_text(value)


def _media_text(value: Any) -> str:
    """A short description: type and size, never the data."""
    kind = value.get("type", "media") if isinstance(value, dict) else "media"
    return f"[{kind}, {len(dumps_text(value)):,} characters]"


def _blocks(body: Json, slots: Sequence[Slot], events: Sequence[int]) -> Iterator[Block]:
    origin = 0
    for slot, event in zip(slots, events, strict=True):
        text = slot_text(value_at(body, slot.path), slot.kind)
        if slot.kind is not SlotKind.TOOL_CALL or bears(
            text
        ):  # a call without arguments says nothing
            yield Block(slot, event, text, origin)
        origin += len(text) + 1


def _groups(blocks: Iterator[Block]) -> Iterator[list[Block]]:
    """Neighbours that are one message, one result or one tool."""
    group: list[Block] = []
    for block in blocks:
        if group and not _together(group[-1], block):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _together(one: Block, other: Block) -> bool:
    a, b = one.slot, other.slot
    if SlotKind.TOOL_DEFINITION in (a.kind, b.kind):
        return a.kind is b.kind and a.name == b.name and _tool_path(a) == _tool_path(b)
    if a.kind is SlotKind.SYSTEM and a.message is None:
        return b.kind is SlotKind.SYSTEM and b.message is None
    same_kind = a.kind is b.kind or SlotKind.MEDIA in (a.kind, b.kind)
    same_place = a.message is not None and a.message == b.message and a.call_id == b.call_id
    return (
        same_kind and same_place and one.event == other.event and a.kind is not SlotKind.TOOL_CALL
    )


def _tool_path(slot: Slot) -> JsonPath:
    """Path of the tool a definition slot belongs to: up to the index before its own keys."""
    end = 1
    while end < len(slot.path) and not isinstance(slot.path[end], str):
        end += 1
    while slot.path[end : end + 1] == ("tools",):
        end += 2
    return slot.path[:end]


def _base(group: Sequence[Block]) -> Ref:
    slot = group[0].slot
    if slot.kind is SlotKind.SYSTEM:
        return Ref("system")
    if slot.kind is SlotKind.TOOL_DEFINITION:
        return Ref("tools", (Key(slot.name or "unnamed"),))
    return Ref(group[0].event)


def _refs(bases: Sequence[Ref]) -> Iterator[Ref]:
    """Each base made unique: numbered when several pieces came with one event."""
    total, seen = Counter(bases), Counter[Ref]()
    for base in bases:
        at = seen[base]
        seen[base] += 1
        if isinstance(base.root, str) and base.steps:
            yield Ref(base.root, (Key(str(getattr(base.steps[0], "name", "")), at + 1),))
        else:
            yield base if total[base] == 1 else base.below(Index(at))


def _root(group: Sequence[Block], ref: Ref, call: tuple[str, str] | None) -> Node:
    kind = next((b.slot.kind for b in group if b.slot.kind is not SlotKind.MEDIA), SlotKind.MEDIA)
    slot = group[0].slot
    given = kind in _GIVEN or (kind is SlotKind.MEDIA and slot.call_id is None)
    first = group[0]
    piece = Piece(
        id=node_id(first.origin, 0, 0),
        ref=str(ref),
        kind=PieceKind(kind.value),
        event=first.event,
        parent=None,
        text=first.text,
        given=given,
        tool=slot.name,
        call=call,
    )
    is_tool = kind is SlotKind.TOOL_DEFINITION
    refs = list(_definition_refs(ref, group) if is_tool else _block_refs(ref, group))
    if len(group) == 1:
        return _slot_node(piece, refs[0] if is_tool else ref, first, 0)
    return _group_node(piece, ref, group, refs)


def _block_refs(ref: Ref, group: Sequence[Block]) -> Iterator[Ref]:
    return (ref.below(Index(at)) for at in range(len(group)))


def _definition_refs(ref: Ref, group: Sequence[Block]) -> Iterator[Ref]:
    """Refs of a tool's descriptions; a parameter called like a word of the schema is counted on."""
    seen: Counter[Ref] = Counter()
    for block in group:
        *steps, last = _definition_steps(block.slot)
        below = ref.below(*steps)
        seen[below.below(last)] += 1
        name = last.name if isinstance(last, Key) else str(last)
        yield below.below(Key(name, seen[below.below(last)]))


def _group_node(piece: Piece, ref: Ref, group: Sequence[Block], refs: Sequence[Ref]) -> Node:
    piece = replace(piece, text="\n\n".join(block.text for block in group), divisible=True)
    slots = tuple(block.slot for block in group)
    root = Node(piece, ref, ref, group[0].origin, 0, slots)
    children = []
    for block, below in zip(group, refs, strict=True):
        own = replace(
            piece,
            id=node_id(block.origin, 0, 1),
            kind=PieceKind(block.slot.kind.value),
            parent=piece.id,
            text=block.text,
        )
        child = _slot_node(own, below, block, 1)
        child.parent = root
        children.append(child)
    root.children = tuple(children)
    return root


def _slot_node(piece: Piece, ref: Ref, block: Block, depth: int) -> Node:
    """A node for one whole slot."""
    piece = replace(piece, ref=str(ref))
    node = Node(piece, ref, ref, block.origin, depth, (block.slot,))
    if block.slot.kind is SlotKind.MEDIA:
        node.piece = replace(piece, divisible=False)
        return node
    node.view = View(block.text)
    grown = grow(node.view, Shape.TEXT)
    node.inside = grown.inside
    node.base = ref.below(*named(grown.through))
    node.piece = replace(piece, divisible=grown.inside is not None)
    return node


def _definition_steps(slot: Slot) -> Iterator[Step]:
    """Steps from a tool to one of its descriptions: the schema's own keys are left out."""
    path = slot.path[len(_tool_path(slot)) :]
    named_property = False
    for step in path:
        if isinstance(step, int):
            yield Index(step)
        elif named_property or step not in _SCHEMA_STEPS:
            yield Key("parameters" if step == "input_schema" else step)
        named_property = step == "properties" and not named_property


class _Calls:
    """(name, canonical arguments) of the call that each tool result answers."""

    def __init__(self, dialect: Dialect, body: Json) -> None:
        self._by_id: dict[str | None, deque[tuple[str, str]]] = defaultdict(deque)
        for call in dialect.tool_calls(body):
            made = (call.name, canonical(call.arguments).decode())
            self._by_id[call.id].append(made)

    def of(self, slot: Slot) -> tuple[str, str] | None:
        """The call behind a slot; ids used again are answered in order."""
        if slot.kind is not SlotKind.TOOL_RESULT and not (
            slot.kind is SlotKind.MEDIA and slot.call_id
        ):
            return None
        calls = self._by_id.get(slot.call_id)
        if not calls:
            return None
        return calls.popleft() if len(calls) > 1 else calls[0]
