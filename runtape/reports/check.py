"""Whether a trace is whole, and what a rerun of its model calls would lack."""

from __future__ import annotations

from dataclasses import dataclass, field

from runtape.context import build_context
from runtape.errors import RuntapeError
from runtape.jsonio import Json
from runtape.reports.sheet import Sheet, Tone
from runtape.reports.words import listed, plural, size
from runtape.tape.events import LLM_REQUEST, Problem
from runtape.tape.reader import Tape

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Lack:
    """A model call that cannot be rerun, or only with assumptions.

    Attributes:
        event: the request.
        what: what is missing or assumed, in words.
        fatal: whether a rerun is refused for it.
    """

    event: int
    what: str
    fatal: bool


@dataclass(slots=True)
class Checkup:
    """What a full check of a trace found."""

    path: str
    name: str
    run_id: str
    version: int
    events: int
    bytes: int
    ended: bool
    requests: int = 0
    problems: list[Problem] = field(default_factory=list)
    lacks: list[Lack] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged and every call can be rerun."""
        return not self.problems and not any(lack.fatal for lack in self.lacks)


def check_tape(tape: Tape) -> Checkup:
    """Verify hashes and put every model call together; costs the sum of all bodies."""
    found = Checkup(
        str(tape.path),
        tape.name,
        tape.run_id,
        tape.version,
        len(tape),
        tape.path.stat().st_size,
        tape.ended,
    )
    found.problems = tape.verify()
    for head in tape.of_type(LLM_REQUEST):
        found.requests += 1
        lack = _lack(tape, head.id)
        if lack is not None:
            found.lacks.append(lack)
    return found


def _lack(tape: Tape, event: int) -> Lack | None:
    try:
        request = build_context(tape, event).request
    except RuntapeError as error:
        return Lack(event, error.message, fatal=True)
    inexact = [f"{part} {how}" for part, how in request.fidelity.items() if how != "exact"]
    missing = "missing" in request.fidelity.values()
    return Lack(event, listed(inexact), fatal=missing) if inexact else None


def check_sheet(found: Checkup, columns: int = 80) -> Sheet:
    """The check for a person."""
    sheet = Sheet(columns)
    sheet.prose("Trace", f"{found.path}, {size(found.bytes)}", Tone.STRONG)
    ended = "" if found.ended else ", not ended: still being written, or the run was killed"
    sheet.prose("", f"{plural(found.events, 'event')}, format {found.version}{ended}")
    sheet.blank()
    _damage(sheet, found)
    _reruns(sheet, found)
    return sheet


def _damage(sheet: Sheet, found: Checkup) -> None:
    if not found.problems:
        sheet.prose("Whole", "every line can be read, every request matches its hash", Tone.GOOD)
        return
    label = "Damage"
    for problem in found.problems[:_SHOWN]:
        sheet.prose(label, f"line {problem.line}: {problem.what}", Tone.BAD)
        label = ""
    _more(sheet, len(found.problems))


def _reruns(sheet: Sheet, found: Checkup) -> None:
    refused = sum(lack.fatal for lack in found.lacks)
    calls = plural(found.requests, "model call")
    if not refused:
        sheet.prose("Reruns", f"{calls}, all of which can be rerun", Tone.GOOD)
    else:
        sheet.prose("Reruns", f"{refused} of {calls} cannot be rerun", Tone.BAD)
    for lack in found.lacks[:_SHOWN]:
        sheet.prose("", f"event {lack.event}: {lack.what}", Tone.PLAIN if lack.fatal else Tone.WARN)
    _more(sheet, len(found.lacks))


def _more(sheet: Sheet, count: int) -> None:
    if count > _SHOWN:
        sheet.prose("", f"and {count - _SHOWN:,} more", Tone.QUIET)


def check_json(found: Checkup) -> Json:
    """``runtape.check/1``."""
    return {
        "schema": "runtape.check/1",
        "trace": {"path": found.path, "run_id": found.run_id, "name": found.name},
        "version": found.version,
        "events": found.events,
        "bytes": found.bytes,
        "ended": found.ended,
        "requests": found.requests,
        "sound": found.sound,
        "problems": [{"line": p.line, "offset": p.offset, "what": p.what} for p in found.problems],
        "lacks": [{"event": k.event, "what": k.what, "fatal": k.fatal} for k in found.lacks],
    }
