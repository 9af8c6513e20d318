"""The short form of the table: fewer seeds, and bounds that chance alone does not cross.

``make quality`` runs the full one. A share fails here when so few exact headlines (or so many false
alarms) would come about once in ten thousand times at the target; calls get a tenth more than the
target for the small sample.
"""

from __future__ import annotations

import pytest
from scipy.stats import binom

from runtape.attribution.search import SearchOptions
from tests.quality import chains
from tests.quality.controls import ALPHA, measure
from tests.quality.table import FIRST_SEED, Row, rows
from tests.quality.trial import investigate

SEEDS = 50
RARE = 1e-4

pytestmark = pytest.mark.quality


@pytest.mark.parametrize("row", [*rows(), *chains.rows()], ids=lambda row: row.name)
def test_row(row: Row):
    """This world reaches its figures, as far as few seeds can tell."""
    seeds = SEEDS * row.weight
    score = row.score([row.run(FIRST_SEED + i) for i in range(seeds)])
    if row.exact is not None:
        assert round(score.exact * seeds) >= binom.ppf(RARE, seeds, row.exact)
    for share, most in ((score.strays, row.strays), (score.headlines, row.headlines)):
        if most is not None:
            assert round(share * seeds) <= binom.ppf(1 - RARE, seeds, most)
    if row.calls is not None:
        assert score.calls <= 1.1 * row.calls


@pytest.mark.parametrize("rate", [0.5, 0.7])
def test_without_the_correction_the_same_procedure_raises_false_alarms(rate):
    """Control: with α for every single test, one null world in four has a claim."""
    row = next(r for r in rows() if r.name == f"null {rate}")
    uncorrected = SearchOptions(alpha=ALPHA * SearchOptions().slots)
    trials = [investigate(row.build, seed, uncorrected) for seed in range(150)]
    assert row.score(trials).strays > 0.15


@pytest.mark.parametrize("rate", [0.5, 0.6])
def test_picking_the_lowest_and_not_correcting_errs(rate):
    """Control: p ≤ .05 for the most suspicious of twenty pieces is wrong every fifth time."""
    assert measure(rate, 600, pieces=20, runs=12).picked > 0.15


@pytest.mark.parametrize("rate", [0.5, 0.6, 0.7])
def test_counting_the_screening_runs_errs(rate):
    """Control: a test that counts the runs which raised the suspicion errs; fresh runs do not."""
    shortcuts = measure(rate, 3000)
    assert shortcuts.reused > 0.08
    assert shortcuts.fresh <= ALPHA
