"""One seeded investigation of one world, by the real procedure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from runtape.attribution.facts import Phase, Role, Verdict
from runtape.attribution.protocol import Answers, Batch, Claim, PhaseNote, SearchResult
from runtape.attribution.search import Procedure, SearchOptions
from tests.quality.worlds import World

Builder: TypeAlias = Callable[[Random], World]


@dataclass(frozen=True, slots=True)
class Trial:
    """What one investigation found and cost.

    Attributes:
        calls, rounds: until the verdict, before anything is described for display.
        total: calls with the description.
        exact: whether the headline is the very sentence or set.
        headline: whether there is one at all.
        stray: whether some text is claimed that does nothing.
    """

    verdict: Verdict
    exact: bool
    headline: bool
    stray: bool
    calls: int
    rounds: int
    total: int
    result: SearchResult | None
    world: World | None


def investigate(build: Builder, seed: int, options: SearchOptions | None = None) -> Trial:
    """Build the world of this seed and search it, within the budget."""
    rng = Random(seed)
    world = build(rng)
    options = options or SearchOptions()
    procedure = Procedure(world, options)
    search = procedure.run()
    calls = rounds = 0
    cost: tuple[int, int] | None = None
    answers: Answers | None = None
    while True:
        try:
            event = search.send(answers)
        except StopIteration as stop:
            result: SearchResult = stop.value
            break
        answers = None
        if isinstance(event, PhaseNote) and event.phase is Phase.DESCRIBE:
            cost = (calls, rounds)
        if not isinstance(event, tuple):
            continue
        if calls >= options.budget:
            search.close()
            result = procedure.partial(Verdict.BUDGET_SPENT)
            break
        answers = _answer(world, event, rng, options.budget - calls)
        calls += sum(map(len, answers))
        rounds += 1
    until = cost or (calls, rounds)
    found = {c.change.pieces for c in result.claims if c.headline}
    return Trial(
        verdict=result.verdict,
        exact=bool(found) and found <= world.answers,
        headline=bool(found),
        stray=any(_is_stray(world, claim) for claim in result.claims),
        calls=until[0],
        rounds=until[1],
        total=calls,
        result=result,
        world=world,
    )


def _is_stray(world: World, claim: Claim) -> bool:
    """Whether part of what is claimed does nothing; a diffuse claim says no more than how much."""
    return claim.role is not Role.DIFFUSE and not all(map(world.matters, claim.change.pieces))


def _answer(world: World, batch: Batch, rng: Random, room: int) -> Answers:
    answers: Answers = []
    for ask in batch:
        runs = min(ask.runs, room)
        room -= runs
        answers.append([world.answer(ask.change, rng) for _ in range(runs)])
    return answers
