"""Planted chains: worlds in a row, each a decision whose cause was brought by the next one.

The real walk (:mod:`runtape.attribution.chain`) goes back over them, the real procedure searches
each of them, and one budget is shared by all. What a world has beside those of
:mod:`tests.quality.worlds`:

- Half of the earlier decisions were made with words of the model's own before them. These carry the
  cause forward: the decision is made as long as the cause *or* the words stand there. Upstream they
  are masked, so that the cause shows.
- The cause of each decision stands in one read piece; the next world is the decision that brought
  this piece. Whoever blames another piece goes on to a decision without any cause.
- The last decision needs the user's message and has no cause: there the chain ends. In a chain-free
  world that is the decision right behind the final one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from random import Random

from runtape.attribution.chain import Answer, Check, Finding, Look, Nature, Trail, walk_back
from runtape.attribution.chain_facts import ChainEnd
from runtape.attribution.facts import Role, Verdict
from runtape.attribution.protocol import Change, Reaction, Seen
from runtape.attribution.search import SearchOptions
from tests.quality import worlds
from tests.quality.table import Row
from tests.quality.trial import Trial, investigate
from tests.quality.worlds import World

_USER = 1
"""Number of the user's message among the top-level pieces; the system prompt is number 0."""
_ROOT_BITS = 12


@dataclass
class Decision:
    """One recorded decision.

    Attributes:
        world: its context and its model.
        words: the piece with the model's own earlier words, if there is one.
        masked: whether these words are taken out of every run.
    """

    world: World
    words: int | None = None
    masked: bool = False

    # What the search sees: the world, without the masked words.

    @property
    def answers(self) -> frozenset[frozenset[int]]:
        """What an exact headline may be."""
        return self.world.answers

    @property
    def roots(self) -> tuple[int, ...]:
        """The top-level pieces that are searched."""
        return tuple(r for r in self.world.roots if not (self.masked and r == self.words))

    def children(self, piece: int) -> tuple[int, ...]:
        """As in the world."""
        return self.world.children(piece)

    def given(self, piece: int) -> bool:
        """As in the world."""
        return self.world.given(piece)

    def read(self, piece: int) -> bool:
        """The model's own words were not read."""
        return self.world.read(piece) and _root(piece) != self.words

    def apart(self, piece: int) -> bool:
        """As in the world."""
        return self.world.apart(piece)

    def aside(self, piece: int) -> bool:
        """As in the world."""
        return self.world.aside(piece)

    def size(self, piece: int) -> int:
        """As in the world."""
        return self.world.size(piece)

    def matters(self, piece: int) -> bool:
        """As in the world; the model's own words matter where there are any."""
        return self.world.matters(piece) or _root(piece) == self.words

    def answer(self, change: Change, rng: Random) -> Seen:
        """One run, the masked words out of it."""
        gone = {self.words} if self.masked and self.words is not None else set()
        return self.world.answer(Change(change.pieces | gone, change.wording), rng)


def _root(piece: int) -> int:
    return piece >> _ROOT_BITS << _ROOT_BITS


def _caused(pieces: int, high: float, low: float, rng: Random, *, words: bool) -> Decision:
    """A decision with one causing sentence; with `words`, the model's own say it too."""
    world = worlds.single(pieces, high, low, rng)
    ((cause,),) = world.answers
    if not words:
        return Decision(world)
    busy = {_root(cause), _root(world.data or 0)}
    own = rng.choice([root for root in world.roots[2:-1] if root not in busy])
    world.rate = lambda present: high if present(cause) or present(own) else low
    return Decision(world, own)


def _asked_for(pieces: int, rate: float, rng: Random) -> Decision:
    """A decision without a cause, made because the user asked."""
    world = worlds.only_required(pieces, rate, 0.0, rng)
    world.data = None
    world.otherwise = Reaction.STOPS
    return Decision(world)


@dataclass(frozen=True, slots=True)
class Planted:
    """A chain: decisions back in time, the final one first; the last one has no cause."""

    decisions: tuple[Decision, ...]
    rate: float
    pieces: int


def planted(links: int, pieces: int, high: float, low: float, rng: Random) -> Planted:
    """A chain of so many earlier decisions with causes of their own before the user's question."""
    made = [_caused(pieces, high, low, rng, words=False)]
    made += [_caused(pieces, high, low, rng, words=rng.random() < 0.5) for _ in range(links)]
    return Planted((*made, _asked_for(pieces, high, rng)), high, pieces)


def chain_free(pieces: int, high: float, low: float, rng: Random) -> Planted:
    """The final decision has a cause, the one that brought it none: it may depend on nothing."""
    final = _caused(pieces, high, low, rng, words=False)
    behind = _asked_for(pieces, high, rng)
    if rng.random() < 0.5:
        behind = Decision(worlds.null(pieces, high, rng))
    return Planted((final, behind), high, pieces)


