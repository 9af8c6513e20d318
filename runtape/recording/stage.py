"""Whether a recorded program is being played back: what its recorder then has to know.

``runtape replay TRACE -- script.py`` runs a script that records itself, as it is. Its recorder goes
on recording, but its tools must not run again, and the new tape should say what it is a replay of.
"""

from __future__ import annotations

from typing import Any, Protocol


class Stage(Protocol):
    """What plays a recorded run back in this process."""

    @property
    def run_id(self) -> str:
        """Id of the run that is played back."""

    def stand_in(self, function: Any, name: str | None) -> Any:
        """What to call instead of a tool: of the same kind, answering from the tape."""


_stages: list[Stage] = []


def current_stage() -> Stage | None:
    """What is played back in this process just now, if anything is."""
    return _stages[-1] if _stages else None


def enter_stage(stage: Stage) -> None:
    """From here on recorders of this process are part of a replay."""
    _stages.append(stage)


def leave_stage(stage: Stage) -> None:
    """The replay is over."""
    if stage in _stages:
        _stages.remove(stage)
