"""Whatever was recorded replays the same, for every case of the matrix, with the SDKs in use."""

from __future__ import annotations

import pytest

from tests.matrix.cases import CASES
from tests.matrix.identity import ABSENT, SAME, compare, kinds_of


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
