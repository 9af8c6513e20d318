"""Keeping tool calls and their results together in a flat list of messages or items."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from runtape.dialects.paths import entries, unless_same
from runtape.jsonio import Json


def paired(
    items: list[Any],
    *,
    called: Callable[[Json], Iterable[str]],
    answered: Callable[[Json], str | None],
    stand_in: Callable[[Json, str], Json],
) -> list[Any]:
    """Drop results whose call is gone; put a stand-in behind a call whose result is gone.

    `called` names the ids an item calls, `answered` the id it answers, `stand_in` makes the result
    for a call of an item. The same list when every call has its result.
    """
    answers = ((answered(item), index) for index, item in entries(items))
    last_answer = {call: index for call, index in answers if call is not None}
    known: set[str] = set()
    result: list[Any] = []
    for index, item in enumerate(items):
        answer = answered(item) if isinstance(item, dict) else None
        if answer is not None and answer not in known:
            continue
        result.append(item)
        ids = list(called(item)) if isinstance(item, dict) else []
        known.update(ids)
        result += [stand_in(item, call) for call in ids if last_answer.get(call, -1) < index]
    return unless_same(items, result)
