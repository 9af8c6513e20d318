"""Where the reader was: back and forward, as in an editor."""

from __future__ import annotations

_KEPT = 200


class History:
    """Places visited; a jump ends what lay forward."""

    def __init__(self) -> None:
        self._back: list[int] = []
        self._forward: list[int] = []

    def leave(self, place: int) -> None:
        """Note the place a jump starts from."""
        if not self._back or self._back[-1] != place:
            self._back.append(place)
            del self._back[:-_KEPT]
        self._forward.clear()

    def back(self, here: int) -> int | None:
        """The place before; None at the beginning."""
        return _move(self._back, self._forward, here)

    def forward(self, here: int) -> int | None:
        """The place gone back from; None at the end."""
        return _move(self._forward, self._back, here)


def _move(source: list[int], target: list[int], here: int) -> int | None:
    while source:
        place = source.pop()
        if place != here:
            target.append(here)
            return place
    return None
