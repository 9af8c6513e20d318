"""Recorded runs, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from runtape.errors import RuntapeError
from runtape.jsonio import Json
from runtape.reports.cells import cut, pad
from runtape.reports.sheet import Line, Span, Tone, line
from runtape.reports.summary import Summary, summarise, summary_json
from runtape.reports.times import local_time
from runtape.reports.words import size
from runtape.tape.reader import Tape


@dataclass(frozen=True, slots=True)
class Listed:
    """A file among the traces: its summary, or why it cannot be read."""

    path: Path
    summary: Summary | None
    fault: str = ""


def listed_traces(paths: Iterable[Path]) -> Iterator[Listed]:
    """Each file, read as it is asked for; a bad one does not hide the others."""
    return map(_listed, paths)


def _listed(path: Path) -> Listed:
    try:
        return Listed(path, summarise(Tape.open(path)))
    except (RuntapeError, OSError) as error:
        message = error.message if isinstance(error, RuntapeError) else str(error)
        return Listed(path, None, message)


def listing_lines(entries: Iterable[Listed], columns: int = 80) -> Iterator[Line]:
    """A heading and a line per trace."""
    head = f"{'started':<19}  {'size':>7}  {'replies':>7}  {'errors':>6}  {'status':<8}  trace"
    yield line(Span(head, Tone.QUIET))
    for entry in entries:
        yield _entry_line(entry, columns)


def _entry_line(entry: Listed, columns: int) -> Line:
    found = entry.summary
    if found is None:
        left = pad("unreadable", 57)
        return line(Span(left, Tone.BAD), cut(f"{entry.path.stem}", columns - 57))
    errors = f"{len(found.errors) or ''}"
    left = f"{local_time(found.started)}  {size(found.bytes):>7}  {found.replies:>7}  "
    status = f"{cut(found.status, 8):<8}  "
    tone = Tone.PLAIN if found.status == "ok" else Tone.WARN
    return line(left, Span(f"{errors:>6}  ", Tone.BAD), Span(status, tone), entry.path.stem)


def listing_json(entries: Iterable[Listed]) -> Json:
    """``runtape.ls/1``."""
    return {"schema": "runtape.ls/1", "traces": [_entry_json(entry) for entry in entries]}


def _entry_json(entry: Listed) -> Json:
    if entry.summary is None:
        return {"path": str(entry.path), "fault": entry.fault}
    document = summary_json(entry.summary)
    del document["schema"]
    return {"path": str(entry.path), **document}


def empty_words(folder: Path) -> str:
    """What to say when there is no trace."""
    return f"no traces in {folder}: record one, or see an example with runtape demo"
