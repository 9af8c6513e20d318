"""Texts that a person has looked at, kept in files; ``RUNTAPE_GOLDEN=write`` writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "golden"


def assert_golden(name: str, text: str) -> None:
    """`text` is what the golden file of that name holds."""
    path = FOLDER / f"{name}.txt"
    if os.environ.get("RUNTAPE_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{name} differs; RUNTAPE_GOLDEN=write accepts"
