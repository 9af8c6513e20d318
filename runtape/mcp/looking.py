"""Tools that only look: nothing is asked, nothing is spent."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from runtape.errors import UsageError
from runtape.mcp.arguments import EventSpec, TraceName
from runtape.mcp.failures import told
from runtape.mcp.results import COLUMNS, result
from runtape.mcp.serving import Serving
from runtape.reports.context_text import context_json, context_lines, piece_lines
from runtape.reports.difference import (
    changes,
    context_parts,
    difference_json,
    difference_lines,
    run_parts,
)
from runtape.reports.event_text import event_json, event_sheet
from runtape.reports.grep import hit_lines, hits_json
from runtape.reports.listing import empty_words, listed_traces, listing_json, listing_lines
from runtape.reports.sheet import line
from runtape.reports.summary import summary_json, summary_sheet
from runtape.reports.timeline import row, row_json, row_line
from runtape.visible import visible
from runtape.workbench import trace_files

First = Annotated[int, Field(ge=0, description="Where to begin: number of the first one.")]
Count = Annotated[int, Field(ge=1, le=1000, description="How many at most.")]


class Looking:
    """Looks at the traces of one server; each method is a tool."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    def list_traces(self, count: Count = 50) -> CallToolResult:
        """Recorded runs, newest first: when, how many model replies, errors, how each ended."""
        with told():
            folder = self._serving.folder
            entries = list(listed_traces(trace_files(folder)[:count]))
            if not entries:
                return result(visible(empty_words(folder)).text, listing_json(entries))
            return result(listing_lines(entries, COLUMNS), listing_json(entries))

    def summary(self, trace: TraceName) -> CallToolResult:
        """One run at a glance: models, tools, tokens, time, errors."""
        with told():
            found = self._serving.open(trace).summary()
            return result(summary_sheet(found, COLUMNS).lines, summary_json(found))

    def timeline(self, trace: TraceName, first: First = 0, count: Count = 200) -> CallToolResult:
        """The events of a run, one line each: number, kind, what happened."""
        with told():
            tape = self._serving.open(trace).tape
            found = [row(event) for event in islice(tape, first, first + count)]
            digits = len(str(len(tape)))
            lines = [row_line(entry, digits, COLUMNS) for entry in found]
            if first + len(found) < len(tape):
                lines.append(line(f"… {len(tape)} events in all"))
            document = {
                "schema": "runtape.timeline/1",
                "trace": {"path": str(tape.path), "run_id": tape.run_id, "name": tape.name},
                "ended": tape.ended,
                "events": [row_json(entry) for entry in found],
                "total": len(tape),
            }
            return result(lines, document)

    def show(self, trace: TraceName, event: EventSpec) -> CallToolResult:
        """One event in full: a request, a reply, a tool call or its result."""
        with told():
            opened = self._serving.open(trace)
            found = opened[event]
            sheet = event_sheet(opened.tape, found, COLUMNS)
            return result(sheet.lines, event_json(opened.tape, found))

    def context(
        self,
        trace: TraceName,
        event: EventSpec,
        *,
        ref: Annotated[str | None, Field(description="Only this piece, in full.")] = None,
        parts: Annotated[bool, Field(description="Also the parts of each piece.")] = False,
    ) -> CallToolResult:
        """What the model saw at the call behind an event, piece by piece, each with its ref.

        Refs are what `rerun` takes in `drop`.
        """
        with told():
            opened = self._serving.open(trace)
            found = opened.context(event)
            if ref is not None:
                piece = found.piece(ref)
                document = context_json(opened.tape, found, deep=True)
                document["pieces"] = [p for p in document["pieces"] if p["ref"] == piece.ref]
                return result(visible(piece.text).text, document, longest=40_000)
            lines = piece_lines if parts else context_lines
            document = context_json(opened.tape, found, deep=parts)
            return result(lines(opened.tape, found, COLUMNS), document)

    def grep(
        self,
        pattern: Annotated[str, Field(description="A regular expression.")],
        trace: TraceName,
        count: Count = 100,
    ) -> CallToolResult:
        """Where a pattern stands in a run: events and refs. Case counts if it has a capital."""
        with told():
            opened = self._serving.open(trace)
            hits = list(islice(opened.grep(pattern), count))
            lines = list(hit_lines(hits, COLUMNS)) or [line("it stands nowhere")]
            return result(lines, hits_json(opened.tape, pattern, hits))

    def diff(
        self,
        trace: TraceName,
        old: EventSpec | None = None,
        new: EventSpec | None = None,
        other: Annotated[
            str | None, Field(description="Another run: then whole runs are compared.")
        ] = None,
    ) -> CallToolResult:
        """What differs between the contexts of two events of a run, or between two runs."""
        with told():
            opened = self._serving.open(trace)
            if other is not None:
                beside = self._serving.open(other)
                first, second = str(opened.path), str(beside.path)
                sides = [run_parts(opened.tape), run_parts(beside.tape)]
            elif old is None or new is None:
                raise UsageError("Two events are compared, `old` and `new`, or a run with `other`.")
            else:
                contexts = [opened.context(event) for event in (old, new)]
                first, second = (f"model call {found.request.event}" for found in contexts)
                sides = [context_parts(found) for found in contexts]
            found = list(changes(*sides))
            lines = difference_lines(first, second, iter(found))
            return result(lines, difference_json(first, second, iter(found)))
