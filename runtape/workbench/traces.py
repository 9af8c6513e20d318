"""Opening a trace by what the user typed, and looking at it as a sequence of events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from runtape.errors import TraceNotFound
from runtape.tape.events import Event
from runtape.tape.reader import Tape

if TYPE_CHECKING:
    from runtape.context import Context
    from runtape.reports.grep import Hit
    from runtape.reports.summary import Summary

LAST = "last"
"""Stands for the newest trace."""
TRACES = Path("traces")
"""Where traces are, unless the user says otherwise."""
_SHOWN = 6


class Trace:
    """One recorded run: its events in order, and what each model call saw.

    Follows a file that is still being written: every access sees what is there by then.

    Attributes:
        tape: the file behind it.
    """

    def __init__(self, tape: Tape) -> None:
        self.tape = tape

    @property
    def path(self) -> Path:
        """The file."""
        return self.tape.path

    @property
    def run_id(self) -> str:
        """The run's id; empty when it is lost."""
        return self.tape.run_id

    @property
    def name(self) -> str:
        """What the run was called."""
        return self.tape.name

    def __len__(self) -> int:
        self.tape.refresh()
        return len(self.tape)

    def __iter__(self) -> Iterator[Event]:
        self.tape.refresh()
        return iter(self.tape)

    def __getitem__(self, event: int | str) -> Event:
        """The event with a number, or what else :func:`~runtape.workbench.find_event` takes."""
        from runtape.workbench.addresses import find_event  # noqa: PLC0415 - it takes a Trace

        return self.tape[find_event(self, event)]

    def __repr__(self) -> str:
        return f"<Trace {self.name!r}, {len(self)} events, {self.path}>"

    def context(self, event: int | str) -> Context:
        """What the model saw when it made the decision at `event`, as pieces.

        Raises EventNotFound, NotADecision or IncompleteContext.
        """
        from runtape.context import build_context  # noqa: PLC0415 - not needed for looking
        from runtape.workbench.addresses import find_call  # noqa: PLC0415 - it takes a Trace

        return build_context(self.tape, find_call(self, event).request)

    def summary(self) -> Summary:
        """Counts, tokens, errors and times of the run."""
        from runtape.reports.summary import summarise  # noqa: PLC0415 - a report, on demand

        self.tape.refresh()
        return summarise(self.tape)

    def grep(self, pattern: str) -> Iterator[Hit]:
        """Places where a regular expression matches; raises UsageError when it is malformed."""
        from runtape.reports.grep import find  # noqa: PLC0415 - a report, on demand

        self.tape.refresh()
        return find(self.tape, pattern)


def open_trace(spec: str | Path, *, folder: Path = TRACES) -> Trace:
    """Open a trace by path, by a unique part of its name in `folder`, or the newest one (``last``).

    Raises:
        TraceNotFound: nothing fits, or several do (they are listed).
        TraceUnreadable: the file is no tape.
    """
    return Trace(Tape.open(_resolve(spec, folder)))


def trace_files(folder: Path = TRACES) -> list[Path]:
    """The traces in a folder, the one written last first."""
    return sorted(folder.glob("*.jsonl"), key=lambda p: (p.stat().st_mtime, p.name), reverse=True)


def newest(folder: Path = TRACES) -> Path:
    """The trace that was written last; raises TraceNotFound when there is none."""
    files = trace_files(folder)
    if not files:
        raise TraceNotFound(
            f"There are no traces in {folder}.",
            hint="record one, or try `runtape demo`",
            path=str(folder),
        )
    return files[0]


def _resolve(spec: str | Path, folder: Path) -> Path:
    path = Path(spec)
    if path.is_file() or isinstance(spec, Path):
        return path
    if spec == LAST:
        return newest(folder)
    files = trace_files(folder)
    exact = [file for file in files if spec in {file.stem, file.name}]
    fitting = exact or [file for file in files if spec.casefold() in file.name.casefold()]
    if len(fitting) == 1:
        return fitting[0]
    raise _ambiguous(spec, fitting) if fitting else _missing(spec, folder, files)


def _ambiguous(spec: str, fitting: list[Path]) -> TraceNotFound:
    return TraceNotFound(
        f"{spec!r} fits {len(fitting)} traces: {_names(fitting)}.",
        hint="give more of the name, or the path",
        path=str(fitting[0].parent),
    )


def _missing(spec: str, folder: Path, files: list[Path]) -> TraceNotFound:
    there = f"it holds {_names(files)}" if files else "it holds no traces"
    return TraceNotFound(
        f"There is no trace {spec!r}, neither as a file nor in {folder}: {there}.",
        hint="give a path, a part of a name, or `last`",
        path=spec,
    )


def _names(files: list[Path]) -> str:
    names = ", ".join(file.stem for file in files[:_SHOWN])
    return f"{names} and {len(files) - _SHOWN} more" if len(files) > _SHOWN else names
