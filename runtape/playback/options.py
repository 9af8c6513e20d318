"""How a run is to be replayed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

Edit: TypeAlias = Callable[[Any], Any]
"""Takes a request body (a dict) or a tool's result, and returns it changed."""


class OnDiverge(Enum):
    """What happens when the program does something that is not on the tape."""

    STOP = "stop"
    """It is stopped, and told where it differs."""
    WARN = "warn"
    """The call that was at its place is taken for it, with a warning."""
    LIVE = "live"
    """From there on everything really happens, and is recorded as a new run."""


class ToolSource(Enum):
    """Where the results of tools come from."""

    SERVE = "serve"
    """From the tape: nothing is done again."""
    RUN = "run"
    """The tools really run."""


@dataclass(frozen=True)
class ReplayOptions:
    """How to replay.

    Attributes:
        on_diverge: what happens when the program does something else.
        until: id of an event: what was recorded before it is replayed, then comes `on_diverge`.
            None replays all.
        edit: changes one thing at `until`: the body of that model call before it is sent, or the
            result of that tool call; needs ``on_diverge=LIVE``.
        tools: where the results of tools come from.
    """

    on_diverge: OnDiverge = OnDiverge.STOP
    until: int | None = None
    edit: Edit | None = None
    tools: ToolSource = ToolSource.SERVE
