"""One run at a glance: when, how long, which models and tools, what it cost, what went wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from runtape.jsonio import Json
from runtape.reports.sheet import Sheet, Tone
from runtape.reports.timeline import KINDS, Row, rows
from runtape.reports.times import local_time
from runtape.reports.words import duration, plural, size, tokens
from runtape.tape.events import (
    ERROR,
    LLM_REQUEST,
    LLM_RESPONSE,
    RECORD_ERROR,
    RUN_END,
    TOOL_CALL,
)
from runtape.tape.reader import Tape

_ERRORS_SHOWN = 5
_MANY = {"reply": "replies"}


@dataclass(slots=True)
class Summary:
    """What one pass over a run adds up.

    Attributes:
        path, name, run_id: which run.
        status: ``ok`` or what the run ended with; ``running`` without an end, ``cut`` when the last
            line is torn.
        started: Unix time of the first event, seconds.
        seconds: from the first to the last event.
        bytes: size of the file.
        events: number of events by type.
        models: model calls by model.
        tools: tool calls by name.
        input_tokens, output_tokens: sums of what was reported; None when nothing was.
        retries: model calls that were tries again.
        errors: (event, what) of all that went wrong.
        problems: damaged places of the file.
        last: what the last reply did, in words.
    """

    path: str
    name: str
    run_id: str
    status: str = "running"
    started: float = 0.0
    seconds: float = 0.0
    bytes: int = 0
    events: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    input_tokens: int | None = None
    output_tokens: int | None = None
    retries: int = 0
    errors: list[tuple[int, str]] = field(default_factory=list)
    problems: int = 0
    last: str = ""

    @property
    def replies(self) -> int:
        """Recorded replies of models: the decisions that can be explained."""
        return self.events[LLM_RESPONSE]


def summarise(tape: Tape) -> Summary:
    """Add up a run; one pass over its events."""
    summary = Summary(str(tape.path), tape.name, tape.run_id, problems=len(tape.problems))
    summary.bytes = tape.path.stat().st_size
    summary.started = tape.heads[0].ts
    summary.seconds = max(0.0, tape.heads[-1].ts - tape.heads[0].ts)
    for entry in rows(tape):
        _add(summary, entry)
    return summary


def _add(summary: Summary, entry: Row) -> None:
    summary.events[entry.type] += 1
    if entry.type == LLM_REQUEST:
        summary.models[entry.name] += 1
        summary.retries += entry.attempt > 1
    elif entry.type == TOOL_CALL:
        summary.tools[entry.name] += 1
    elif entry.type == LLM_RESPONSE:
        summary.last = entry.detail or summary.last
        summary.input_tokens = _plus(summary.input_tokens, entry.input_tokens)
        summary.output_tokens = _plus(summary.output_tokens, entry.output_tokens)
    elif entry.type == RUN_END:
        summary.status = entry.detail.split(" after ")[0]
    if entry.error is not None or entry.type in {ERROR, RECORD_ERROR}:
        summary.errors.append((entry.id, entry.error or "error"))


def _plus(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more


def summary_sheet(summary: Summary, columns: int = 80) -> Sheet:
    """The summary for a person."""
    sheet = Sheet(columns)
    sheet.prose("Run", summary.name, Tone.STRONG)
    sheet.prose("", f"{summary.path}, {size(summary.bytes)}", Tone.QUIET)
    when = f"{local_time(summary.started)}, {duration(summary.seconds)}"
    sheet.joined("Status", [summary.status, when])
    sheet.joined("Events", _counts(summary.events, KINDS))
    sheet.joined("Models", _counts(summary.models))
    sheet.joined("Tools", _counts(summary.tools))
    if summary.input_tokens is not None:
        spent = f"{tokens(summary.input_tokens)} in, {tokens(summary.output_tokens or 0)} out"
        sheet.prose("Tokens", spent)
    if summary.retries:
        sheet.prose("Retries", plural(summary.retries, "model call"))
    if summary.last:
        sheet.prose("Last", f"the model {summary.last}")
    _troubles(sheet, summary)
    return sheet


def _counts(counts: Counter[str], names: dict[str, str] | None = None) -> list[str]:
    names = names or {}
    return [
        plural(count, names[name], _MANY.get(names[name])) if name in names else f"{count:,} {name}"
        for name, count in counts.most_common()
    ]


def _troubles(sheet: Sheet, summary: Summary) -> None:
    label = "Errors"
    for event, what in summary.errors[:_ERRORS_SHOWN]:
        sheet.prose(label, f"event {event} {what[:300]}", Tone.BAD)
        label = ""
    more = len(summary.errors) - _ERRORS_SHOWN
    if more > 0:
        sheet.prose("", f"and {more:,} more", Tone.QUIET)
    if summary.problems:
        text = f"{plural(summary.problems, 'damaged line')} skipped; runtape check names them"
        sheet.prose("Damage", text, Tone.WARN)


def summary_json(summary: Summary) -> Json:
    """``runtape.summary/1``."""
    return {
        "schema": "runtape.summary/1",
        "trace": {"path": summary.path, "run_id": summary.run_id, "name": summary.name},
        "status": summary.status,
        "started": summary.started,
        "seconds": round(summary.seconds, 3),
        "bytes": summary.bytes,
        "events": dict(summary.events),
        "models": dict(summary.models),
        "tools": dict(summary.tools),
        "input_tokens": summary.input_tokens,
        "output_tokens": summary.output_tokens,
        "retries": summary.retries,
        "replies": summary.replies,
        "errors": [{"event": event, "message": what} for event, what in summary.errors],
        "problems": summary.problems,
        "last": summary.last,
    }
