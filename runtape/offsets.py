"""Positions in a derived text and where they come from in its source."""

from __future__ import annotations

from bisect import bisect_right


class OffsetMap:
    """A piecewise map from positions in a derived text to positions in its source.

    Between two anchors a position advances with its source; inside a replacement that is longer
    than its source it stays at the source's end. Costs two anchors per change, not one per
    character, and a lookup is a binary search.

    Args:
        anchors: (derived, source) pairs, both ascending, at which the two stop running in step.
    """

    __slots__ = ("_derived", "_source")

    def __init__(self, anchors: list[tuple[int, int]]) -> None:
        self._derived = [0, *(derived for derived, _ in anchors)]
        self._source = [0, *(source for _, source in anchors)]

    def source(self, position: int) -> int:
        """Position in the source for a position in the derived text."""
        at = bisect_right(self._derived, position) - 1
        moved = self._source[at] + position - self._derived[at]
        if at + 1 < len(self._source):
            return min(moved, self._source[at + 1])
        return moved

    def derived(self, position: int) -> int:
        """Position in the derived text for a position in the source."""
        at = bisect_right(self._source, position) - 1
        moved = self._derived[at] + position - self._source[at]
        if at + 1 < len(self._derived):
            return min(moved, self._derived[at + 1])
        return moved
