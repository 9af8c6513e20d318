"""Pictures of the real app on the example traces, as SVG and PNG.

::

    python screenshots/make.py [name …]

The examples record their runs anew in a temporary folder, their stand-ins answer, and the app is
driven by keys. PNGs are made by Chromium where it is installed, else by rsvg-convert; without
either there are only SVGs. No path of this machine gets into a picture.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from runtape.demo.inbox import simulated_model
from runtape.workbench import newest
from runtape_tui.app import RuntapeApp

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
WIDTH = 1240
"""Pixels of a PNG."""
LARGEST = 300_000
"""Bytes of a PNG."""
_LOOKS = 2_000
_HELD = ("Our bank details", "Regards,")
_FORWARDING = "tool:forward_email"
_INBOX = "examples/inbox_agent.py:simulated_model"
_RESEARCHER = "examples/research_agent.py:simulated_model"

Keys = Callable[[RuntapeApp, Pilot[None]], Awaitable[None]]


class Turnstile:
    """A stand-in that holds the calls about the last paragraphs of the invoice."""

    def __init__(self) -> None:
        self._gate = threading.Event()
        self.holding = 0

    def __call__(self, body: dict[str, Any]) -> Any:
        """Answer, or wait."""
        text = str(body)
        if "Attached is invoice" in text and not all(words in text for words in _HELD):
            self.holding += 1
            self._gate.wait(60)
        return simulated_model(body)

    def open(self) -> None:
        """Let everybody through."""
        self._gate.set()


@dataclass(frozen=True)
class Shot:
    """One picture.

    Attributes:
        example: the example that records the run.
        keys: what is pressed before the picture is taken.
        size: columns and rows.
        at: the event to start at.
        model: who answers.
        environment: variables that are set meanwhile.
    """

    example: str
    keys: Keys
    size: tuple[int, int] = (120, 34)
    at: str | None = None
    model: Any = None
    environment: tuple[tuple[str, str], ...] = ()


def pressing(*keys: str) -> Keys:
    """Press keys, and wait until everything is loaded."""

    async def press(_: RuntapeApp, pilot: Pilot[None]) -> None:
        for key in keys:
            await pilot.press(key)
            await pilot.pause(0.3)

    return press


def going_to(place: str) -> Keys:
    """Go to a piece of the context."""
    names = {" ": "space", ".": "full_stop"}
    return pressing("colon", *(names.get(letter, letter) for letter in place), "enter")


async def finished(app: RuntapeApp, pilot: Pilot[None]) -> None:
    """Wait for the job of the screen."""
    await until(pilot, lambda: _ticket(app) is not None and not _ticket(app).open)


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Wait for something, then for its picture."""
    for _ in range(_LOOKS):
        await pilot.pause(0.02)
        if condition():
            await pilot.pause(0.5)
            return
    raise TimeoutError


def _ticket(app: RuntapeApp) -> Any:
    return getattr(app.screen, "ticket", None)


def in_flight(turnstile: Turnstile) -> Keys:
    """The heatmap while the model is still being asked."""

    async def ask(_: RuntapeApp, pilot: Pilot[None]) -> None:
        await pilot.press("w")
        await until(pilot, lambda: turnstile.holding > 1)

    return ask


async def why(app: RuntapeApp, pilot: Pilot[None]) -> None:
    """The heatmap at the end."""
    await pilot.press("w")
    await finished(app, pilot)


async def what_if(app: RuntapeApp, pilot: Pilot[None]) -> None:
    """The bench with the cause taken out, and both distributions."""
    await why(app, pilot)
    await pilot.press("e")
    await pilot.pause(0.5)
    await pilot.press("R")
    await finished(app, pilot)


def after_why(key: str) -> Keys:
    """What a key opens once the cause is found, at its end."""

    async def ask(app: RuntapeApp, pilot: Pilot[None]) -> None:
        await why(app, pilot)
        await pilot.press(key)
        await pilot.pause(0.5)
        await finished(app, pilot)

    return ask


