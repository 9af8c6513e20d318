"""``make matrix``: every case on every set of SDKs, each in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

from tests.matrix.identity import ABSENT, SAME

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".matrix"
SETS = {
    "openai 3, anthropic 2": ("openai>=3,<4", "anthropic>=2,<3"),
    "openai 2, anthropic 0.70": ("openai>=2,<3", "anthropic==0.70.*"),
    "openai 1, anthropic 0.40": ("openai>=1.99,<2", "anthropic==0.40.*", "httpx<0.28"),
}
"""Requirements of each column; old SDKs want an httpx of their time."""
_NEEDED = ("orjson", "click", "pydantic", "pytest", "tomli; python_version < '3.11'")
_MARKS = {SAME: "✓", ABSENT: "·"}
_PATIENCE = 900


def main() -> int:
    """Build what is missing, run, print the table; 1 when a cell is red."""
    columns = {name: _run(_environment(name, packages)) for name, packages in SETS.items()}
    rows = list(dict.fromkeys(row for cells in columns.values() for row in cells))
    widest = max(map(len, rows))
    lines = ["  ".join((" " * widest, *columns))]
    for row in rows:
        marks = [_MARKS.get(cells.get(row, ABSENT), "✗") for cells in columns.values()]
        cells = (mark.center(len(name)) for mark, name in zip(marks, columns, strict=True))
        lines.append("  ".join((row.ljust(widest), *cells)))
    red = [
        (name, row, outcome)
        for name, cells in columns.items()
        for row, outcome in cells.items()
        if outcome not in _MARKS
    ]
    same = sum(outcome == SAME for cells in columns.values() for outcome in cells.values())
    lines.append(f"\n{same} same (✓), {len(red)} red (✗); · is not in that SDK")
    lines += [f"\n{name}: {row}\n{outcome[:1500]}" for name, row, outcome in red]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if red else 0


def _environment(name: str, packages: tuple[str, ...]) -> Path:
    """The interpreter of a set's environment, made when it is missing."""
    folder = FOLDER / name.replace(", ", "-").replace(" ", "-")
    python = folder / "bin" / "python"
    ready = folder / "ready"
    wanted = "\n".join((*_NEEDED, *packages))
    if not ready.exists() or ready.read_text("utf-8") != wanted:
        venv.create(folder, with_pip=True, clear=True)
        command = [python, "-m", "pip", "install", "--quiet", *_NEEDED, *packages]
        subprocess.run(command, check=True)
        ready.write_text(wanted, "utf-8")
    return python


def _run(python: Path) -> dict[str, str]:
    """The cells of one column."""
    command = [python, "-m", "tests.matrix.identity"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=env, stdout=subprocess.PIPE, timeout=_PATIENCE, check=True
    )
    cells: dict[str, str] = json.loads(done.stdout)
    return cells


if __name__ == "__main__":
    sys.exit(main())
