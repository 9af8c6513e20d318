"""Traces as resources: what a client can put in front of a model without calling a tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.types import Resource

from runtape.errors import AddressError, RuntapeError, TraceNotFound
from runtape.mcp.failures import error_words
from runtape.mcp.results import COLUMNS, MOST_CHARACTERS, shortened
from runtape.mcp.serving import Serving
from runtape.reports.context_text import context_lines
from runtape.reports.event_text import event_sheet
from runtape.reports.sheet import Line
from runtape.reports.summary import summary_sheet
from runtape.reports.timeline import timeline_lines
from runtape.workbench import Trace, trace_files

SCHEME = "runtape://trace/"
_LISTED = 100


class Library:
    """The texts of the traces of one server."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def listed(self) -> Iterator[Resource]:
        """Timeline and summary of each trace, newest first."""
        for path in trace_files(self._serving.folder)[:_LISTED]:
            for what in ("timeline", "summary"):
                yield Resource(
                    uri=f"{SCHEME}{quote(path.stem)}/{what}",
                    name=f"{path.stem} {what}",
                    mime_type="text/plain",
                )

    def timeline(self, name: str) -> str:
        """All events of a run, one line each."""
        return self._read(name, lambda trace: timeline_lines(trace.tape, COLUMNS))

    def summary(self, name: str) -> str:
        """One run at a glance."""
        return self._read(name, lambda trace: summary_sheet(trace.summary(), COLUMNS).lines)

    def event(self, name: str, event: str) -> str:
        """One event in full."""
        return self._read(name, lambda trace: event_sheet(trace.tape, trace[event], COLUMNS).lines)

    def context(self, name: str, event: str) -> str:
        """What the model saw at the call behind an event, with refs."""
        return self._read(
            name, lambda trace: context_lines(trace.tape, trace.context(event), COLUMNS)
        )

    def _read(self, name: str, lines: Callable[[Trace], Iterable[Line]]) -> str:
        try:
            found = lines(self._serving.open(name))
            return shortened("\n".join(line.plain for line in found), MOST_CHARACTERS)
        except (TraceNotFound, AddressError) as error:
            raise ResourceNotFoundError(error_words(error)) from error
        except RuntapeError as error:
            raise ResourceError(error_words(error)) from error
