"""Replay: a recorded run played back to the program that made it, from the tape alone.

:class:`Replayer` answers the program's model calls and tool calls; :class:`ReplayDiverged` tells
where the program did something else than it did then.
"""

from __future__ import annotations

from runtape.playback.divergence import ReplayDiverged, ReplayWarning
from runtape.playback.options import OnDiverge, ReplayOptions, ToolSource
from runtape.playback.replayer import Replayer

__all__ = [
    "OnDiverge",
    "ReplayDiverged",
    "ReplayOptions",
    "ReplayWarning",
    "Replayer",
    "ToolSource",
]
