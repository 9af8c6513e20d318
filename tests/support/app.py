"""Driving the real app without a terminal: keys in, the screen as plain text out."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.worker import WorkerState

from runtape.settings import Settings
from runtape_tui.app import RuntapeApp

_PATIENCE = 600
"""Looks, of at least 10 ms each, after which waiting for the app is given up."""

_SCROLL_BAR = re.compile("[▁-▇]")
Play = Callable[[RuntapeApp, Pilot[None]], Awaitable[Any]]


def play(
    trace: Path | None,
    script: Play,
    *,
    size: tuple[int, int] = (120, 30),
    settings: Settings | None = None,
    **more: Any,
) -> Any:
    """Run the app on a trace, let `script` act on it, and return what that returns."""

    async def run() -> Any:
        app = RuntapeApp(trace, settings=settings, **more)
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            return await script(app, pilot)

    return asyncio.run(run())


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys one after the other, each time waiting for what it leads to."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


async def type_text(pilot: Pilot[None], text: str) -> None:
    """Type into the line at the bottom and press enter."""
    for character in text:
        await pilot.press(_NAMES.get(character, character))
    await press(pilot, "enter")


_NAMES = {" ": "space", ".": "full_stop", ":": "colon", "-": "minus", "#": "number_sign"}


async def settle(pilot: Pilot[None]) -> None:
    """Wait until nothing is being loaded and everything is drawn."""
    await pilot.pause()
    for _ in range(_PATIENCE):
        if not _busy(pilot.app):
            return
        await asyncio.sleep(0.01)
        if not _busy(pilot.app):
            await pilot.pause()


def _busy(app: Any) -> bool:
    if getattr(app.screen, "is_loading_soon", False):
        return True
    return any(w.state in {WorkerState.PENDING, WorkerState.RUNNING} for w in app.workers)


def picture(app: RuntapeApp) -> str:
    """The screen as plain text, without scroll bars and blanks at the ends of lines."""
    strips = app.screen._compositor.render_strips()
    lines = (_SCROLL_BAR.sub(" ", strip.text).rstrip() for strip in strips)
    return "\n".join(lines).rstrip() + "\n"
