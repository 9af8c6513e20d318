"""Tapes for tests: written line by line, or torn on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from runtape.tape.reader import Tape


def event(id: int, type: str = "note", **fields: Any) -> dict[str, Any]:  # noqa: A002
    """An event's envelope; `payload`, `parent`, `meta` and anything else as given."""
    envelope = {"id": id, "ts": 1_790_000_000.5 + id, "type": type, "parent": None}
    return {**envelope, "payload": {}, "meta": {}, **fields}


def line(fields: dict[str, Any]) -> bytes:
    """One line of a tape."""
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def start(version: int = 2, **payload: Any) -> dict[str, Any]:
    """A run_start with id 0."""
    identity = {"format": "runtape", "version": version, "run_id": "0123456789ab", "name": "test"}
    return event(0, "run_start", payload={**identity, **payload})


def write_lines(path: Path, lines: Iterable[dict[str, Any] | bytes]) -> Path:
    """A file of events (as lines) and raw bytes (as they stand)."""
    path.write_bytes(b"".join(x if isinstance(x, bytes) else line(x) for x in lines))
    return path


def open_lines(folder: Path, *lines: dict[str, Any] | bytes) -> Tape:
    """The tape made of these lines."""
    return Tape.open(write_lines(folder / "made.jsonl", lines))
