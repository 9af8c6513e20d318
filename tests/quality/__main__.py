"""``python -m tests.quality [--seeds N] [--only PATTERN]``: the whole table; exits 1 on a miss."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial

from tests.quality import chains
from tests.quality.table import FIRST_SEED, Row, Score, rows
from tests.quality.trial import Trial

_COLUMNS = "{:34} {:>6} {:>7} {:>6} {:>6} {:>4} {:>6} {:>6} {:>12} {}"
_HEAD = ("world", "share", "target", "stray", "calls", "≤", "rounds", "total", "peer", "")
_FOOT = """\
share: exact headlines; with ≤: investigations with a headline, or any claim, where none is right.
stray: investigations that claim a text which does nothing (at most α, everywhere).
calls, rounds: medians until the verdict; total: calls with the description for display.
peer: exact share and calls of the best public tool."""


def main() -> int:
    """Run the rows that were asked for and print each as it is done."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality", description=__doc__)
    parser.add_argument(
        "--seeds", type=int, default=500, help="per world; 4 times as many for null"
    )
    parser.add_argument("--only", default="", help="regular expression on the name of the world")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    asked = parser.parse_args()
    write = sys.stdout.write
    write(_COLUMNS.format(*_HEAD) + "\n")
    missed = 0
    with ProcessPoolExecutor(asked.workers) as pool:
        for row in all_rows():
            if not re.search(asked.only, row.name):
                continue
            seeds = range(FIRST_SEED, FIRST_SEED + asked.seeds * row.weight)
            trials = list(pool.map(partial(_trial, row.name), seeds, chunksize=25))
            score = row.score(trials)
            missed += bool(score.misses)
            write(_line(score) + "\n")
            sys.stdout.flush()
    write(_FOOT + "\n")
    return 1 if missed else 0


def _trial(name: str, seed: int) -> Trial:
    """One trial in a worker, without what cannot travel back."""
    row = next(r for r in all_rows() if r.name == name)
    return replace(row.run(seed), world=None, result=None)


def all_rows() -> Iterator[Row]:
    """Single decisions, then chains of them."""
    yield from rows()
    yield from chains.rows()


def _line(score: Score) -> str:
    row = score.row
    if row.exact is not None:
        share, target = score.exact, f"≥ {row.exact:.3g}"
    elif row.headlines is not None:
        share, target = score.headlines, f"≤ {row.headlines:.3g}"
    else:
        share, target = score.strays, f"≤ {row.strays:.3g}"
    mark = "✗ " + " ".join(score.misses) if score.misses else "✓"
    return _COLUMNS.format(
        row.name,
        f"{share:.3f}",
        target,
        f"{score.strays:.3f}",
        f"{score.calls:g}",
        row.calls or "",
        f"{score.rounds:g}",
        f"{score.total:g}",
        row.peer,
        mark,
    )


if __name__ == "__main__":
    sys.exit(main())
