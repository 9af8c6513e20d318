"""What a `why` costs and how long it takes: calls, rounds, wall time over a slow loopback server.

A round waits for one call, so the wall time should be about (rounds + 2) times the server's
latency; that bound stands beside it. The second table is the program's own time, with a model that
answers at once.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from runtape.dialects.base import Reply, ToolCall
from runtape.jsonio import Json
from runtape.reports.why_report import WhyReport
from runtape.workbench.verbs import why
from tests.support import greenhouse
from tests.support.loopback import Loopback, Wire

LATENCY = 0.3
WORKERS = 8
EVENT = "tool:order_seeds"


def rows() -> list[str]:
    """Two tables: over the wire, and without one."""
    os.environ.setdefault("OPENAI_API_KEY", "benchmark")
    _over_the_wire(0, wide=False)  # the SDK is imported once; that is no call
    lines = [f"server latency {LATENCY * 1000:.0f} ms, {WORKERS} workers", _head("bound s")]
    for filler in (0, 6, 40):
        for wide in (False, True):
            report, seconds = _over_the_wire(filler, wide=wide)
            bound = (report.investigation.calls.rounds + 2) * LATENCY
            lines.append(_row(_messages(filler), "wide" if wide else "-", report, seconds, bound))
    lines += ["", "a model that answers at once", _head("ms/call")]
    for filler in (0, 40, 150):
        report, seconds = _at_once(filler)
        each = seconds / report.investigation.calls.made * 1000
        lines.append(_row(_messages(filler), "-", report, seconds, each))
    return lines


def _messages(filler: int) -> int:
    return len(greenhouse.messages(filler=filler))


def _over_the_wire(filler: int, *, wide: bool) -> tuple[WhyReport, float]:
    with (
        Loopback(_answers, Wire(latency=LATENCY)) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        path = greenhouse.record(Path(folder), origin=server.url, filler=filler)
        began = time.perf_counter()
        report = why(path, EVENT, workers=WORKERS, wide=wide, cache=False)
        return report, time.perf_counter() - began


def _at_once(filler: int) -> tuple[WhyReport, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = greenhouse.record(Path(folder), filler=filler)
        began = time.perf_counter()
        report = why(path, EVENT, model_fn=greenhouse.gullible, cache=False)
        return report, time.perf_counter() - began


def _answers(_api: str, body: Json, _number: int) -> list[Reply]:
    said = greenhouse.gullible(body)
    if isinstance(said, str):
        return [Reply(said)] * body.get("n", 1)
    call = ToolCall(said["tool"], said["arguments"], "call_9")
    return [greenhouse.calling(call)] * body.get("n", 1)


def _head(extra: str) -> str:
    names = ("messages", "way", "calls", "requests", "rounds", "wall s", extra)
    return "  ".join(f"{name:>8}" for name in names)


def _row(messages: int, way: str, report: WhyReport, seconds: float, extra: float) -> str:
    calls = report.investigation.calls
    counts = (messages, way, calls.made, calls.requests, calls.rounds)
    times = (f"{seconds:.2f}", f"{extra:.2f}")
    return "  ".join(f"{value:>8}" for value in (*counts, *times))
