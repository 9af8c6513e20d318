"""The seam between the search and the world it searches.

The search is sequential code: a generator that yields batches of :class:`Ask` and receives what was
seen. It knows piece numbers and a tree, no model, no text and no screen. The driver answers batches
from a real model; the quality suite answers them with a random-number generator.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeAlias

from runtape.attribution.facts import Mode, Phase, PieceState, Role, Verdict
from runtape.trials import Tally


class Wording(Enum):
    """How the text of a piece is taken out of play."""

    REMOVE = "remove"
    """Cut, or replaced by the fill where nothing may be left out."""
    OTHER_FILL = "other_fill"
    """Like REMOVE with another fill: does the marker itself matter?"""
    QUOTE = "quote"
    """Kept, but quoted as data that is no instruction."""


@dataclass(frozen=True, slots=True)
class Change:
    """A changed context: these pieces taken out of play. Equal changes are the same variant.

    A piece and its parts may be listed together; the outermost wins. Empty: the unchanged context.
    """

    pieces: frozenset[int] = frozenset()
    wording: Wording = Wording.REMOVE


@dataclass(frozen=True, slots=True)
class Ask:
    """Run the context with this change `runs` more times."""

    change: Change
    runs: int


class Reaction(Enum):
    """What the model did in one run, as far as the search cares."""

    SAME = "same"
    OTHER_CALL = "other_call"
    """Another tool call that is no repeated lookup."""
    LOOKUP = "lookup"
    """Repeats a call whose result stands (or stood) in the context: same tool, same arguments."""
    STOPS = "stops"
    """Answers, stops or asks, in words."""
    NO_ANSWER = "no_answer"
    """Cut, refused, empty: neither same nor a sensible alternative."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One run's outcome.

    Attributes:
        reaction: what the model did.
        lookup: for LOOKUP, the root piece holding the result of the repeated call.
        label: anything hashable that tells outcomes apart when counting what happens instead.
    """

    reaction: Reaction
    lookup: int | None = None
    label: Hashable = None

    @property
    def same(self) -> bool:
        """Whether the decision was made again."""
        return self.reaction is Reaction.SAME


Batch: TypeAlias = tuple[Ask, ...]
Answers: TypeAlias = list[list[Seen]]
"""For each ask of the batch, in order, what was seen: at most `runs`, fewer when calls failed or
the budget ended."""


class Tree(Protocol):
    """The piece tree as the search sees it; numbers are the ids of its pieces."""

    @property
    def roots(self) -> tuple[int, ...]:
        """Top-level pieces in reading order: the newest message, then tool definitions, last."""

    def children(self, piece: int) -> tuple[int, ...]:
        """Parts in reading order; empty at a leaf."""

    def given(self, piece: int) -> bool:
        """Whether it stands in text that was given (system, user) rather than read."""

    def apart(self, piece: int) -> bool:
        """Whether it is kept out of groups: the system prompt, first user text, newest message."""

    def aside(self, piece: int) -> bool:
        """Whether it seldom decides anything: a tool's definition, arguments of an earlier call."""

    def read(self, piece: int) -> bool:
        """Whether it was read by a tool (in a tool result)."""

    def size(self, piece: int) -> int:
        """Characters, for ordering and for length-matched choices."""


@dataclass(frozen=True, slots=True)
class PhaseNote:
    """Another phase begins."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class BaselineNote:
    """The baseline moved, or was frozen (`mode` set)."""

    tally: Tally
    mode: Mode | None = None
    level: float | None = None
    slots: int | None = None


@dataclass(frozen=True, slots=True)
class StateNote:
    """A piece changed its state."""

    piece: int
    state: PieceState


@dataclass(frozen=True, slots=True)
class UnfoldNote:
    """The search looks into a piece."""

    piece: int


@dataclass(frozen=True, slots=True)
class ClaimNote:
    """A claim was settled (description may follow)."""

    claim: Claim


NOISY_ENDPOINT = "noisy_endpoint"
"""Code of the warning after which nothing seen so far counts: temperature 0 was none."""


@dataclass(frozen=True, slots=True)
class WarningNote:
    """Something the user should know, as a code and numbers."""

    code: str
    numbers: dict[str, float] = field(default_factory=dict)


Note: TypeAlias = PhaseNote | BaselineNote | StateNote | UnfoldNote | ClaimNote | WarningNote


@dataclass(frozen=True, slots=True)
class Claim:
    """A piece or set the search stands for.

    Attributes:
        change: the tested change; its pieces are the claimed ones.
        role: what they do.
        headline: whether this answers the question.
        without: all runs of exactly this change.
        p: one-sided Fisher p of all runs, None at temperature 0.
        level: the level it had to reach.
        claimed_at: tally and p at the look that settled it.
        narrowed: (piece, tally) from the whole piece down to the claimed part.
        rechecks: (wording, tally) of the same pieces taken out another way.
        enough_alone: skeleton plus only these pieces, or None.
    """

    change: Change
    role: Role
    headline: bool
    without: Tally
    p: float | None
    level: float | None
    claimed_at: Tally
    claimed_p: float | None
    narrowed: tuple[tuple[int, Tally], ...] = ()
    rechecks: tuple[tuple[Wording, Tally], ...] = ()
    enough_alone: Tally | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a finished (or stopped) search knows."""

    verdict: Verdict
    mode: Mode | None
    baseline: Tally
    claims: tuple[Claim, ...]
    states: dict[int, PieceState]
    tallies: dict[int, Tally]
    warnings: tuple[WarningNote, ...] = ()
    level: float | None = None
    slots: int | None = None


Search: TypeAlias = Generator[Batch | Note, Answers | None, SearchResult]
"""Yields batches (receives answers) and notes (receives None). Closing it early is allowed at any
yield; `interrupt`-ed searches are asked for their partial result through the object that made
them."""
