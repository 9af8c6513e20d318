"""What the app remembers of each trace: where the reader was, and how it looked.

One small file per run in ``$XDG_STATE_HOME/runtape/app`` (``~/.local/state``). A file that cannot
be read or written is no error: the app then starts as if it were new.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from runtape.jsonio import dumps, loads
from runtape.workbench import Trace

_DEFAULT = "default"
_MOST = 500
"""Folds and marks kept of one trace."""


@dataclass(slots=True)
class TraceState:
    """What is remembered of one trace.

    Attributes:
        event: event under the cursor, or None.
        tab: name of the tab.
        folds: keys of sections that differ from how they start.
        marks: marked events.
        left: width of the timeline in percent.
        wrap: whether long lines are wrapped.
        theme: name of the colours, or None: the default.
    """

    event: int | None = None
    tab: str = "context"
    folds: list[str] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    left: int = 38
    wrap: bool = True
    theme: str | None = None


def state_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where the app keeps its state."""
    environment = os.environ if environment is None else environment
    base = environment.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "runtape" / "app"


def load_state(trace: Trace, folder: Path) -> TraceState:
    """What is remembered of a trace; of one never opened, how the last one looked."""
    own = _read(folder / f"{_key(trace)}.json")
    if own is not None:
        return own
    last = _read(folder / f"{_DEFAULT}.json") or TraceState()
    return TraceState(left=last.left, wrap=last.wrap, theme=last.theme)


def save_state(trace: Trace, state: TraceState, folder: Path) -> None:
    """Remember it; a folder that cannot be written to is no reason to complain."""
    state.folds, state.marks = state.folds[-_MOST:], state.marks[-_MOST:]
    data = dumps(asdict(state))
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        for name in (_key(trace), _DEFAULT):
            target = folder / f"{name}.json"
            fresh = target.with_suffix(f".{os.getpid()}")
            fresh.write_bytes(data)
            fresh.replace(target)


def _key(trace: Trace) -> str:
    """A name for a run that is safe as a file name, whatever the trace says its id is."""
    identity = trace.run_id or str(trace.path.resolve())
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _read(path: Path) -> TraceState | None:
    try:
        data = loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(data, dict):
        return None
    known = {f.name: data[f.name] for f in fields(TraceState) if f.name in data}
    state = TraceState()
    for name, value in known.items():
        if _fits(name, value):
            setattr(state, name, value)
    return state


def _fits(name: str, value: Any) -> bool:
    if name == "left":
        return isinstance(value, int) and 20 <= value <= 80  # noqa: PLR2004 - percent
    if name == "folds":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if name == "marks":
        return isinstance(value, list) and all(isinstance(item, int) for item in value)
    if name == "wrap":
        return isinstance(value, bool)
    if name == "event":
        return isinstance(value, int)
    return isinstance(value, str)
