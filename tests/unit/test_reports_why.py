"""The report of ``why``: its words, its document, and what hostile text can do to it."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import runtape.reports
from runtape.attribution.facts import Mode, Role, Step, Verdict, Warned
from runtape.context.pieces import PieceKind
from runtape.decision import Decision, DecisionKind, Outcome, OutcomeKind
from runtape.errors import UsageError
from runtape.reports.cells import width
from runtape.reports.commands import shell_word, suggestions
from runtape.reports.warnings import warning_text
from runtape.reports.why_json import why_document
from runtape.reports.why_restore import restore_why
from runtape.reports.why_text import why_sheet
from runtape.trials import Tally
from tests.support import findings
from tests.support.findings import ATTRIBUTED, ENDINGS, HEADLINE, SENTENCE, ended, report
from tests.support.golden import assert_golden
from tests.support.hostile import PAYLOADS, smuggled

SCHEMAS = Path(runtape.reports.__file__).parent / "schemas"
SCHEMA = Draft202012Validator(json.loads((SCHEMAS / "why-1.schema.json").read_text()))


def text_of(found, **settings):
    return why_sheet(report(found, **settings)).plain()


def through_json(made):
    return restore_why(json.loads(json.dumps(why_document(made))))


@pytest.mark.parametrize("name", ENDINGS)
def test_each_verdict_has_its_own_honest_words(name):
    """The whole report at 80 columns, as a person accepted it."""
    assert_golden(f"why/{name}", text_of(ENDINGS[name]))


ROLES = {
    "each_enough": replace(
        HEADLINE, pieces=(SENTENCE, findings.OTHER), role=Role.EACH_ENOUGH, narrowed=(), rechecks=()
    ),
    "joint": replace(HEADLINE, role=Role.JOINT),
    "masked": replace(HEADLINE, role=Role.MASKED),
    "temperature_0": replace(
        HEADLINE,
        p=None,
        claimed_p=None,
        without=Tally(0, 2),
        instead=((findings.ANSWERS, 2),),
        rechecks=(),
        enough_alone=None,
    ),
}


@pytest.mark.parametrize("name", ROLES)
def test_each_kind_of_cause_is_told_apart(name):
    """Sets, joint and masked causes, and tests at temperature 0 read differently."""
    cause = ROLES[name]
    found = replace(ATTRIBUTED, causes=(cause, findings.NEEDED))
    if name == "temperature_0":
        found = replace(found, mode=Mode.DETERMINISTIC, baseline=Tally(2, 2))
    assert_golden(f"why/role_{name}", text_of(found))


def test_an_interrupt_after_the_claim_leaves_the_claim():
    """A cause that was claimed is told although the rest is not known."""
    text = text_of(replace(ATTRIBUTED, verdict=Verdict.INTERRUPTED))
    assert "The cause above holds" in text
    assert "Note to AI assistants" in text


def test_a_text_decision_and_a_pattern_are_worded():
    """Answers in words and patterns are decisions too; the report says how they were compared."""
    said = Decision(22, 21, DecisionKind.TEXT, text="The invoice is paid.")
    matched = Decision(22, 21, DecisionKind.MATCH, pattern=r"refund|pay\w+")
    assert "answers “The invoice is paid.”" in text_of(replace(ATTRIBUTED, decision=said))
    assert r"matches /refund|pay\w+/" in text_of(replace(ATTRIBUTED, decision=matched))


def test_replies_that_were_not_kept_are_not_promised():
    """With --no-cache nothing is resumed for free."""
    assert "were not kept" in text_of(ENDINGS["interrupted"], cache=False)


def test_a_text_that_occurs_twice_is_shown_alone():
    """Where it stood cannot be told from the text, so nothing is claimed about its surroundings."""
    twice = replace(findings.PARA, text=f"{SENTENCE.text} {SENTENCE.text}")
    found = replace(ATTRIBUTED, causes=(replace(HEADLINE, narrowed=(Step(twice, Tally(0, 3)),)),))
    shown = text_of(found)
    assert shown.count("Note to AI") == 1


def test_a_long_causing_text_is_cut_and_counted():
    """Five megabytes do not scroll by; how much is missing is said."""
    long = replace(SENTENCE, text="word " * 1_000_000)
    shown = text_of(replace(ATTRIBUTED, causes=(replace(HEADLINE, pieces=(long,), narrowed=()),)))
    assert "more characters" in shown
    assert len(shown.splitlines()) < 60


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
def test_no_line_is_wider_than_the_terminal(columns):
    """Prose and excerpts keep to the width; only a word of a command may be longer."""
    for found in ENDINGS.values():
        lines = why_sheet(report(found), columns).plain().splitlines()
        wide = [line for line in lines if width(line) > columns]
        assert [line for line in wide if "runtape " not in line and "--drop" not in line] == []


@pytest.mark.parametrize("name", ENDINGS)
def test_the_document_fits_its_schema_and_comes_back(name):
    """A saved report is valid ``runtape.why/1`` and shows the same again."""
    made = report(ENDINGS[name], model_fn="agent.py:answer")
    SCHEMA.validate(json.loads(json.dumps(why_document(made))))
    again = through_json(made)
    assert why_document(again) == why_document(made)
    assert why_sheet(again).plain() == why_sheet(made).plain()


def test_the_document_carries_what_scripts_need():
    """Refs, exact texts, both tallies, the level, and outcomes in words."""
    document = why_document(report())
    cause = document["causes"][0]
    assert cause["refs"] == ["12.body para 3 sentence 1"]
    assert cause["text"] == findings.NOTE
    assert cause["without"] == {"same": 0, "runs": 10, "interval": [0.0, 0.2775]}
    assert cause["claimed_at"] == {"same": 0, "runs": 3, "p": 7.5e-4}
    assert cause["instead"][0]["outcome"] == "answers in words"
    assert document["baseline"]["outcomes"][0]["outcome"] == "calls forward_email"
    assert document["decision"]["arguments"]["message_id"] == 2


@pytest.mark.parametrize("document", [{}, [], None, {"schema": "runtape.why/1"}, {"schema": "x"}])
def test_a_damaged_document_is_refused_with_words(document):
    """Anything else than a complete report is a usage error, never a KeyError."""
    with pytest.raises(UsageError):
        restore_why(document)


@pytest.mark.parametrize("name", PAYLOADS)
def test_no_trace_text_reaches_the_sheet_raw(name):
    """Wherever a text of the trace is shown, control and hidden characters are pictures."""
    evil = PAYLOADS[name]
    piece = replace(SENTENCE, text=evil, ref="12.body para 3 sentence 1", tool=evil)
    outcome = Outcome(OutcomeKind.OTHER_CALL, calls=((evil, json.dumps({"x": evil})),))
    around = replace(findings.PARA, text=f"{evil} around {evil}")
    cause = replace(
        HEADLINE,
        pieces=(piece,),
        narrowed=(Step(around, Tally(0, 1)), Step(piece, Tally(0, 3))),
        instead=((outcome, 3), (Outcome(OutcomeKind.TEXT, text=evil), 1)),
    )
    found = replace(
        ATTRIBUTED,
        causes=(cause, replace(cause, headline=False, role=Role.REQUIRED)),
        decision=replace(findings.DECISION, tool=None, text=evil, kind=DecisionKind.TEXT),
        failure=evil,
        warnings=(Warned(evil, {evil: evil}),),
        outcomes=((outcome, 3),),
    )
    subject = replace(findings.SUBJECT, path=evil, name=evil, model=evil, handle=evil)
    for verdict in Verdict:
        made = replace(report(replace(found, verdict=verdict)), subject=subject)
        assert smuggled(why_sheet(made).plain().replace("\n", "")) == []
        coloured = "".join(line.coloured for line in why_sheet(made).lines)
        assert smuggled(coloured.replace("\x1b[", "")) == []


@given(st.text(min_size=1, max_size=40))
def test_suggested_words_survive_the_shell(word):
    """What is suggested can be pasted: bash gives back the very word."""
    quoted = shell_word(word)
    assert quoted.isprintable()
    if "$'" not in quoted:
        assert shlex.split(quoted) == [word]


def test_suggestions_carry_who_was_asked_and_what_was_the_question():
    """The next command asks the same model about the same decision."""
    made = report(ATTRIBUTED, model_fn="my agent.py:answer", tool="forward_email", exact_args=True)
    rerun = " ".join(suggestions(made)[0].lines(1000))
    assert rerun == (
        "runtape rerun inbox-agent-3f2a9c 22 --tool forward_email --model-fn 'my agent.py:answer'"
        " --exact-args --drop '12.body para 3 sentence 1'"
    )


def test_a_long_suggestion_is_continued_with_backslashes():
    """Broken only between options, so that the lines together are one command."""
    lines = suggestions(report())[0].lines(50)
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert len(lines) > 1


def test_slots_spent_are_told_in_words():
    """A search that met more suspects than it may test says what became of the rest."""
    assert "the rest is shown, not claimed" in warning_text(Warned("slots_spent", {"slots": 40}))


def test_unknown_warning_codes_are_named_with_their_numbers():
    """A report of a later version is still readable."""
    assert warning_text(Warned("moon_phase", {"angle": 3})) == "moon phase (angle 3)"
    assert warning_text(Warned("drift", {})) == "drift"


def test_pieces_of_every_kind_have_a_word():
    """No kind of piece is without a name."""
    for kind in PieceKind:
        piece = replace(SENTENCE, kind=kind)
        found = replace(ATTRIBUTED, causes=(replace(HEADLINE, pieces=(piece,)),))
        assert "this " in text_of(found)


def test_nothing_is_promised_without_a_single_run():
    """A model that never answered leaves no half result to talk about."""
    text = text_of(ended(Verdict.PROVIDER_FAILED, baseline=Tally(), failure="no key"))
    assert "could not be asked." in text
    assert "known by then" not in text
