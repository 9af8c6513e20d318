"""What screens ask of the app they run in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

from textual.screen import Screen

from runtape_tui.actions import Action, Scope
from runtape_tui.keymap import Keymap


class Host(Protocol):
    """The app, as its screens see it."""

    keymap: Keymap

    def hints(self, *scopes: Scope) -> Sequence[tuple[str, Action]]:
        """Keys to show at the bottom, with their actions."""

    def copy_text(self, text: str) -> None:
        """Copy a text, after asking when it holds control or hidden characters."""


def host(screen: Screen[Any]) -> Host:
    """The app of a screen."""
    return cast("Host", screen.app)
