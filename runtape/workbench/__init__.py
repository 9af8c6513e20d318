"""The use cases every face is made of: open a trace, find a decision, ask about it.

The way from what a user typed to an answer: :func:`open_trace` → :func:`find_event` →
:func:`prepare_why` (or :func:`prepare_rerun`, :func:`prepare_odds`) → a job with a plan, a stream
of facts, and a result.

Names are loaded when they are first used: looking at a trace needs none of what asks a model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtape.workbench.addresses import Call, find_call, find_decision, find_event
    from runtape.workbench.estimates import Plan
    from runtape.workbench.fixing import FixJob, prepare_fix
    from runtape.workbench.jobs import SampleJob, WhyJob, prepare_odds, prepare_rerun, prepare_why
    from runtape.workbench.traces import TRACES, Trace, newest, open_trace, trace_files

__all__ = [
    "TRACES",
    "Call",
    "FixJob",
    "Plan",
    "SampleJob",
    "Trace",
    "WhyJob",
    "find_call",
    "find_decision",
    "find_event",
    "newest",
    "open_trace",
    "prepare_fix",
    "prepare_odds",
    "prepare_rerun",
    "prepare_why",
    "trace_files",
]

_HOMES = {
    "Call": "addresses",
    "FixJob": "fixing",
    "Plan": "estimates",
    "SampleJob": "jobs",
    "WhyJob": "jobs",
    "find_call": "addresses",
    "find_decision": "addresses",
    "find_event": "addresses",
    "prepare_fix": "fixing",
    "prepare_odds": "jobs",
    "prepare_rerun": "jobs",
    "prepare_why": "jobs",
}
"""Where a name lives; the rest are in :mod:`traces`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'traces')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
