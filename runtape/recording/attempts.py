"""Which requests are one logical call: an SDK that retries sends the same bytes again."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import dataclass

_REMEMBERED = 64
"""Failed calls that may still be tried again; older ones are forgotten."""
_RETRIED = frozenset((408, 409, 429))
"""Besides 5xx, the statuses after which SDKs try again."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request of a logical call.

    Attributes:
        call: number of the logical call within the run, from 1.
        number: which attempt of that call it is, from 1.
    """

    call: int
    number: int


class Attempts:
    """Numbers the attempts of a run. A retry has a failed attempt's key: strand, path and body."""

    def __init__(self) -> None:
        self._calls = itertools.count(1)
        self._failed: dict[Hashable, list[Attempt]] = {}

    def start(self, key: Hashable, retries: int | None) -> Attempt:
        """The attempt a request is; `retries` as the SDK counts them, None when it does not say."""
        failed = self._failed.get(key, [])
        for earlier in reversed(failed):
            if retries is None or earlier.number == retries:
                failed.remove(earlier)
                return Attempt(earlier.call, earlier.number + 1)
        return Attempt(next(self._calls), (retries or 0) + 1)

    def failed(self, key: Hashable, attempt: Attempt) -> None:
        """Note that an attempt failed in a way that SDKs try again."""
        self._failed.setdefault(key, []).append(attempt)
        while len(self._failed) > _REMEMBERED:
            self._failed.pop(next(iter(self._failed)), None)


def tried_again(status: int | None) -> bool:
    """Whether SDKs try again after a response with this status; None means no response at all."""
    return status is None or status in _RETRIED or status >= 500  # noqa: PLR2004 - HTTP: 5xx
