"""The use cases every face is made of: open a trace, find a decision, ask about it.

The way from what a user typed to an answer: :func:`open_trace` → :func:`find_event` →
:func:`prepare_why` (or :func:`prepare_rerun`, :func:`prepare_odds`) → a job with a plan, a stream
of facts, and a result.
"""

from __future__ import annotations

from runtape.workbench.addresses import Call, find_call, find_decision, find_event
from runtape.workbench.estimates import Plan
from runtape.workbench.jobs import SampleJob, WhyJob, prepare_odds, prepare_rerun, prepare_why
from runtape.workbench.traces import TRACES, Trace, newest, open_trace, trace_files

__all__ = [
    "TRACES",
    "Call",
    "Plan",
    "SampleJob",
    "Trace",
    "WhyJob",
    "find_call",
    "find_decision",
    "find_event",
    "newest",
    "open_trace",
    "prepare_odds",
    "prepare_rerun",
    "prepare_why",
    "trace_files",
]
