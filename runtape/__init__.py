"""Record what an AI agent does, and find out by experiment what in its context made it do that.

Names are loaded when they are first used: importing this package loads nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtape.attribution.distribution import Distribution
    from runtape.attribution.facts import Fact, Finished, Investigation
    from runtape.attribution.options import OddsOptions, RerunOptions, WhyOptions
    from runtape.context.edits import Fill
    from runtape.dialects.base import Reply, ToolCall
    from runtape.errors import (
        AddressError,
        EventNotFound,
        IncompleteContext,
        InvalidEdit,
        MissingKey,
        MissingPackage,
        ModelError,
        ModelFunctionError,
        NotADecision,
        ProviderError,
        RecordingError,
        RefNotFound,
        RequestError,
        RuntapeError,
        StorageError,
        TraceCorrupt,
        TraceError,
        TraceNotFound,
        TraceUnreadable,
        UsageError,
    )
    from runtape.playback import ReplayDiverged, Replayer, ReplayWarning
    from runtape.recording import Recorder, record
    from runtape.recording.installing import install, uninstall
    from runtape.remedies.facts import Fix, FixFact
    from runtape.remedies.options import FixOptions
    from runtape.reports.fix_report import FixReport
    from runtape.reports.why_report import WhyReport
    from runtape.workbench.replaying import replay
    from runtape.workbench.traces import Trace
    from runtape.workbench.verbs import (
        fix,
        investigate,
        load,
        odds,
        rerun,
        why,
        why_async,
        write_test,
    )

__all__ = [
    "AddressError",
    "Distribution",
    "EventNotFound",
    "Fact",
    "Fill",
    "Finished",
    "Fix",
    "FixFact",
    "FixOptions",
    "FixReport",
    "IncompleteContext",
    "InvalidEdit",
    "Investigation",
    "MissingKey",
    "MissingPackage",
    "ModelError",
    "ModelFunctionError",
    "NotADecision",
    "OddsOptions",
    "ProviderError",
    "Recorder",
    "RecordingError",
    "RefNotFound",
    "ReplayDiverged",
    "ReplayWarning",
    "Replayer",
    "Reply",
    "RequestError",
    "RerunOptions",
    "RuntapeError",
    "StorageError",
    "ToolCall",
    "Trace",
    "TraceCorrupt",
    "TraceError",
    "TraceNotFound",
    "TraceUnreadable",
    "UsageError",
    "WhyOptions",
    "WhyReport",
    "fix",
    "install",
    "investigate",
    "load",
    "odds",
    "record",
    "replay",
    "rerun",
    "uninstall",
    "why",
    "why_async",
    "write_test",
]

_HOMES = {
    "Distribution": "attribution.distribution",
    "Fact": "attribution.facts",
    "Fill": "context.edits",
    "Finished": "attribution.facts",
    "Fix": "remedies.facts",
    "FixFact": "remedies.facts",
    "FixOptions": "remedies.options",
    "FixReport": "reports.fix_report",
    "Investigation": "attribution.facts",
    "OddsOptions": "attribution.options",
    "Recorder": "recording",
    "ReplayDiverged": "playback",
    "ReplayWarning": "playback",
    "Replayer": "playback",
    "Reply": "dialects.base",
    "RerunOptions": "attribution.options",
    "ToolCall": "dialects.base",
    "Trace": "workbench.traces",
    "WhyOptions": "attribution.options",
    "WhyReport": "reports.why_report",
    "fix": "workbench.verbs",
    "install": "recording.installing",
    "investigate": "workbench.verbs",
    "load": "workbench.verbs",
    "odds": "workbench.verbs",
    "record": "recording",
    "replay": "workbench.replaying",
    "rerun": "workbench.verbs",
    "uninstall": "recording.installing",
    "why": "workbench.verbs",
    "why_async": "workbench.verbs",
    "write_test": "workbench.verbs",
}
"""Where a name lives; the rest are errors."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"runtape.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
