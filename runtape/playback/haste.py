"""Retries without their pauses: SDKs wait before they try again, a replay need not."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any

_PAUSE = "_calculate_retry_timeout"
"""How the SDKs of OpenAI, Anthropic and their kin call what says how long to wait."""

_failed: ContextVar[bool] = ContextVar("runtape_replayed_failure", default=False)
_changing = threading.Lock()
_originals: dict[Any, Any] = {}
_users = 0


def start_hurrying() -> None:
    """SDKs retry at once after a replayed failure; :func:`stop_hurrying` ends it."""
    global _users  # noqa: PLW0603 - replayers of one process share the patch
    with _changing:
        _users += 1


def stop_hurrying() -> None:
    """The last replayer to say so leaves the SDKs as they were."""
    global _users  # noqa: PLW0603
    with _changing:
        _users -= 1
        if _users == 0:
            while _originals:
                cls, original = _originals.popitem()
                setattr(cls, _PAUSE, original)


def note_failure(*, failed: bool) -> None:
    """Note whether the latest answer in this context was replayed and makes an SDK try again."""
    _failed.set(failed)
    if failed:
        with _changing:
            _patch_sdks()


def _patch_sdks() -> None:
    """All SDKs that are loaded by now."""
    for name, module in list(sys.modules.items()):
        cls = getattr(module, "BaseClient", None) if name.endswith("._base_client") else None
        if cls is not None and _PAUSE in vars(cls) and cls not in _originals:
            _originals[cls] = vars(cls)[_PAUSE]
            setattr(cls, _PAUSE, _hurried(_originals[cls]))


def _hurried(original: Callable[..., float]) -> Callable[..., float]:
    @wraps(original)
    def pause(*args: Any, **kwargs: Any) -> float:
        return 0.0 if _failed.get() else original(*args, **kwargs)

    return pause
