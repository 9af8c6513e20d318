"""The bench: cells of a table, each one request of one place, that fill up with judged replies."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from runtape.attribution.sampling import Place, Sample, draw
from runtape.decision import Outcome
from runtape.errors import ModelError
from runtape.jsonio import Json
from runtape.models.scheduler import Job
from runtape.trials import Tally


@dataclass(slots=True)
class Cell:
    """Runs of one request.

    Attributes:
        place: whose context it is made of, and who answers.
        body: the request.
        counts: whether an outcome is the decision of this place again.
        told: called after each reply.
        outcomes: what was seen, as it arrived.
        error: why it could not be run to the end.
    """

    place: Place
    body: Json
    counts: Callable[[Outcome], bool]
    told: Callable[[], None]
    outcomes: list[Outcome] = field(default_factory=list)
    error: ModelError | None = None

    @property
    def tally(self) -> Tally:
        """How often the decision came."""
        return Tally(sum(map(self.counts, self.outcomes)), len(self.outcomes))

    def ways(self, *, others: bool = False) -> tuple[tuple[Outcome, int], ...]:
        """Outcomes, most frequent first; with `others` only what came in place of the decision."""
        seen = (o for o in self.outcomes if not (others and self.counts(o)))
        return tuple(Counter(seen).most_common())

    async def fill(self, runs: int) -> None:
        """Run it up to `runs` times in all. A failing model is noted, not raised."""

        def arrived(_: int, sample: Sample) -> None:
            self.outcomes.append(sample.outcome)
            self.told()

        missing = runs - len(self.outcomes)
        if missing <= 0:
            return
        try:
            await draw(self.place.gate, [Job(self.body, missing)], arrived)
        except ModelError as error:
            self.error = error


async def fill(cells: Sequence[tuple[Cell, int]]) -> None:
    """Fill cells up to so many runs each, all at once; whoever cancels this cancels all of them."""
    tasks = [asyncio.ensure_future(cell.fill(runs)) for cell, runs in cells]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
