"""The terminal app in a pseudo-terminal: CPU of the whole process, Linux only.

Budgets on a quiet machine: first paint 0.5 s; 5 ms per key at 100,000 events; 5 MB of text 150 ms.
Keys come thirty times a second, as from a key that is held.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from runtape.tape.writer import TapeWriter
from tests.support.app_traces import canteen
from tests.support.terminal import Terminal

_EVENTS = 100_000
_KEYS = 150
_MEGABYTES = 5
_REPEAT = 1 / 30


def rows() -> list[str]:
    """Printable figures."""
    if not sys.platform.startswith("linux"):
        return ["needs /proc"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [*_start(folder), *_long_run(folder), *_long_text(folder)]


def _row(label: str, seconds: float, per: int = 1) -> str:
    return f"{label:<46} {seconds * 1000 / per:8.1f} ms"


def _start(folder: Path) -> Iterator[str]:
    """From exec to the first whole screen, imports included."""
    trace = canteen(folder)
    costs = []
    for _ in range(5):
        with Terminal(folder, [str(trace)]) as terminal:
            terminal.wait_for("system prompt")
            costs.append(terminal.cpu())
            terminal.keys("q")
            terminal.wait_end()
    yield _row("start to first paint, context included", min(costs))


def _long_run(folder: Path) -> Iterator[str]:
    trace = _write_long_run(folder)
    with Terminal(folder, [str(trace)]) as terminal:
        terminal.wait_for("no model call yet")
        yield _row(f"start with {_EVENTS:,} events", terminal.cpu())
        _until_idle(terminal)
        yield _row("and everything surveyed beside the keys", terminal.cpu())
        for label, key in (("down", "j"), ("page down", "\x1b[6~"), ("up", "k")):
            yield _row(f"{label}, per key", _held(terminal, key), _KEYS)
        before = terminal.cpu()
        for _ in range(20):
            terminal.keys("j", quiet=0.3)
        yield _row("down, and the right pane follows", terminal.cpu() - before, 20)
        terminal.keys("q")
        terminal.wait_end()


def _long_text(folder: Path) -> Iterator[str]:
    trace = _write_long_text(folder)
    with Terminal(folder, [str(trace), "--at", "1"]) as terminal:
        terminal.wait_for("no model call yet")
        _until_idle(terminal)
        before = terminal.cpu()
        terminal.keys("2")
        _until_idle(terminal)
        yield _row(f"{_MEGABYTES} MB of text, from the file to the screen", terminal.cpu() - before)
        terminal.keys("\t")
        for label, key in (("down", "j"), ("page down", "\x1b[6~")):
            yield _row(f"{label} in it, per key", _held(terminal, key), _KEYS)
        terminal.keys("q")
        terminal.wait_end()


def _held(terminal: Terminal, key: str) -> float:
    """CPU for a key held for some seconds."""
    before = terminal.cpu()
    for _ in range(_KEYS):
        terminal.keys(key, quiet=0)
        time.sleep(_REPEAT)
    terminal.rest()
    return terminal.cpu() - before


def _until_idle(terminal: Terminal) -> None:
    """Wait until the process has not worked for a second."""
    spent = -1.0
    while terminal.cpu() > spent + 0.05:
        spent = terminal.cpu()
        terminal.rest()
        time.sleep(1)


def _write_long_run(folder: Path) -> Path:
    chance = random.Random(1)
    writer = TapeWriter.create(folder, "long")
    writer.append("run_start", {})
    for number in range(_EVENTS // 2):
        call = writer.append("tool_call", {"name": "look_up", "arguments": {"key": number}})
        result = {"name": "look_up", "result": "word " * chance.randrange(10, 200)}
        writer.append("tool_result", result, parent=call, meta={"latency_ms": 30})
    writer.close()
    return writer.path


def _write_long_text(folder: Path) -> Path:
    chance = random.Random(2)
    words = ("".join(chance.choices("abcdefgh", k=chance.randrange(2, 11))) for _ in range(900_000))
    writer = TapeWriter.create(folder, "text")
    writer.append("run_start", {})
    writer.append("note", {"text": " ".join(words)[: _MEGABYTES * 1_000_000]})
    writer.close()
    return writer.path
