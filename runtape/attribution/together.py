"""Several passes side by side: ordinary sequential code each, one batch a round for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from runtape.attribution.ledger import Steps
from runtape.attribution.protocol import Answers, Ask, Batch, Change, Seen

T = TypeVar("T")


def together(passes: Iterable[Steps[T]]) -> Steps[list[T]]:
    """Run the passes in the same rounds; returns their results in order.

    A round asks for what every pass wants next; passes that have ended no longer take part, so the
    whole takes as many rounds as the longest.
    """
    lanes = [_Lane(steps) for steps in passes]
    for lane in lanes:
        yield from lane.advance(None)
    while wanted := {i: lane.wants for i, lane in enumerate(lanes) if lane.wants is not None}:
        merged = _merge(wanted.values())
        for i, part in _share_out(wanted, merged, (yield merged) or []):
            yield from lanes[i].advance(part)
    return [result for lane in lanes for result in lane.results]


class _Lane(Generic[T]):
    """One pass: the batch it waits for, or its result."""

    def __init__(self, steps: Steps[T]) -> None:
        self._steps = steps
        self.wants: Batch | None = None
        self.results: list[T] = []

    def advance(self, answers: Answers | None) -> Steps[None]:
        """Go on to the next batch or to the end; what is told on the way is passed on."""
        self.wants = None
        try:
            event = self._steps.send(answers)
            while not isinstance(event, tuple):
                yield event
                event = self._steps.send(None)
            self.wants = event
        except StopIteration as end:
            self.results.append(end.value)


def _merge(batches: Iterable[Batch]) -> Batch:
    runs: Counter[Change] = Counter()
    for batch in batches:
        for ask in batch:
            runs[ask.change] += ask.runs
    return tuple(Ask(change, n) for change, n in runs.items())


def _share_out(
    wanted: Mapping[int, Batch], merged: Batch, answers: Answers
) -> Iterator[tuple[int, Answers]]:
    """Give every pass its part; when answers are short, the later passes get less."""
    left: dict[Change, list[Seen]] = {
        ask.change: list(seen) for ask, seen in zip(merged, answers, strict=False)
    }
    for i, batch in wanted.items():
        part: Answers = []
        for ask in batch:
            seen = left.get(ask.change, [])
            part.append(seen[: ask.runs])
            left[ask.change] = seen[ask.runs :]
        yield i, part
