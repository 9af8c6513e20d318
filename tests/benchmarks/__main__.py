"""Speed and memory, printed: ``python -m tests.benchmarks [name …]``.

A benchmark is a module or package in this folder with ``rows() -> list[str]``. The figures inform;
no test asserts them, because they say as much about the machine as about the code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def benchmarks() -> dict[str, Callable[[], list[str]]]:
    """Name → rows() of every benchmark here."""
    found = {}
    for path in sorted(Path(__file__).parent.iterdir()):
        if path.stem.startswith("_") or path.suffix not in ("", ".py"):
            continue
        module = import_module(f"tests.benchmarks.{path.stem}")
        if hasattr(module, "rows"):
            found[path.stem] = module.rows
    return found


def main(names: list[str]) -> int:
    """Print the named benchmarks, or all; returns the exit code."""
    known = benchmarks()
    unknown = sorted(set(names) - set(known))
    if unknown:
        sys.stderr.write(f"no benchmark {', '.join(unknown)}; there are: {', '.join(known)}\n")
        return 2
    for name in names or known:
        sys.stdout.write("\n".join((name, "-" * len(name), *known[name](), "", "")))
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
