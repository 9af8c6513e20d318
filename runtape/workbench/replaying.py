"""``runtape.replay``: a trace by its name, played back to the program that made it."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TypeVar

from runtape.errors import UsageError
from runtape.playback import OnDiverge, Replayer, ReplayOptions, ToolSource
from runtape.playback.options import Edit
from runtape.workbench.traces import Trace, open_trace

Choice = TypeVar("Choice", bound=Enum)


def replay(
    trace: Trace | str | Path,
    on_diverge: str = "stop",
    until: int | None = None,
    edit: Edit | None = None,
    *,
    tools: str = "serve",
    dir: str | Path | None = None,  # noqa: A002 - as in record()
) -> Replayer:
    """Play a recorded run back: model calls and tools are answered from the tape, offline.

    Use the result as a context manager, in the place of a recorder::

        with runtape.replay("last") as rp:
            client = rp.wrap(OpenAI())

    Calls are matched by path and body (but for fields such as ``user`` that change nothing), equal
    ones in the order they were recorded in.

    Args:
        trace: an open trace, a path, a part of a name, or ``last``.
        on_diverge: when the program does something else: ``stop`` raises ReplayDiverged with the
            first difference; ``warn`` takes the next call whose last message has the same role;
            ``live`` goes on for real from there, and the whole run is recorded as a new one.
        until: an event: what came before it is replayed, then it is as if the program diverged.
        edit: changes one thing there: gets the body of that model call, or the result of that tool
            call, and returns it changed. Only with ``live``.
        tools: ``serve`` their recorded results, or ``run`` them.
        dir: folder of the new tape, as for :func:`runtape.record`.

    Raises TraceNotFound or TraceUnreadable, IncompleteContext when no model call of the tape can be
    put together, EventNotFound for `until`, UsageError for options that make no sense.
    """
    opened = trace if isinstance(trace, Trace) else open_trace(trace)
    options = ReplayOptions(
        on_diverge=_choice(OnDiverge, "on_diverge", on_diverge),
        until=until,
        edit=edit,
        tools=_choice(ToolSource, "tools", tools),
    )
    return Replayer(opened.tape, options, folder=None if dir is None else Path(dir))


def _choice(choices: type[Choice], what: str, value: str) -> Choice:
    try:
        return choices(value)
    except ValueError:
        known = ", ".join(repr(choice.value) for choice in choices)
        raise UsageError(f"{what} cannot be {value!r}.", hint=f"use one of {known}") from None