class _Walker:
    """Plays a planted chain to the walk, and keeps the score."""

    def __init__(self, chain: Planted, seed: int, options: SearchOptions) -> None:
        self._chain = chain
        self._options = options
        self._rng = Random(seed)
        self._decisions = [chain.decisions[0]]
        self.trials: dict[int, Trial] = {}
        self.calls = self.rounds = self.total = 0

    def walk(self) -> Trail:
        """Go back to an end."""
        first = self._look(Look(0, masked=False))
        assert first is not None
        walk = walk_back(first, 4)
        answer: Answer = None
        while True:
            try:
                step = walk.send(answer)
            except StopIteration as end:
                trail: Trail = end.value
                return trail
            if isinstance(step, Look):
                answer = self._look(step)
            elif isinstance(step, Check):
                answer = None
            else:
                answer = self._step_back(step.hop)

    def _look(self, step: Look) -> Finding | None:
        decision = self._decisions[step.hop]
        if step.masked and decision.words is None:
            return None
        room = self._options.budget - self.total
        if room <= 0:
            return Finding(Verdict.BUDGET_SPENT)
        decision.masked = step.masked
        options = SearchOptions(budget=room, runs=1)
        trial = investigate(lambda _: decision, self._rng.randrange(1 << 30), options)  # type: ignore[arg-type,return-value]
        self.trials[step.hop] = trial
        self.calls, self.rounds = self.total + trial.calls, self.rounds + trial.rounds
        self.total += trial.total
        return _finding(trial, decision)

    def _step_back(self, hop: int) -> ChainEnd | None:
        """The decision behind the blamed piece: the planted one, or one without any cause."""
        decision, trial = self._decisions[hop], self.trials[hop]
        (blamed,) = [c for c in trial.result.claims if c.headline]
        right = {_root(piece) for answer in decision.answers for piece in answer}
        on_the_way = self._chain.decisions[: hop + 1] == tuple(self._decisions)
        if on_the_way and {_root(p) for p in blamed.change.pieces} <= right:
            self._decisions.append(self._chain.decisions[hop + 1])
        else:
            stray = _asked_for(self._chain.pieces, self._chain.rate, self._rng)
            self._decisions.append(stray)
        return None


def _finding(trial: Trial, decision: Decision) -> Finding:
    claims = trial.result.claims
    pieces = [p for c in claims if c.headline for p in c.change.pieces]
    if pieces:
        natures = [_nature(piece, decision) for piece in pieces]
        return Finding(trial.verdict, min(natures, key=lambda n: n is not Nature.LOOKUP))
    needed = [p for c in claims if c.role is Role.REQUIRED for p in c.change.pieces]
    asked = {_nature(p, decision) for p in needed} & {Nature.USER, Nature.SYSTEM}
    if trial.verdict is not Verdict.ONLY_REQUIRED or not asked:
        return Finding(trial.verdict)
    return Finding(trial.verdict, asked=Nature.USER if Nature.USER in asked else Nature.SYSTEM)


def _nature(piece: int, decision: Decision) -> Nature:
    root = _root(piece)
    if root == decision.words:
        return Nature.OWN_WORDS
    if not decision.given(root):
        return Nature.LOOKUP
    return Nature.USER if root >> _ROOT_BITS == _USER else Nature.SYSTEM


@dataclass(frozen=True, slots=True)
class ChainRow(Row):
    """One kind of chain; ``exact``: least share of seeds whose root is found, sentence by sentence.

    ``headlines``: most share of seeds in which a decision is given a cause that has none.
    """

    links: int = 0
    pieces: int = 7
    high: float = 1.0
    low: float = 0.0

    def run(self, seed: int) -> Trial:
        """Walk the chain of this seed."""
        rng = Random(seed)
        build = partial(planted, self.links) if self.links else chain_free
        chain = build(self.pieces, self.high, self.low, rng)
        walker = _Walker(chain, seed, self.options)
        trail = walker.walk()
        hops = range(self.links + 1)
        found = all(n in walker.trials and walker.trials[n].exact for n in hops)
        behind = [t for n, t in walker.trials.items() if n > self.links and t.headline]
        return Trial(
            verdict=walker.trials[0].verdict,
            exact=found and (trail.ended_at, trail.end) == (self.links + 1, ChainEnd.USER_MESSAGE),
            headline=bool(behind),
            stray=any(trial.stray for trial in walker.trials.values()),
            calls=walker.calls,
            rounds=walker.rounds,
            total=walker.total,
            result=walker.trials[0].result,
            world=chain.decisions[0].world,
        )


def _unbuilt(_: Random) -> World:
    raise TypeError("a chain is no single world")


def rows() -> Iterator[Row]:
    """Chains of several lengths and rates, and worlds without one."""
    ample = SearchOptions(budget=800)
    for links, pieces, high, low in (
        (1, 7, 1.0, 0.0),
        (2, 20, 1.0, 0.0),
        (1, 7, 0.9, 0.1),
        (2, 7, 0.9, 0.1),
    ):
        options = SearchOptions() if high == 1.0 else ample
        yield ChainRow(
            f"chain of {links + 1}, {high:g}→{low:g} n {pieces}",
            _unbuilt,
            0.90,
            strays=0.05 * (links + 2),  # α for each hop
            options=options,
            links=links,
            pieces=pieces,
            high=high,
            low=low,
        )
    for high, low in ((1.0, 0.0), (0.9, 0.1)):
        yield ChainRow(
            f"no chain behind it, {high:g}→{low:g}",
            _unbuilt,
            headlines=0.05,
            strays=0.1,
            weight=2,
            options=ample,
            high=high,
            low=low,
        )
