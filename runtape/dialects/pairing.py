"""Keeping tool calls and their results together in a flat list of messages or items."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from runtape.jsonio import Json


def paired(
    items: list[Any],
    *,
    called: Callable[[Json], Iterable[str]],
    answered: Callable[[Json], str | None],
    stand_in: Callable[[Json, str], Json | None],
) -> list[Any]:
    """Drop results whose call is gone and put a stand-in behind a call whose result is gone.

    `called` names the ids an item calls, `answered` the id it answers; `stand_in` makes the result for a
    call of an item (None: leave it open). The same list when every call has its result.
    """
    known: set[str] = set()
    last_answer: dict[str, int] = {}
    for index, item in _objects(items):
        if (answer := answered(item)) is not None:
            last_answer[answer] = index
    result: list[Any] = []
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            result.append(item)
            continue
        answer = answered(item)
        if answer is not None and answer not in known:
            continue
        result.append(item)
        ids = list(called(item))
        known.update(ids)
        open_ids = [call for call in ids if last_answer.get(call, -1) < index]
        result += [made for call in open_ids if (made := stand_in(item, call)) is not None]
    same = len(result) == len(items) and all(a is b for a, b in zip(items, result, strict=True))
    return items if same else result


def _objects(items: list[Any]) -> Iterable[tuple[int, Json]]:
    return ((i, item) for i, item in enumerate(items) if isinstance(item, dict))
