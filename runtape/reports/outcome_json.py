"""Outcomes, tallies and intervals as JSON, and back."""

from __future__ import annotations

from collections.abc import Iterable

from runtape.decision import Outcome, OutcomeKind
from runtape.evidence import wilson
from runtape.jsonio import Json
from runtape.reports.words import happenings
from runtape.trials import Tally


def tally_json(counts: Tally) -> Json:
    """``{"same": 0, "runs": 10}``."""
    return {"same": counts.same, "runs": counts.runs}


def interval_json(counts: Tally) -> list[float] | None:
    """The 95 % Wilson interval, rounded to four digits; None without runs."""
    if not counts.runs:
        return None
    return [round(end, 4) for end in wilson(counts.same, counts.runs)]


def read_tally(data: Json) -> Tally:
    """The inverse of :func:`tally_json`."""
    return Tally(data["same"], data["runs"])


def outcomes_json(
    outcomes: Iterable[tuple[Outcome, int]], decided: frozenset[str] = frozenset()
) -> list[Json]:
    """Outcomes counted by phrase; ``of`` keeps each distinct one."""
    return [
        {
            "outcome": way.phrase,
            "count": way.count,
            "kind": way.sample.kind.value,
            "of": [{**outcome_json(outcome), "count": count} for outcome, count in way.of],
        }
        for way in happenings(outcomes, decided)
    ]


def outcome_json(outcome: Outcome) -> Json:
    """One outcome; arguments stay canonical JSON text."""
    return {
        "kind": outcome.kind.value,
        "calls": [{"name": name, "arguments": arguments} for name, arguments in outcome.calls],
        "text": outcome.text,
        "as_text": outcome.as_text,
    }


def read_outcomes(data: Iterable[Json]) -> tuple[tuple[Outcome, int], ...]:
    """The inverse of :func:`outcomes_json`."""
    return tuple((_outcome(member), member["count"]) for group in data for member in group["of"])


def _outcome(data: Json) -> Outcome:
    return Outcome(
        OutcomeKind(data["kind"]),
        tuple((call["name"], call["arguments"]) for call in data["calls"]),
        data["text"],
        data.get("as_text", False),
    )
