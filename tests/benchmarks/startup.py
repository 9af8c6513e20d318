"""What starting costs: CPU of whole commands over a bare Python, and which heavy modules they load.

Aims: ``runtape --help`` under 70 ms of CPU over bare Python; no SDK, no scipy, no rich anywhere.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from runtape.tape.writer import TapeWriter
from tests.support.command import command, environment
from tests.support.runs import MODEL, record_run

HEAVY = (
    "openai", "anthropic", "httpx", "httpx2", "scipy", "rich", "textual", "numpy", "asyncio",
    "sqlite3", "pydantic", "sentencex", "orjson", "click", "dataclasses", "importlib.metadata",
)  # fmt: skip
"""Modules whose import is felt (10 ms of CPU and more, or nearly)."""
_TIMES = 7
_EVENTS = 100_000


def rows() -> list[str]:
    """Median CPU over bare Python in ms, and the heavy modules, per command."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "model.py").write_text(MODEL)
        record_run(here / "traces")
        _long_trace(here / "long")
        why = ["why", "inbox", "tool:forward_email", "--model-fn", "model.py:answer", "--json"]
        subprocess.run(command(*why), cwd=here, env=environment(here), check=True, stdout=-3)
        bare = _cpu([sys.executable, "-c", "pass"], here)
        asked = {
            "--help": ["--help"],
            "why --help": ["why", "--help"],
            "ls": ["ls"],
            "timeline, 10 events": ["timeline", "inbox"],
            "context": ["context", "inbox", "last"],
            "why --json, all cached": why,
            f"timeline, {_EVENTS:,} events": ["timeline", "last", "--dir", "long"],
        }
        lines = [f"{'bare Python':<26}{bare:>7.0f} ms CPU"]
        for name, words in asked.items():
            cost = _cpu(command(*words), here) - bare
            lines.append(
                f"{name:<26}{cost:>+7.0f} ms CPU   loads {', '.join(_loaded(words, here))}"
            )
        return [*lines, _first_line(here)]


def _cpu(words: Sequence[str], folder: Path) -> float:
    """Median CPU of a process in milliseconds."""
    return statistics.median(_once(words, folder) for _ in range(_TIMES))


def _once(words: Sequence[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.devnull, "wb") as sink:  # noqa: PTH123
        subprocess.run(
            words, cwd=folder, env=environment(folder), stdout=sink, stderr=sink, check=True
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _loaded(words: Sequence[str], folder: Path) -> list[str]:
    """Which of the heavy modules a command has loaded when it ends."""
    code = (
        "import sys\nfrom runtape.cli import main\n"
        f"try:\n    main({list(words)!r})\n"
        "finally:\n    sys.stderr.write('\\n'.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder, env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    names = set(done.stderr.split("\n"))
    return [name for name in HEAVY if name in names]


def _long_trace(folder: Path) -> None:
    folder.mkdir()
    writer = TapeWriter.create(folder, "long")
    for number in range(_EVENTS):
        writer.append("note", {"text": f"note {number}"})
    writer.close()


def _first_line(folder: Path) -> str:
    """CPU until the first events of a long trace are on the screen."""
    import time  # noqa: PLC0415

    started = time.perf_counter()
    process = subprocess.Popen(
        command("timeline", "last", "--dir", "long"),
        cwd=folder, env=environment(folder, PYTHONUNBUFFERED="1"), stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    for _ in range(5):
        process.stdout.readline()
    seconds = time.perf_counter() - started
    process.stdout.close()
    process.wait()
    return f"{f'first lines of {_EVENTS:,}':<26}{1000 * seconds:>7.0f} ms wall"
