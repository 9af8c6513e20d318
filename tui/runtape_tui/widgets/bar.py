"""A line of text with something at its right end: titles, tabs, status."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content
from textual.widget import Widget

_EMPTY = Content("")


class Bar(Widget):
    """One row: left text, cut where the right text begins."""

    ALLOW_SELECT: ClassVar[bool] = False
    LEFT_FIRST: ClassVar[bool] = False
    """Whether the right text is cut where there is no room for both."""

    DEFAULT_CSS = """
    Bar { height: 1; width: 1fr; padding: 0 1; }
    """

    def __init__(
        self,
        left: Content = _EMPTY,
        right: Content = _EMPTY,
        *,
        id: str | None = None,  # noqa: A002 - their name
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._left, self._right = left, right

    def set(self, left: Content, right: Content = _EMPTY) -> None:
        """Show other texts."""
        if not (left.is_same(self._left) and right.is_same(self._right)):
            self._left, self._right = left, right
            self.refresh()

    @property
    def text(self) -> str:
        """What it says, left and right."""
        return f"{self._left.plain}  {self._right.plain}".strip()

    def render(self) -> Content:
        """Both texts on one row; where there is no room for both, the left one is cut."""
        width = self.content_size.width
        right = self._right.truncate(self._room_right(width), ellipsis=True)
        room = max(0, width - right.cell_length - (1 if right.plain else 0))
        left = self._left.truncate(room, ellipsis=True)
        return left.pad_right(width - left.cell_length - right.cell_length).append(right)

    def _room_right(self, width: int) -> int:
        return max(0, width - self._left.cell_length - 1) if self.LEFT_FIRST else width


class TitleBar(Bar):
    """A bar whose left text matters more than the right one."""

    LEFT_FIRST: ClassVar[bool] = True
