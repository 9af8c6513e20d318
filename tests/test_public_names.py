"""The public surface, pinned: adding or removing a name is a decision, not an accident."""

from __future__ import annotations

import runtape

PUBLIC = [
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


def test_public_names_are_the_documented_ones():
    """`runtape.__all__` is exactly the list users may rely on, sorted."""
    assert list(runtape.__all__) == PUBLIC


def test_every_public_name_can_be_imported():
    """Each lazy name resolves to something real."""
    for name in runtape.__all__:
        assert getattr(runtape, name) is not None
