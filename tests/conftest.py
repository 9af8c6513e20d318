"""What holds for every test."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def _no_key_on_any_tape(request):
    """The key that clients sign with is in no tape, whatever a test does.

    Tests that turn the redaction off say so: ``@pytest.mark.keys``.
    """
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    clients = sys.modules.get("tests.support.recorded")  # or no client was made
    if folder is None or clients is None or request.node.get_closest_marker("keys"):
        return
    key = clients.API_KEY.encode()
    found = [path.name for path in folder.rglob("*.jsonl") if key in path.read_bytes()]
    assert found == [], "a tape holds the API key"
