"""Writing and reading tapes.

Reading is measured in a process of its own, CPU after imports, memory as the peak of the process.
The tapes are runs of an agent that makes 1,000 calls per conversation: of four events one is a
request that adds about 2 kB to its history; 100,000 events are about 200 MB.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from runtape.tape.reader import Tape
from runtape.tape.writer import TapeWriter

SIZES = (1_000, 10_000, 100_000)
CALLS_PER_CONVERSATION = 1_000
NEEDLE = b"zanzibar"
TAIL = (
    b'],"model":"m","tools":['
    + b'{"type":"function","function":{"name":"look_up"}},' * 20
    + b"{}]}"
)


def rows() -> list[str]:
    """Printable figures of the writer and of four ways of reading three sizes of tape."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_writer_rows(Path(folder)), "", *_reader_rows(Path(folder))]


# Writing


def _writer_rows(folder: Path) -> Iterator[str]:
    writer = TapeWriter.create(folder, "events")
    payload = {"text": "x" * 1000}
    began = time.process_time()
    for _ in range(50_000):
        writer.append("note", payload)
    spent = time.process_time() - began
    writer.close()
    yield f"append, 1 kB events              {50_000 / spent:>10,.0f} /s"
    for history in (10, 100, 1_000):
        yield _request_row(folder, history)


def _request_row(folder: Path, history: int) -> str:
    """Time of one request that adds 1 kB to `history` messages of 1 kB, both steps apart."""
    writer = TapeWriter.create(folder, "requests")
    body = b'{"messages":[' + b",".join([_message(random.Random(0), 1_000)] * history)
    deltas, appends = [], []
    for n in range(60):
        body += b"," + _message(random.Random(n), 1_000)
        sent = body + TAIL
        before = time.perf_counter()
        delta = writer.delta(sent)
        between = time.perf_counter()
        writer.append_request({"api": "openai.chat"}, delta)
        deltas.append(between - before)
        appends.append(time.perf_counter() - between)
    writer.close()
    return (
        f"request, {history:>5,} kB of history      delta {median(deltas) * 1e6:>6.1f} µs"
        f"   append_request {median(appends) * 1e6:>6.1f} µs"
    )


# Reading


def _reader_rows(folder: Path) -> Iterator[str]:
    yield f"{'':10}{'MB':>8}" + "".join(f"{name:>20}" for name in CASES)
    for events in SIZES:
        path = _write_run(folder, events)
        figures = [_measure(name, path) for name in CASES]
        cells = "".join(f"{cpu:>11.3f} s {rss:>4.0f} MB" for cpu, rss in figures)
        yield f"{events:>10,}{path.stat().st_size / 1e6:>8.1f}{cells}"


def _write_run(folder: Path, events: int) -> Path:
    chance = random.Random(events)
    writer = TapeWriter.create(folder, f"run-{events}")
    writer.append("run_start", {})
    body = b""
    for call in range(events // 4):
        if call % CALLS_PER_CONVERSATION == 0:
            body = b'{"messages":[' + _message(chance, 500)
        body += b"," + _message(chance, chance.randrange(500, 3_500))
        request = writer.append_request({"api": "openai.chat"}, writer.delta(body + TAIL))
        reply = {"status": 200, "body": _message(chance, 1_500).decode()}
        writer.append("llm_response", reply, parent=request)
        tool = writer.append("tool_call", {"name": "look_up", "arguments": {"key": call}})
        result = {"name": "look_up", "result": _text(chance, chance.randrange(500, 6_500))}
        writer.append("tool_result", result, parent=tool)
    writer.close()
    return writer.path


def _message(chance: random.Random, size: int) -> bytes:
    return json.dumps({"role": "user", "content": _text(chance, size)}).encode()


def _text(chance: random.Random, size: int) -> str:
    """About `size` characters that no two calls share."""
    words = ("invoice", "please", "the\nnext", 'a "quoted" word', "über", "42", "transfer")
    text = " ".join(chance.choices(words, k=20)) + f" {chance.random()} "
    needle = NEEDLE.decode() if chance.random() < 0.001 else ""
    return (text * (size // len(text) + 1))[:size] + needle


def _measure(case: str, path: Path) -> tuple[float, float]:
    """CPU seconds and peak MB of a fresh process that does `case`."""
    command = [sys.executable, "-m", "tests.benchmarks.tape", case, str(path)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    cpu, rss = done.stdout.split()
    return float(cpu), float(rss)


def _open(path: Path) -> None:
    Tape.open(path)


def _first_line(path: Path) -> None:
    """What a timeline needs before it can print its first line."""
    next(iter(Tape.open(path)))


def _last_request(path: Path) -> None:
    tape = Tape.open(path)
    tape.request(tape.of_type("llm_request")[-1].id)


def _grep(path: Path) -> None:
    tape = Tape.open(path)
    for head in tape.heads:
        if NEEDLE in tape.line(head):
            tape.event(head)


CASES: dict[str, Callable[[Path], None]] = {
    "open": _open,
    "first line": _first_line,
    "last request": _last_request,
    "grep": _grep,
}


def _peak_memory() -> float:
    """Peak of this process in MB; getrusage alone would count the parent's (Linux)."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    start = time.process_time()
    CASES[sys.argv[1]](Path(sys.argv[2]))
    sys.stdout.write(f"{time.process_time() - start} {_peak_memory()}")
