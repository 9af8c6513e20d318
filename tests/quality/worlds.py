"""Simulated worlds: a context tree, what causes the decision, and dice in place of a model.

What every world has, unless its builder says otherwise:

- `pieces` top-level pieces. Number 0 is the system prompt and 1 the user's message (given); all
  others were read by tools; the last one is the newest message. System prompt, user's message and
  newest message stand apart.
- Every piece has 2 to 6 paragraphs, each with 2 to 4 sentences, drawn per seed: 12 sentences a
  piece on average.
- Two required inputs: the *task*, one sentence of the user's message (without it the model asks),
  and the *data*, one sentence of a read piece (without it the model repeats the lookup that brought
  this piece). Without a required input the decision is never made.
- Else the decision is made at rate `high` while its cause stands in the context and at rate `low`
  without; runs that do not make it call another tool or answer in words, half and half.
- The cause stands in a read piece other than the one with the data; several causes stand in several
  pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from random import Random

from runtape.attribution.protocol import Change, Reaction, Seen, Wording

_ROOT, _PARA = 12, 4
"""Bits right of the root's and of the paragraph's number in a piece number."""

Present = Callable[[int], bool]
"""Whether a sentence still stands in the changed context."""


@dataclass
class World:
    """A tree as the search sees it, and the truth behind it.

    Attributes:
        shape: for each piece, the number of sentences of each paragraph.
        rate: probability of the decision, from which sentences are present.
        answers: what an exact headline may be; empty where nothing is a cause.
        task, data: the required sentences; None where the world has none.
        breaks: share of the read sentences beyond whose loss the model only says that it cannot go
            on; over 1: it always can.
        otherwise: what the model does when it does not decide so; None: another call or words, by
            chance.
        muddle: share of runs in which the model does not show that it misses an input.
        touch: any removal at all makes the decision rarer by up to this share.
    """

    shape: tuple[tuple[int, ...], ...]
    rate: Callable[[Present], float]
    answers: frozenset[frozenset[int]] = frozenset()
    task: int | None = None
    data: int | None = None
    breaks: float = 2.0
    otherwise: Reaction | None = None
    muddle: float = 0.0
    touch: float = 0.0

    # ── the tree ─────────────────────────────────────────────────────────────────────────────────

    @property
    def roots(self) -> tuple[int, ...]:
        return tuple(r << _ROOT for r in range(len(self.shape)))

    def children(self, piece: int) -> tuple[int, ...]:
        root, para, sentence = _split(piece)
        if sentence:
            return ()
        if para:
            return tuple(piece + s for s in range(1, self.shape[root][para - 1] + 1))
        return tuple(piece + (p << _PARA) for p in range(1, len(self.shape[root]) + 1))

    def given(self, piece: int) -> bool:
        return _split(piece)[0] < 2

    def read(self, piece: int) -> bool:
        return not self.given(piece)

    def aside(self, piece: int) -> bool:  # noqa: ARG002 - no such pieces here
        return False

    def apart(self, piece: int) -> bool:
        return _split(piece)[0] in (0, 1, len(self.shape) - 1)

    def size(self, piece: int) -> int:
        return 80 * max(1, sum(1 for _ in self.leaves(piece)))

    def leaves(self, piece: int) -> Iterator[int]:
        """The sentences of a piece."""
        parts = self.children(piece)
        if not parts:
            yield piece
        for part in parts:
            yield from self.leaves(part)

    # ── the model ────────────────────────────────────────────────────────────────────────────────

    def matters(self, piece: int) -> bool:
        """Whether a piece holds, or is, a sentence that causes the decision or is required."""
        relevant = {self.task, self.data}.union(*self.answers)
        return any(leaf in relevant for leaf in self.leaves(piece))

    def answer(self, change: Change, rng: Random) -> Seen:
        """One run of the changed context."""
        gone = change.pieces
        if change.wording is Wording.QUOTE:  # disarms an instruction, keeps an input
            gone -= {self.task, self.data}

        def present(leaf: int) -> bool:
            return gone.isdisjoint((leaf, leaf >> _PARA << _PARA, leaf >> _ROOT << _ROOT))

        if self.task is not None and not present(self.task):
            return Seen(Reaction.OTHER_CALL if rng.random() < self.muddle else Reaction.STOPS)
        if self.breaks <= 1 and self._lost(present) > self.breaks:
            return Seen(Reaction.STOPS)
        if self.data is not None and not present(self.data):
            if rng.random() < self.muddle:
                return self._something_else(rng)
            return Seen(Reaction.LOOKUP, lookup=self.data >> _ROOT << _ROOT)
        if rng.random() < self.rate(present) * (1 - self._touched(gone)):
            return Seen(Reaction.SAME)
        return self._something_else(rng)

    def _touched(self, gone: frozenset[int]) -> float:
        """How far the loss of just these texts moves the model, for no reason."""
        if not gone or not self.touch:
            return 0.0
        return self.touch * Random(str(sorted(gone))).random()

    def _something_else(self, rng: Random) -> Seen:
        if self.otherwise is not None:
            return Seen(self.otherwise)
        return Seen(Reaction.OTHER_CALL if rng.random() < 0.5 else Reaction.STOPS)

    @cached_property
    def _read(self) -> list[int]:
        return [leaf for root in self.roots[2:] for leaf in self.leaves(root)]

    def _lost(self, present: Present) -> float:
        return sum(not present(leaf) for leaf in self._read) / len(self._read)


def _split(piece: int) -> tuple[int, int, int]:
    return piece >> _ROOT, piece >> _PARA & 255, piece & 15


def _shape(pieces: int, rng: Random) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(rng.randint(2, 4) for _ in range(rng.randint(2, 6))) for _ in range(pieces))


def _sentence(world: World, piece: int, rng: Random) -> int:
    return rng.choice(list(world.leaves(piece)))


def _furnished(pieces: int, rng: Random) -> tuple[World, Iterator[int]]:
    """A world with its two required inputs, and read pieces without data in random order."""
    world = World(_shape(pieces, rng), lambda _: 1.0)
    read = list(world.roots[2:])
    rng.shuffle(read)
    world.task = _sentence(world, world.roots[1], rng)
    world.data = _sentence(world, read.pop(), rng)
    return world, iter(read)


def single(pieces: int, high: float, low: float, rng: Random) -> World:
    """One sentence causes the decision."""
    return all_of(1, pieces, high, low, rng)


def muddled(pieces: int, high: float, low: float, rng: Random) -> World:
    """One cause, and a model that in three runs of ten does not show which input it misses."""
    world = single(pieces, high, low, rng)
    world.muddle = 0.3
    return world


def touchy(pieces: int, high: float, low: float, rng: Random) -> World:
    """One cause, and a model that any removal at all moves by up to a fifth."""
    world = single(pieces, high, low, rng)
    world.touch = 0.2
    return world


def touchy_without_cause(pieces: int, rate: float, rng: Random) -> World:
    """No cause, two required inputs, and a model that any removal moves by up to a fifth."""
    world = only_required(pieces, rate, 0.0, rng)
    world.touch = 0.2
    return world


def steady(pieces: int, rng: Random) -> World:
    """One cause, at temperature 0: what happens instead is the same in every run."""
    world = single(pieces, 1.0, 0.0, rng)
    world.otherwise = rng.choice((Reaction.OTHER_CALL, Reaction.STOPS))
    return world


def any_of(causes: int, pieces: int, high: float, low: float, rng: Random) -> World:
    """OR: each of several sentences, in different pieces, is enough; the set is the answer."""
    world, read = _furnished(pieces, rng)
    wanted = [_sentence(world, piece, rng) for piece in islice(read, causes)]
    world.rate = lambda present: high if any(map(present, wanted)) else low
    world.answers = frozenset((frozenset(wanted),))
    return world


def all_of(causes: int, pieces: int, high: float, low: float, rng: Random) -> World:
    """AND: several sentences, in different pieces, are all needed; each is an exact headline."""
    world, read = _furnished(pieces, rng)
    wanted = [_sentence(world, piece, rng) for piece in islice(read, causes)]
    world.rate = lambda present: high if all(map(present, wanted)) else low
    world.answers = frozenset(frozenset((leaf,)) for leaf in wanted)
    return world


def masked(pieces: int, high: float, low: float, rng: Random) -> World:
    """The cause overrules a restraint in another paragraph: without both, nothing changes."""
    world, read = _furnished(pieces, rng)
    first, second = rng.sample(world.children(next(read)), 2)
    return _restrained(
        world, _sentence(world, first, rng), _sentence(world, second, rng), high, low
    )


def masked_close(pieces: int, high: float, low: float, rng: Random) -> World:
    """As masked, with the restraint in the same paragraph."""
    world, read = _furnished(pieces, rng)
    paragraph = rng.choice(world.children(next(read)))
    return _restrained(world, *rng.sample(world.children(paragraph), 2), high, low)


def _restrained(world: World, cause: int, restraint: int, high: float, low: float) -> World:
    world.rate = lambda present: high if present(cause) or not present(restraint) else low
    world.answers = frozenset((frozenset((cause,)),))
    return world


def beside(pieces: int, high: float, low: float, rng: Random) -> World:
    """The cause stands in the piece with the data: without the piece, the lookup is repeated."""
    world, _ = _furnished(pieces, rng)
    assert world.data is not None
    root = world.data >> _ROOT << _ROOT
    cause = rng.choice([leaf for leaf in world.leaves(root) if leaf != world.data])
    world.rate = lambda present: high if present(cause) else low
    world.answers = frozenset((frozenset((cause,)),))
    return world


def twice(pieces: int, high: float, low: float, rng: Random) -> World:
    """OR of two sentences in different paragraphs of one piece."""
    world, read = _furnished(pieces, rng)
    wanted = [_sentence(world, p, rng) for p in rng.sample(world.children(next(read)), 2)]
    world.rate = lambda present: high if any(map(present, wanted)) else low
    world.answers = frozenset((frozenset(wanted),))
    return world


def fragile(pieces: int, breaks: float, rng: Random) -> World:
    """One cause 1→0, and a model that cannot go on without `breaks` of what was read."""
    world = single(pieces, 1.0, 0.0, rng)
    world.breaks = breaks
    return world


def gutted(pieces: int, high: float, rng: Random) -> World:
    """No cause, two required inputs; the model cannot go on without half of what was read."""
    world, _ = _furnished(pieces, rng)
    world.rate = lambda _: high
    world.breaks = 0.5
    return world


def long(pieces: int, paragraphs: int, rng: Random) -> World:
    """One cause 1→0, in a piece of so many paragraphs that holds the data as well."""
    world, _ = _furnished(pieces, rng)
    assert world.data is not None
    root = world.data >> _ROOT
    shape = list(world.shape)
    shape[root] = tuple(rng.randint(2, 4) for _ in range(paragraphs))
    world.shape = tuple(shape)
    cause = rng.choice([leaf for leaf in world.leaves(root << _ROOT) if leaf != world.data])
    world.rate = lambda present: 1.0 if present(cause) else 0.0
    world.answers = frozenset((frozenset((cause,)),))
    return world


def null(pieces: int, rate: float, rng: Random) -> World:
    """Nothing in the context matters: whatever is claimed is a false alarm."""
    return World(_shape(pieces, rng), lambda _: rate)


def only_required(pieces: int, rate: float, muddle: float, rng: Random) -> World:
    """Two required inputs and no cause."""
    world, _ = _furnished(pieces, rng)
    world.muddle = muddle
    world.rate = lambda _: rate
    return world
