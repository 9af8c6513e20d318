"""Every test of the app has a home of its own, and the same clock wherever it runs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support import app_traces


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STATE", "CONFIG", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "xdg" / name.lower()))
    for name in ("NO_COLOR", "TMUX", "EDITOR", "VISUAL", "PAGER", "RUNTAPE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@pytest.fixture
def canteen(tmp_path: Path) -> Path:
    """A small run: two lookups, one of which fails, and an answer; 13 events."""
    return app_traces.canteen(tmp_path)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A run in which every text is an attack."""
    return app_traces.hostile(tmp_path)
