"""Points in time in words."""

from __future__ import annotations

import time


def local_time(seconds: float) -> str:
    """Unix time as local ``2026-11-29 12:00:00``; a dash when it is no time."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return "–"
