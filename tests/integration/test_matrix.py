"""Whatever was recorded replays the same, for every case of the matrix, with the SDKs in use."""

from __future__ import annotations

import pytest

from tests.matrix.cases import CASES
from tests.matrix.identity import ABSENT, SAME, compare, divergence, kinds_of


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        pytest.param(case, kind, id=f"{case.name}-{kind}")
        for case in CASES
        for kind in kinds_of(case)
    ],
)
def test_what_was_recorded_replays_the_same(tmp_path, case, kind):
    """Objects, chunks, events and exceptions are the same offline, and no call is left over."""
    assert compare(case, kind, tmp_path) in (SAME, ABSENT)


@pytest.mark.parametrize("kind", ["openai", "openai-async", "anthropic", "anthropic-async"])
def test_a_divergence_arrives_at_once(tmp_path, kind):
    """In 50 ms of CPU, past five retries, with the place of the first difference."""
    assert divergence(kind, tmp_path) == SAME
