"""Running a job: a live view on a terminal; Ctrl-C ends it with what is known by then."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import TypeVar

from runtape.cli.output import colours, columns
from runtape.reports.sheet import Line, Span, Tone

T = TypeVar("T")
_BEAT = 0.1
"""Seconds between two pictures of the live view."""
_BREAK = Span("\n")
_STYLES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.QUIET: "dim",
    Tone.MARK: "bold yellow",
    Tone.GOOD: "green",
    Tone.BAD: "red",
    Tone.WARN: "yellow",
    Tone.NAME: "cyan",
}


def drive(
    items: Callable[[], AsyncGenerator[T]],
    stop: Callable[[], None],
    see: Callable[[T], None],
    beat: Callable[[], None] | None = None,
) -> T:
    """Run a job to its last item and return that.

    Args:
        items: the job's stream; its last item is the result, also when the job is stopped.
        stop: ends the job early; called from another thread at the first Ctrl-C, the second one
            raises KeyboardInterrupt.
        see: is shown every item.
        beat: called some times a second while the job runs.
    """

    async def consume() -> T:
        ticking = asyncio.ensure_future(_tick(beat)) if beat else None
        kept: list[T] = []
        try:
            async with contextlib.aclosing(items()) as stream:
                async for item in stream:
                    kept[:] = [item]
                    see(item)
        finally:
            if ticking is not None:
                ticking.cancel()
        return kept[0]

    with _interrupts(stop):
        return asyncio.run(consume())


async def _tick(beat: Callable[[], None]) -> None:
    while True:
        beat()
        await asyncio.sleep(_BEAT)


@contextlib.contextmanager
def _interrupts(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C calls `stop` (elsewhere: it may wait for a lock this thread holds)."""

    def handle(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Thread(target=stop, daemon=True).start()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def live_view(lines: Callable[[int], list[Line]]) -> Iterator[Callable[[], None] | None]:
    """Draw `lines(columns)` again and again on standard error, gone at the end; only on a terminal.

    Yields a function that draws a new picture, or None when there is nobody to look at it.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - 44 ms, and only a terminal needs it
    from rich.live import Live  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    colour = colours(stream_is_terminal=True)
    console = Console(stderr=True, highlight=False, no_color=not colour)
    width = min(columns(), console.width)

    drawn: list[list[Line]] = [[]]

    def draw() -> None:
        newest = lines(width)
        if newest == drawn[0]:
            return
        drawn[0] = newest
        spans = (span for line in newest for span in (*line.spans, _BREAK))
        pieces = [(span.text, _STYLES[span.tone] if colour else "") for span in spans]
        live.update(Text.assemble(*pieces, no_wrap=True, overflow="ellipsis", end=""), refresh=True)

    live = Live(
        console=console,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with live:
        yield draw
