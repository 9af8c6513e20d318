"""What a document is made of: headed sections, the parts of a context among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from runtape.context import Context
from runtape.context.pieces import Piece, PieceKind
from runtape.reports.sheet import Tone
from runtape.reports.words import piece_words, tokens
from runtape.visible import Shown, visible

_RUN = re.compile(r"(?:\[\d+-\d+\]| \w+ \d+-\d+)\Z")
"""End of the ref of a run of parts, which is no place of its own to a reader."""
LARGE = 200_000
"""Characters from which a text is not taken apart before somebody asks for a place in it."""
_MEMBERS = 400
"""Members shown unfolded within one piece."""
_DEEPEST = 12
"""Levels of members shown as levels."""

Tail = tuple[int, int]


@dataclass(eq=False)
class Section:
    """A heading and what stands under it.

    Attributes:
        key: stable name within its document: what folds are remembered by.
        label: short address in front of the heading, such as ``12.body``.
        title: what it is.
        text: its own text; empty when it only has members.
        members: sections inside it.
        piece: the piece of a context it shows, or None.
        since: the earlier model call it was not part of yet, or None when it was.
        tone: of the text.
        level: depth below the top.
        is_json: whether the text is JSON, to be coloured as such.
        folded: whether only the heading is shown.
        starts_folded: whether it is at first.
        around: the section it is a member of, or None.
    """

    key: str
    label: str = ""
    title: str = ""
    text: str = ""
    members: tuple[Section, ...] = ()
    piece: Piece | None = None
    since: int | None = None
    tone: Tone = Tone.PLAIN
    level: int = 0
    is_json: bool = False
    folded: bool = False
    starts_folded: bool = False
    around: Section | None = None

    def __post_init__(self) -> None:
        self.folded = self.starts_folded
        for member in self.members:
            member.around = self

    @cached_property
    def shown(self) -> Shown:
        """The text, made visible."""
        return visible(self.text)

    @property
    def foldable(self) -> Section:
        """The section to fold when somebody points at this one."""
        here = self
        while here.around is not None and not here.members:
            here = here.around
        return here

    def is_in(self, other: Section) -> bool:
        """Whether it is `other` or inside it."""
        here: Section | None = self
        while here is not None and here is not other:
            here = here.around
        return here is not None

    @property
    def whole(self) -> str:
        """All the text it stands for, as recorded."""
        if self.piece is not None:
            return self.piece.text
        return self.text or "\n".join(member.whole for member in self.members)


class Places:
    """Where pieces stand in the text of one section; found on the way to a piece, and kept."""

    def __init__(self, context: Context, section: Section) -> None:
        self._context = context
        self._text = section.text
        self._top = section.piece
        self._spans: dict[int, Tail | None] = {}
        self._parts: dict[int, tuple[Piece, ...]] = {}

    def span(self, piece: Piece) -> Tail | None:
        """Characters of the section's text that the piece, or the nearest one around it, covers.

        None when the piece is not in the section.
        """
        if self._top is None:
            return None
        if piece.id == self._top.id:
            return (0, len(self._text))
        if piece.parent is None:
            return None
        around = self._context.by_id(piece.parent)
        if piece.id not in self._spans:
            within = self.span(around)
            if within is None:
                return None
            self._find_parts(around, within)
        return self._spans.get(piece.id) or self.span(around)

    def deepest(self, position: int) -> Piece | None:
        """The smallest piece that covers a position of the section's text."""
        piece, span = self._top, (0, len(self._text))
        while piece is not None:
            self._find_parts(piece, span)
            inner = self._part_at(piece, position)
            if inner is None:
                return piece
            piece, span = inner
        return None

    def _part_at(self, piece: Piece, position: int) -> tuple[Piece, Tail] | None:
        for part in self._parts[piece.id]:
            span = self._spans.get(part.id)
            if span is not None and span[0] <= position < span[1]:
                return part, span
        return None

    def _find_parts(self, piece: Piece, within: Tail) -> None:
        if piece.id in self._parts:
            return
        parts = self._context.children(piece) if piece.divisible else ()
        self._parts[piece.id] = parts
        at, end = within
        for part in parts:
            start = self._text.find(part.text, at, end) if part.text else -1
            self._spans[part.id] = None if start < 0 else (start, start + len(part.text))
            at = at if start < 0 else start + len(part.text)


def context_sections(context: Context, since: int | None) -> tuple[Section, ...]:
    """One section per top-level piece; those that entered after model call `since` say so."""
    return tuple(piece_section(context, piece, since) for piece in context.roots)


def piece_section(context: Context, piece: Piece, since: int | None = None) -> Section:
    """The section of a top-level piece, its named members as members."""
    new = since if since is not None and piece.event > since else None
    members = _Outline(context).members(piece, 1) if _may_have_members(piece) else ()
    return Section(
        key=piece.ref,
        label=piece.ref,
        title=piece_words(piece),
        text="" if members else piece.text,
        members=members,
        piece=piece,
        since=new,
        starts_folded=piece.kind is PieceKind.TOOL_DEFINITION,
    )


def _may_have_members(piece: Piece) -> bool:
    if not piece.divisible:
        return False
    return len(piece.text) < LARGE or piece.text.lstrip()[:1] in {"{", "["}


class _Outline:
    """Named members of a piece as sections; runs of members are passed through."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._left = _MEMBERS

    def members(self, piece: Piece, level: int) -> tuple[Section, ...]:
        """The members of a piece, or nothing when its parts are those of a text."""
        if level > _DEEPEST or self._left <= 0:
            return ()
        parts = list(_passed_through(self._context, piece))
        if not parts or not all(_is_member(piece, part) for part in parts):
            return ()
        self._left -= len(parts)
        return tuple(self._member(piece, part, level) for part in parts)

    def _member(self, around: Piece, part: Piece, level: int) -> Section:
        inner = self.members(part, level + 1) if _may_have_members(part) else ()
        return Section(
            key=part.ref,
            label=tail(part.ref, around.ref),
            text="" if inner else part.text,
            members=inner,
            piece=part,
            level=level,
        )


def _passed_through(context: Context, piece: Piece) -> Iterator[Piece]:
    for part in context.children(piece):
        if part.divisible and _RUN.search(part.ref):
            yield from _passed_through(context, part)
        else:
            yield part


def _is_member(around: Piece, part: Piece) -> bool:
    return tail(part.ref, around.ref)[:1] in {".", "["}


def body_lines(section: Section) -> Iterator[str]:
    """What stands under the heading of a section, as plain text, members with their labels."""
    if not section.members:
        yield from section.text.split("\n")
        return
    for member in section.members:
        margin = "  " * (member.level - section.level - 1)
        label = f"{margin}{member.label.strip()}"
        lines = list(body_lines(member))
        if not member.members and len(lines) == 1:
            yield f"{label}  {lines[0]}"
        else:
            yield label
            yield from (f"{margin}  {line}" for line in lines)


def tail(ref: str, around: str) -> str:
    """What a ref adds to that of the piece around it; the whole ref when it does not start so."""
    return ref[len(around) :].lstrip() if ref.startswith(around) and ref != around else ref


def size_words(section: Section) -> str:
    """How long it is, in words."""
    return f"{tokens(len(section.whole))} chars"
