"""The report of ``fix``: its words, its document, its stream, its live table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import runtape.reports
from runtape.attribution.facts import CallsChanged, Started, TallyChanged
from runtape.decision import Decision, DecisionKind, Outcome, OutcomeKind
from runtape.remedies.facts import (
    Bystander,
    BystanderChanged,
    Effect,
    EffectChanged,
    Explained,
    FixEnd,
    FixFinished,
    Graded,
    Keeping,
    Proposed,
    RemainsChanged,
    Remedy,
    RemedyKind,
    Trial,
    Watched,
)
from runtape.reports.cells import width
from runtape.reports.commands import fix_suggestions
from runtape.reports.fix_json import FixLog, fix_document
from runtape.reports.fix_progress import FixProgress, fix_progress_lines
from runtape.reports.fix_restore import restore_fix
from runtape.reports.remedies_text import fix_sheet
from runtape.reports.remedy_words import NAME_CELLS, remedy_names, remedy_words
from runtape.trials import Tally
from tests.support import findings
from tests.support.fixes import BYSTANDERS, FIXES, GUARD, MEASURED, RULE, TRIALS, fix_report
from tests.support.golden import assert_golden
from tests.support.hostile import PAYLOADS, smuggled

SCHEMAS = Path(runtape.reports.__file__).parent / "schemas"
SCHEMA = Draft202012Validator(json.loads((SCHEMAS / "fix-1.schema.json").read_text()))


def text_of(found, **settings):
    return fix_sheet(fix_report(found, **settings)).plain()


@pytest.mark.parametrize("name", FIXES)
def test_each_ending_has_its_own_honest_words(name):
    """The whole report at 80 columns, as a person accepted it."""
    assert_golden(f"fix/{name}", text_of(FIXES[name]))


@pytest.mark.parametrize("name", FIXES)
def test_the_document_fits_its_schema(name):
    """Valid ``runtape.fix/1``, and the same again when it is read back."""
    made = fix_report(FIXES[name], model_fn="agent.py:answer")
    document = json.loads(json.dumps(fix_document(made)))
    SCHEMA.validate(document)
    again = restore_fix(document)
    assert fix_sheet(again).plain() == fix_sheet(made).plain()


def test_the_document_carries_what_scripts_need():
    """Grades, both p values, the bound, what is broken and by what it is replaced."""
    document = fix_document(fix_report())
    rule, passes = document["remedies"][0], document["remedies"][document["best"]]
    assert (rule["grade"], passes["grade"], passes["kind"]) == ("PART", "PASS", "guard")
    assert passes["remains"] == {
        "same": 0, "runs": 10, "interval": [0.0, 0.2775], "largest_rate": 0.2589,
    }  # fmt: skip
    assert passes["p"] < passes["p_adjusted"]
    assert document["correction"] == {"method": "holm", "alpha": 0.05, "remedies": len(TRIALS)}
    broken = next(e for e in rule["effects"] if e["keeping"] == "broken")
    assert document["decisions"][broken["decision"]]["tool"] == "read_email"
    assert broken["instead"][0]["count"] == 11


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(columns):
    """Only commands may be longer."""
    for found in FIXES.values():
        lines = fix_sheet(fix_report(found), columns).plain().splitlines()
        wide = [line for line in lines if width(line) > columns]
        assert [line for line in wide if "runtape " not in line and "--" not in line] == []


@pytest.mark.parametrize("name", PAYLOADS)
def test_no_trace_text_reaches_the_sheet_raw(name):
    """Rules, file names, replies, tools, paths: all are made visible."""
    evil = PAYLOADS[name]
    outcome = Outcome(OutcomeKind.OTHER_CALL, calls=((evil, json.dumps({"x": evil})),))
    decision = Decision(8, 5, DecisionKind.TOOL, tool=evil)
    made = Trial(
        Remedy(RemedyKind.OWN_RULE, system=evil, source=evil, model=evil),
        Tally(0, 10),
        0.001,
        0.001,
        ((outcome, 10),),
        (Effect(0, Keeping.BROKEN, Tally(0, 15), 1e-9, ((outcome, 15),)),),
        failure=evil,
    )
    for grade in (*{t.grade for t in TRIALS}, None):
        found = replace(
            MEASURED,
            trials=(replace(made, grade=grade),),
            bystanders=(Bystander(decision, evil, Tally(15, 15), stable=True),),
            failure=evil,
            end=FixEnd.PROVIDER_FAILED,
        )
        assert smuggled(text_of(found).replace("\n", "")) == []


def test_names_are_short_and_tell_rules_apart():
    """By their file, or by a number."""
    own = [Remedy(RemedyKind.OWN_RULE, system=text) for text in ("a", "b")]
    file = Remedy(RemedyKind.OWN_RULE, system="c", source="a/very/long/path/to/a/rule-file.md")
    model = Remedy(RemedyKind.MODEL, model="provider/some-model-with-a-long-name-2026-01-01")
    names = remedy_names([RULE, *own, file, model])
    assert names[1:3] == ["own rule 1", "own rule 2"]
    assert names[3].endswith("file.md")
    assert all(width(name) <= NAME_CELLS for name in names)
    assert remedy_names(own[:1]) == ["own rule"]


def test_every_remedy_can_be_applied():
    """What one has to do is said for each kind."""
    for made in TRIALS:
        assert remedy_words(made.remedy)
    assert "quote 4 as data" in remedy_words(Remedy(RemedyKind.QUOTE, quote=("4",)))


def test_suggestions_ask_the_same_question_again():
    """Rules, further traces and who was asked go on to the next command."""
    settings = {
        "model_fn": "agent.py:answer",
        "rules": ["Be careful.", "rules.md"],
        "also": ["other"],
        "exact_args": True,
    }
    (test,) = fix_suggestions(fix_report(**settings))
    assert " ".join(test.lines(1000)) == (
        "runtape fix inbox-agent-3f2a9c 22 --rule 'Be careful.' --rule rules.md --also other"
        " --model-fn agent.py:answer --exact-args --write-test tests/test_inbox_agent.py"
    )
    (again,) = fix_suggestions(fix_report(FIXES["budget_spent"]))
    assert "--budget 800" in " ".join(again.lines(1000))
    odds, *_ = fix_suggestions(fix_report(FIXES["nothing_to_fix"], rules=["x"]))
    assert " ".join(odds.lines(1000)) == "runtape odds inbox-agent-3f2a9c 22 --runs 40"


# ── while it runs ─────────────────────────────────────────────────────────────────────────────

FACTS = (
    Started(findings.DECISION, (findings.SYSTEM,), 400),
    TallyChanged(0, Tally(2, 2), 1.0),
    Explained(findings.ATTRIBUTED),
    Proposed((RULE, GUARD), 10),
    RemainsChanged(0, Tally(2, 7), 0.01),
    RemainsChanged(1, Tally(0, 10), 1e-7),
    CallsChanged(findings.CALLS),
    Watched(BYSTANDERS, 2),
    BystanderChanged(0, Tally(5, 5), stable=True),
    EffectChanged(1, 0, Tally(5, 5), Keeping.KEPT),
    EffectChanged(1, 1, Tally(2, 3)),
    Graded(1, TRIALS[1]),
    FixFinished(MEASURED),
)


def drawn(facts):
    progress = FixProgress()
    for fact in facts:
        progress.see(fact)
    return "\n".join(line.plain for line in fix_progress_lines(progress))


def test_the_live_table_fills_as_facts_come():
    """First the search, then a row for each remedy, its numbers, its grade."""
    assert "why event 22" in drawn(FACTS[:2])
    table = drawn(FACTS[:7])
    assert "fix event 22" in table
    assert "2/7" in table
    assert "52 of 400 calls, 2 remedies" in table
    assert "◌" in table
    assert "keeps 1/1" in drawn(FACTS[:11])
    assert "3 other decisions to be kept" in drawn(FACTS[:11])
    done = drawn(FACTS[:12]).splitlines()
    assert done[-1].startswith("PASS  action guard")
    assert "keeps 2/2" in done[-1]
    assert "230 of 400 calls" in drawn(FACTS)


def test_a_table_without_a_search_begins_with_the_remedies():
    """What the app found out before is not searched again."""
    assert "fix event 22" in drawn(FACTS[2:6])


def test_the_stream_is_one_object_a_fact():
    """Facts of the search are as in its own stream; the last object is the document."""
    log = FixLog(lambda fix: {"of": fix.decision.event})
    told = [json.loads(json.dumps(log.read(fact))) for fact in FACTS]
    assert [entry["fact"] for entry in told] == [
        "started", "tally", "explained", "proposed", "remains", "remains", "calls", "watched",
        "kept_without", "effect", "effect", "graded", "finished",
    ]  # fmt: skip
    assert told[1]["ref"] == "system"
    assert told[3]["remedies"][1]["kind"] == "guard"
    assert told[9]["keeping"] == "kept"
    assert told[11]["grade"] == "PASS"
    assert told[-1]["report"] == {"of": 22}
