"""Several passes side by side: ordinary sequential code each, one batch a round for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from runtape.attribution.ledger import Steps
from runtape.attribution.protocol import Answers, Ask, Batch, Change, Seen

T = TypeVar("T")


def together(passes: Iterable[Steps[T]]) -> Steps[list[T]]:
    """Run the passes in the same rounds; returns their results in order.

    A round asks for what every pass wants next; passes that have ended no longer take part, so the whole takes
    as many rounds as the longest.
    """
    running = list(passes)
    results: dict[int, T] = {}
    answers: dict[int, Answers | None] = dict.fromkeys(range(len(running)))
    while answers:
        wanted: dict[int, Batch] = {}
        for i, received in answers.items():
            try:
                event = running[i].send(received)
                while not isinstance(event, tuple):
                    yield event
                    event = running[i].send(None)
                wanted[i] = event
            except StopIteration as stop:
                results[i] = stop.value
        answers = {}
        if wanted:
            merged = _merge(wanted.values())
            answers = dict(_share_out(wanted, merged, (yield merged) or []))
    return [results[i] for i in range(len(running))]


def _merge(batches: Iterable[Batch]) -> Batch:
    runs: Counter[Change] = Counter()
    for batch in batches:
        for ask in batch:
            runs[ask.change] += ask.runs
    return tuple(Ask(change, n) for change, n in runs.items())


def _share_out(
    wanted: dict[int, Batch], merged: Batch, answers: Answers
) -> Iterable[tuple[int, Answers]]:
    """Give every pass its part; when answers are short the later passes get less."""
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
