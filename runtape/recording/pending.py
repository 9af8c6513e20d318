"""Tool calls the model has asked for and nobody has made yet."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress

from runtape.dialects.base import Reply, ToolCall
from runtape.jsonio import Json, canonical

_STRANDS = 64
"""Strands of calls whose latest reply is remembered."""


class Pending:
    """The calls in the latest reply of each strand of a run (thread and task), newest reply last.

    A tool may run in another thread than the model was called from, so a call is looked for in all
    strands; of equal calls in one reply the first is served first.
    """

    def __init__(self) -> None:
        self._asked: dict[Hashable, list[ToolCall]] = {}

    def replied(self, strand: Hashable, replies: Iterable[Reply]) -> None:
        """Note what the latest reply in a strand asks for, in place of the one before."""
        self._asked.pop(strand, None)
        self._asked[strand] = [call for reply in replies for call in reply.tool_calls if call.id]
        while len(self._asked) > _STRANDS:
            self._asked.pop(next(iter(self._asked)), None)

    def take(self, name: str, candidates: Iterable[Json]) -> str | None:
        """The id of a pending call of this tool with one of these arguments, or None."""
        wanted = {canonical(arguments) for arguments in candidates}
        for calls in reversed(list(self._asked.values())):
            for call in list(calls):
                if call.name == name and canonical(call.arguments) in wanted:
                    with suppress(ValueError):  # another thread was faster
                        calls.remove(call)
                        return call.id
        return None

    def made(self, name: str, call_id: str) -> None:
        """Note that the call with this id is being made."""
        for calls in reversed(list(self._asked.values())):
            for call in calls:
                if call.id == call_id and call.name == name:
                    calls.remove(call)
                    return
