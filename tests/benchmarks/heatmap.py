"""What the live heatmap costs, and whether keys wait while calls are in flight."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from textual import events
from textual.pilot import Pilot

from runtape_tui.app import RuntapeApp
from runtape_tui.asking import JobOptions
from runtape_tui.jobs import JobRunner
from runtape_tui.screens.why import WhyScreen
from tests.support.played import ending, long_context, opening, playing, updates

PIECES, RATE, SECONDS = 500, 50, 6.0
WORKERS, CALL_SECONDS, PRESSES = 16, 0.3, 150
SIZE = (120, 40)


def rows() -> list[str]:
    """Two figures, on whatever this machine is doing meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        path = long_context(Path(folder), PIECES)
        share = asyncio.run(_share_of_a_core(path))
        waits = sorted(asyncio.run(_key_waits(path)))
    middle, p95 = statistics.median(waits), waits[int(len(waits) * 0.95)]
    return [
        f"{PIECES} pieces at {RATE} updates/s: {share:.1%} of a core (goal: at most 10%)",
        f"{WORKERS} calls in flight, key to painted row: median {middle:.1f} ms",
        f"{WORKERS} calls in flight, key to painted row: p95 {p95:.1f} ms (goal: at most 50 ms)",
    ]


async def _share_of_a_core(path: Path) -> float:
    count = int(RATE * (SECONDS + 3))
    engine = playing(lambda job: [*opening(job), *updates(job, count, 1 / RATE), ending(job)])
    app = RuntapeApp(path, at="last", flags={"yes": True})
    app.jobs = JobRunner(JobOptions(yes=True), engine)
    async with app.run_test(size=SIZE) as pilot:
        await _open_why(app, pilot)
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.sleep(SECONDS)
        share = (time.process_time() - cpu) / (time.perf_counter() - began)
        app.jobs.close()
    return share


async def _key_waits(path: Path) -> list[float]:
    """Milliseconds from each key to the painted row."""

    def model(_: Any) -> Any:
        time.sleep(CALL_SECONDS)
        return {"tool": "order", "arguments": {"what": "leeks"}}

    flags = {"model_fn": model, "workers": WORKERS, "no_cache": True}
    app = RuntapeApp(path, at="last", flags=flags)
    async with app.run_test(size=SIZE) as pilot:
        screen = await _open_why(app, pilot)
        await asyncio.sleep(1.0)
        waits = []
        for number in range(PRESSES):
            waits.append(await _press(app, screen, "up" if number // 20 % 2 else "down"))
            await asyncio.sleep(0.02)
        app.jobs.close()
    return waits


async def _press(app: RuntapeApp, screen: WhyScreen, key: str) -> float:
    began, before = time.perf_counter(), screen.rows.cursor
    painted = asyncio.Event()
    app.post_message(events.Key(key, None))
    for _ in range(2_000):
        if screen.rows.cursor != before:
            screen.rows.call_after_refresh(painted.set)
            await painted.wait()
            break
        await asyncio.sleep(0.0005)
    return (time.perf_counter() - began) * 1000


async def _open_why(app: RuntapeApp, pilot: Pilot[None]) -> WhyScreen:
    await pilot.press("w")
    for _ in range(500):
        await asyncio.sleep(0.01)
        screen = app.screen
        if (
            isinstance(screen, WhyScreen)
            and screen.ticket is not None
            and screen.heat.baseline.runs
        ):
            return screen
    raise TimeoutError
