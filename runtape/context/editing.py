"""Carrying edits out: spans of slot texts first, whole blocks next, validity last."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from runtape.context.edits import (
    Edit,
    Quotation,
    Removal,
    Replacement,
    Substitution,
    SystemText,
    filling,
    quoted,
)
from runtape.context.nodes import Node, Place
from runtape.context.substitution import substituted
from runtape.dialects.base import Dialect, JsonPath, Slot, SlotKind
from runtape.dialects.content import parsed_arguments
from runtape.dialects.paths import replaced_at, value_at
from runtape.errors import InvalidEdit
from runtape.jsonio import Json, dumps_text, loads

Patch: TypeAlias = tuple[int, int, str]
"""Characters ``start:end`` of a text, and what takes their place."""


class Draft:
    """A body about to be changed: collects what is to be done to its slots, then does it.

    Args:
        children: the parts of a node.
    """

    def __init__(self, children: Callable[[Node], Sequence[Node]]) -> None:
        self._children = children
        self._slots: dict[JsonPath, Slot] = {}
        self._cuts: dict[JsonPath, dict[int, tuple[Place, set[int]]]] = defaultdict(dict)
        self._patches: dict[JsonPath, list[Patch]] = defaultdict(list)
        self._whole: dict[JsonPath, str | None] = {}
        self._gone: list[JsonPath] = []

    def plan(self, node: Node, edit: Removal | Replacement | Quotation) -> None:
        """Note what an edit does."""
        if isinstance(edit, Removal):
            self._remove(node, filling(edit.fill, len(node.piece.text)))
        elif isinstance(edit, Replacement):
            self._replace(node, edit.text)
        else:
            self._quote(node)

    def carried_out(self, body: Json, dialect: Dialect) -> Json:
        """The changed body; not yet made valid."""
        gone = set(self._gone)
        for path, slot in self._slots.items():
            value = value_at(body, path)
            if path in self._whole:
                value = _whole_value(slot, value, self._whole[path])
            else:
                value = self._patched(value, path)
            if slot.block is not None and isinstance(value, str) and not value.strip():
                gone.add(path)  # an empty block goes as a whole
            else:
                body = replaced_at(body, path, value)
        return dialect.without_all(body, gone) if gone else body

    def _remove(self, node: Node, fill: str) -> None:
        if node.place is not None:
            self._cut(node, node.place)
            return
        rest = list(node.slots)
        if node.depth == 0 or rest[0].kind is SlotKind.TOOL_DEFINITION:
            kept = [slot for slot in rest if slot.kind is not SlotKind.MEDIA]
            if kept and kept[0].kind is not SlotKind.TOOL_DEFINITION:
                kept = kept[:1]
            for slot in kept:
                self._set(slot, None if slot.kind is SlotKind.TOOL_CALL else fill)
            rest = [slot for slot in rest if slot not in kept]
        self._gone += [slot.path for slot in rest]

    def _replace(self, node: Node, text: str) -> None:
        if node.run or len(node.slots) > 1:
            first = self._texts(node)[0]
            self._replace(first, text)
            for other in {*self._children(node)} - {first}:
                self._remove(other, "")
        elif node.view is None:
            raise _no_text(node)
        elif node.place is not None:
            self._put(node, text)
        else:
            self._set(node.slots[0], text)

    def _quote(self, node: Node) -> None:
        if node.run or len(node.slots) > 1:
            for child in self._texts(node):
                self._quote(child)
        else:
            self._replace(node, quoted(node.piece.text))

    def _texts(self, node: Node) -> list[Node]:
        """The parts of a node that are text; raises InvalidEdit when none is."""
        texts = [part for part in self._children(node) if part.view is not None or part.run]
        if not texts:
            raise _no_text(node)
        return texts

    def _cut(self, node: Node, place: Place) -> None:
        path = self._known(node)
        _, numbers = self._cuts[path].setdefault(id(place.split), (place, set()))
        numbers.update(place.numbers)

    def _put(self, node: Node, text: str) -> None:
        place, view = node.place, node.view
        if view is None or place is None:
            return
        start, end, spelled = 0, len(view.text), view.encoded(text)
        if node.literal is not None:
            start, end = place.split.parts[place.first].inner
            view, spelled = place.view, place.view.encoded(node.literal(text))
        self._patches[self._known(node)].append((view.source(start), view.source(end), spelled))

    def _set(self, slot: Slot, text: str | None) -> None:
        self._slots[slot.path] = slot
        self._whole[slot.path] = text

    def _known(self, node: Node) -> JsonPath:
        (slot,) = node.slots
        self._slots[slot.path] = slot
        return slot.path

    def _patched(self, value: Any, path: JsonPath) -> Any:
        patches = list(self._patches.get(path, ()))
        for place, numbers in self._cuts.get(path, {}).values():
            for start, end in place.split.cuts(place.view.text, numbers):
                patches.append((place.view.source(start), place.view.source(end), ""))
        text = value if isinstance(value, str) else dumps_text(value)
        patched = _apply(text, patches)
        return patched if isinstance(value, str) else loads(patched)


def _no_text(node: Node) -> InvalidEdit:
    return InvalidEdit(
        f"{node.ref} is no text and cannot be given another",
        hint="remove it instead",
        ref=str(node.ref),
    )


def _apply(text: str, patches: Sequence[Patch]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, new in sorted(patches):
        parts += (text[done : max(done, start)], new)
        done = max(done, end)
    return "".join((*parts, text[done:]))


def _whole_value(slot: Slot, value: Any, text: str | None) -> Any:
    """The new value of a slot. Arguments of a call stay a JSON object; None empties them."""
    if slot.kind is not SlotKind.TOOL_CALL:
        return text or ""
    if not isinstance(parsed_arguments(value), dict):
        return text or ""
    arguments = parsed_arguments(text)
    if not isinstance(arguments, dict):
        arguments = {"text": text}
    return arguments if isinstance(value, dict) else dumps_text(arguments)


def carry_out(
    body: Json,
    dialect: Dialect,
    edits: Sequence[Edit],
    node_of: Callable[[int], Node],
    children: Callable[[Node], Sequence[Node]],
) -> Json:
    """The body after all edits: pieces (of nested ones the outer wins), then texts, then system."""
    if not edits:
        return body
    draft = Draft(children)
    chosen = {e.piece.id: e for e in edits if isinstance(e, Removal | Replacement | Quotation)}
    for number, edit in chosen.items():
        node = node_of(number)
        if not any(around.piece.id in chosen for around in _around(node)):
            draft.plan(node, edit)
    body = draft.carried_out(body, dialect)
    for change in edits:
        if isinstance(change, Substitution):
            body = substituted(body, dialect, change)
        elif isinstance(change, SystemText):
            body = dialect.with_system(body, change.text, append=change.append)
    return dialect.repaired(body)


def _around(node: Node) -> Iterator[Node]:
    while node.parent is not None:
        node = node.parent
        yield node
