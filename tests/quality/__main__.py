"""``python -m tests.quality [--seeds N] [--only PATTERN]``: the whole table; exits 1 on a miss."""

from __future__ import annotations

import argparse
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial

from tests.quality.table import FIRST_SEED, Score, rows
from tests.quality.trial import Trial, investigate

_HEAD = (
    f"{'world':34} {'share':>6} {'target':>7} {'calls':>6} {'≤':>4} {'rounds':>6} {'total':>6}"
    f" {'peer':>12}"
)
_FOOT = """\
share: exact headlines; with ≤: investigations with any claim, or with a headline.
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
    write(_HEAD + "\n")
    missed = 0
    with ProcessPoolExecutor(asked.workers) as pool:
        for row in rows():
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
    row = next(r for r in rows() if r.name == name)
    return replace(investigate(row.build, seed, row.options), world=None, result=None)


def _line(score: Score) -> str:
    row = score.row
    if row.exact is not None:
        share, target = score.exact, f"≥ {row.exact:.3g}"
    elif row.alarms is not None:
        share, target = score.alarms, f"≤ {row.alarms:.3g}"
    else:
        share, target = score.headlines, f"≤ {row.headlines:.3g}"
    mark = "✗ " + " ".join(score.misses) if score.misses else "✓"
    return (
        f"{row.name:34} {share:6.3f} {target:>7} {score.calls:6g} {row.calls or '':>4} "
        f"{score.rounds:6g} {score.total:6g} {row.peer:>12} {mark}"
    )


if __name__ == "__main__":
    sys.exit(main())
