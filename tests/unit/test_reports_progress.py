"""Progress, the stream of facts as JSON lines, and distributions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import runtape.reports
from runtape.attribution.distribution import Distribution
from runtape.attribution.facts import (
    BaselineChanged,
    Calls,
    CallsChanged,
    CauseConfirmed,
    Finished,
    Mode,
    Phase,
    PhaseChanged,
    PieceAsked,
    PieceChanged,
    PieceState,
    Started,
    TallyChanged,
    Unfolded,
    Warned,
)
from runtape.attribution.sampling import Sample
from runtape.decision import Outcome, OutcomeKind
from runtape.dialects.base import Reply
from runtape.reports.distribution_json import distribution_document
from runtape.reports.distribution_report import DistributionReport
from runtape.reports.distribution_text import distribution_sheet
from runtape.reports.fact_json import FactLog
from runtape.reports.progress import Progress, progress_lines, status_line
from runtape.reports.why_json import why_document
from runtape.trials import Tally
from tests.support import findings
from tests.support.golden import assert_golden
from tests.support.hostile import PAYLOADS, smuggled

SCHEMAS = Path(runtape.reports.__file__).parent / "schemas"
DISTRIBUTION = Draft202012Validator(
    json.loads((SCHEMAS / "distribution-1.schema.json").read_text())
)

FACTS = [
    Started(findings.DECISION, (findings.SYSTEM, findings.USER, findings.EMAIL), 400),
    PhaseChanged(Phase.SCREEN),
    BaselineChanged(Tally(18, 18), settled=True, mode=Mode.CONSISTENT, level=8.1e-4, slots=40),
    PieceAsked((findings.SYSTEM.id, findings.EMAIL.id), 2),
    TallyChanged(findings.EMAIL.id, Tally(0, 2), 0.0053),
    PieceChanged(findings.EMAIL.id, PieceState.SUSPECTED),
    Unfolded(findings.EMAIL.id, (findings.BODY_PIECE,)),
    TallyChanged(findings.BODY_PIECE.id, Tally(0, 3), 7.5e-4),
    PieceChanged(findings.BODY_PIECE.id, PieceState.CAUSE),
    CauseConfirmed(findings.HEADLINE),
    CallsChanged(Calls(made=30, cached=4, budget=400, input_tokens=5000, output_tokens=300)),
    Warned("choices_ignored"),
    Finished(findings.ATTRIBUTED),
]


def seen(facts=FACTS):
    progress = Progress()
    for fact in facts:
        progress.see(fact)
    return progress


def test_progress_shows_what_falls_first():
    """Claimed pieces above suspected ones above those in flight."""
    lines = [entry.plain for entry in progress_lines(seen(FACTS[:-1]))]
    assert lines[0].startswith("why event 22 calls forward_email(")
    assert "30 of 400 calls, 4 cached, unchanged 18/18" in lines[1]
    assert [entry[:8] for entry in lines[2:]] == ["●   0/3 ", "◍   0/2 ", "◌     … "]


def test_facts_in_any_order_and_number_do_no_harm():
    """A view that joins late, or hears of a piece it does not know, just shows less."""
    for start in range(len(FACTS)):
        assert progress_lines(seen(FACTS[start:]))
    assert status_line(Progress()).plain


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_progress_keeps_to_the_width(columns):
    """A live view that wraps flickers."""
    for entry in progress_lines(seen(), columns):
        assert len(entry.plain) <= max(columns, 58)


def test_each_fact_is_one_object_that_says_what_it_is():
    """Refs instead of numbers; the last one holds the whole report."""
    log = FactLog(lambda found: why_document(findings.report(found)))
    objects = [json.loads(json.dumps(log.read(fact))) for fact in FACTS]
    assert [entry["fact"] for entry in objects] == [
        "started", "phase", "baseline", "asked", "tally", "state", "unfolded", "tally", "state",
        "cause", "calls", "warning", "finished",
    ]  # fmt: skip
    assert objects[3]["refs"] == ["system", "12"]
    assert objects[7]["ref"] == "12.body"
    assert objects[-1]["report"]["schema"] == "runtape.why/1"


def sample(outcome):
    return Sample(Reply(text="x"), outcome)


def distribution(same, other, **fields):
    samples = [sample(findings.FORWARDS)] * same + [sample(findings.ANSWERS)] * other
    return Distribution(findings.DECISION, tuple(samples), same + other, **fields)


RERUN = distribution(0, 10, baseline=distribution(10, 0), calls=replace(findings.CALLS, rounds=1))
ODDS = distribution(7, 3, calls=replace(findings.CALLS, rounds=1))
CASES = {
    "rerun": DistributionReport(RERUN, findings.SUBJECT, ("without 12.body para 3 sentence 1",)),
    "odds": DistributionReport(ODDS, findings.SUBJECT),
    "failed": DistributionReport(
        replace(distribution(2, 1), failure="the provider answered 429: slow down"),
        findings.SUBJECT,
    ),
    "nothing": DistributionReport(Distribution(findings.DECISION, asked=10), findings.SUBJECT),
}


@pytest.mark.parametrize("name", CASES)
def test_a_distribution_reads_as_accepted(name):
    """Counts on the left, the recorded decision marked, both sides for a rerun."""
    assert_golden(f"distribution/{name}", distribution_sheet(CASES[name]).plain())


@pytest.mark.parametrize("name", CASES)
def test_a_distribution_document_fits_its_schema(name):
    """``runtape.distribution/1``."""
    document = json.loads(json.dumps(distribution_document(CASES[name])))
    DISTRIBUTION.validate(document)


@pytest.mark.parametrize("name", PAYLOADS)
def test_hostile_outcomes_stay_pictures(name):
    """In progress, and in a distribution."""
    evil = PAYLOADS[name]
    outcome = Outcome(OutcomeKind.OTHER_CALL, calls=((evil, json.dumps({"x": evil})),))
    found = Distribution(findings.DECISION, (sample(outcome),), 1, failure=evil)
    made = DistributionReport(found, replace(findings.SUBJECT, path=evil), (evil,))
    assert smuggled(distribution_sheet(made).plain().replace("\n", "")) == []
    piece = replace(findings.EMAIL, text=evil, tool=evil)
    facts = [Started(findings.DECISION, (piece,), 4), TallyChanged(piece.id, Tally(1, 2), 0.1)]
    for entry in progress_lines(seen(facts)):
        assert smuggled(entry.plain) == []