def shots() -> dict[str, Shot]:
    """All pictures by name."""
    held = Turnstile()
    return {
        "timeline": Shot("ops_agent", pressing(), at="tool:drop_database"),
        "context": Shot("inbox_agent", going_to("12.body para 4"), at=_FORWARDING),
        "diff": Shot("ops_agent", pressing("]", "]", "]", "3"), size=(140, 34)),
        "heatmap-in-flight": Shot("inbox_agent", in_flight(held), at=_FORWARDING, model=held),
        "heatmap-done": Shot("inbox_agent", why, size=(120, 36), at=_FORWARDING, model=_INBOX),
        "what-if": Shot("inbox_agent", what_if, at=_FORWARDING, model=_INBOX),
        "fix": Shot("inbox_agent", after_why("X"), size=(120, 36), at=_FORWARDING, model=_INBOX),
        "chain": Shot("research_agent", after_why("c"), at="tool:send_mail", model=_RESEARCHER),
        "small": Shot("inbox_agent", why, size=(80, 24), at=_FORWARDING, model=_INBOX),
        "no-colour": Shot(
            "inbox_agent",
            why,
            at=_FORWARDING,
            model=_INBOX,
            environment=(("NO_COLOR", "1"),),
        ),
    }


async def take(shot: Shot, trace: Path) -> str:
    """The picture as SVG."""
    app = RuntapeApp(trace, at=shot.at, flags={"model_fn": shot.model, "no_cache": True})
    async with app.run_test(size=shot.size) as pilot:
        await pilot.pause(0.5)
        await shot.keys(app, pilot)
        svg = app.export_screenshot(title="runtape")
        if isinstance(shot.model, Turnstile):
            shot.model.open()
        if "jobs" in vars(app):
            app.jobs.close()
    return svg


def record(example: str, folder: Path) -> Path:
    """Let an example record its run; returns the trace."""
    script = folder / "examples" / f"{example}.py"
    subprocess.run([sys.executable, str(script)], cwd=folder, check=True, capture_output=True)  # noqa: S603 - ours
    return newest(folder / "traces")


@contextmanager
def variables(pairs: tuple[tuple[str, str], ...]) -> Any:
    """Set environment variables for a while."""
    before = {name: os.environ.get(name) for name, _ in pairs}
    os.environ.update(pairs)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def to_png(svg: Path) -> str:
    """Make the PNG beside an SVG; returns how, or why not."""
    png = svg.with_suffix(".png")
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg.read_text(encoding="utf-8"))
    if box is None:
        return "no PNG: the SVG has no size"
    width, height = (float(side) for side in box.groups())
    chromium = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None
    )
    if chromium is not None:
        scale = WIDTH / width
        size = f"--window-size={round(width)},{round(height)}"
        quiet = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
        look = (size, f"--force-device-scale-factor={scale:.4f}", f"--screenshot={png}")
        command = [chromium, *quiet, *look, svg.as_uri()]
    elif (rsvg := shutil.which("rsvg-convert")) is not None:
        command = [rsvg, "-w", str(WIDTH), "-o", str(png), str(svg)]
    else:
        return "no PNG: neither chromium nor rsvg-convert is here"
    subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603 - found above
    size_of = png.stat().st_size
    return f"{size_of / 1000:.0f} kB{', too large' if size_of > LARGEST else ''}"


def main(names: list[str]) -> None:
    """Take the named pictures, or all."""
    known = shots()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        home = tuple((f"XDG_{kind}_HOME", str(folder / kind)) for kind in ("STATE", "CONFIG"))
        os.chdir(folder)
        for name in names or known:
            shot = known[name]
            with variables((*home, *shot.environment)):
                svg = asyncio.run(take(shot, record(shot.example, folder)))
            path = HERE / f"{name}.svg"
            path.write_text(svg, encoding="utf-8")
            if str(folder) in svg or str(Path.home()) in svg:
                raise ValueError(f"{name} shows a path of this machine")
            print(f"{name}: {to_png(path)}")


if __name__ == "__main__":
    main(sys.argv[1:])
