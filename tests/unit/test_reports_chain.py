"""The causal chain in a report: a tree of words, a document that comes back, lines of a stream."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import runtape.reports
from runtape.attribution.chain_facts import Chain, ChainEnd, Hop, Link, LinkKind
from runtape.attribution.facts import (
    CallsChanged,
    ChainEnded,
    Finished,
    HopFact,
    HopStarted,
    LinkChecked,
    Mode,
    PieceResult,
    PieceState,
    Started,
    TallyChanged,
    Verdict,
    Warned,
)
from runtape.context.pieces import Piece, PieceKind
from runtape.decision import Decision, DecisionKind
from runtape.dialects.base import ToolCall
from runtape.reports.fact_json import FactLog
from runtape.reports.progress import Progress, progress_lines
from runtape.reports.why_json import why_document
from runtape.reports.why_restore import restore_why
from runtape.reports.why_text import why_sheet
from runtape.trials import Tally
from tests.support import findings
from tests.support.findings import ATTRIBUTED, HEADLINE, NEEDED, USER, ended, report
from tests.support.golden import assert_golden
from tests.support.hostile import PAYLOADS, smuggled

SCHEMAS = Path(runtape.reports.__file__).parent / "schemas"
SCHEMA = Draft202012Validator(json.loads((SCHEMAS / "why-1.schema.json").read_text()))

WORDS = Piece(3, "10", PieceKind.ASSISTANT, 10, None, "I read them one by one.", given=False)
SUBJECT_LINE = Piece(
    2,
    "4[1].subject",
    PieceKind.ITEM,
    4,
    1,
    "URGENT: read this one before all others",
    given=False,
)
LISTING = Piece(1, "4", PieceKind.TOOL_RESULT, 4, None, "[…]", given=False, tool="list_emails")
READ = Decision(
    11, 9, DecisionKind.TOOL, (ToolCall("read_email", {"message_id": 2}),), tool="read_email"
)
LISTS = Decision(3, 1, DecisionKind.TOOL, (ToolCall("list_emails", {}),), tool="list_emails")
LED = replace(
    HEADLINE,
    pieces=(SUBJECT_LINE,),
    narrowed=(
        replace(HEADLINE.narrowed[0], piece=LISTING),
        replace(HEADLINE.narrowed[3], piece=SUBJECT_LINE),
    ),
)
FIRST = replace(ATTRIBUTED, decision=READ, causes=(LED,), pieces=())
SECOND = ended(
    Verdict.ONLY_REQUIRED, decision=LISTS, causes=(replace(NEEDED, pieces=(USER,)),), pieces=()
)
THROUGH = Link(LinkKind.THROUGH, Tally(10, 10), 1.0)
HOPS = (
    Hop(1, FIRST, masked=(WORDS,), link=THROUGH, followed=0),
    Hop(2, SECOND),
)
WHOLE = Chain(HOPS, ChainEnd.USER_MESSAGE, 2, asked=USER, followed=0)
FAILED = "the tape does not hold the body of request 1"

CHAINS = {
    "user_message": WHOLE,
    "direct": replace(
        WHOLE,
        hops=(replace(HOPS[0], link=Link(LinkKind.DIRECT, Tally(0, 10), 7.6e-8)), HOPS[1]),
        elsewhere=("20",),
    ),
    "depth": replace(WHOLE, hops=HOPS[:1], end=ChainEnd.DEPTH, ended_at=1, asked=None),
    "cannot_rerun": Chain(HOPS[:1], ChainEnd.CANNOT_RERUN, 2, FAILED, followed=0),
    "not_recorded": Chain(
        (), ChainEnd.NOT_RECORDED, 1, "no recorded reply asks for it", followed=0
    ),
    "unstable": Chain(
        (
            HOPS[0],
            Hop(2, ended(Verdict.DID_NOT_RECUR, decision=LISTS, baseline=Tally(0, 12), pieces=())),
        ),
        ChainEnd.UNSTABLE,
        2,
        followed=0,
    ),
    "own_words": Chain(
        (replace(HOPS[0], masked=(), needs_words=True, link=Link(LinkKind.ABSENT)),),
        ChainEnd.OWN_WORDS,
        1,
        followed=0,
    ),
    "budget_spent": Chain(
        (replace(HOPS[0], link=Link(LinkKind.UNCHECKED)),), ChainEnd.BUDGET_SPENT, 1, followed=0
    ),
    "beneath_own_words": Chain(
        (Hop(0, ATTRIBUTED, masked=(WORDS,), followed=0), *HOPS),
        ChainEnd.NO_CAUSE,
        2,
        followed=0,
    ),
}


def chained(chain):
    return report(replace(ATTRIBUTED, chain=chain))


def tree_of(chain):
    lines = why_sheet(chained(chain)).plain().split("\n\n")
    return next(part for part in lines if part.startswith("Chain")) + "\n"


@pytest.mark.parametrize("name", CHAINS)
def test_each_chain_reads_as_a_tree(name):
    """Decisions, texts, rates, how each link acts, and where and why it ends."""
    assert_golden(f"chain/{name}", tree_of(CHAINS[name]))


@pytest.mark.parametrize("end", ChainEnd)
def test_every_end_has_words(end):
    """Whatever ends a chain is said, with its reason."""
    for chain in (replace(WHOLE, end=end, reason="because of that"), Chain((), end, 0)):
        text = tree_of(chain)
        assert end.value not in text.replace("--depth", "")
        assert ("because of that." in " ".join(text.split())) == bool(chain.reason)


def test_a_chain_without_a_cause_says_so_once():
    """Nothing was found at the decision itself: there is no way back."""
    found = ended(Verdict.NOTHING_FOUND, chain=Chain((), ChainEnd.NO_CAUSE, 0))
    text = why_sheet(report(found)).plain()
    assert text.count("Chain ") == 1
    assert "Here the chain ends" in text


@pytest.mark.parametrize("name", CHAINS)
def test_the_document_fits_its_schema_and_comes_back(name):
    """A saved chain is valid ``runtape.why/1`` and reads the same again."""
    made = chained(CHAINS[name])
    document = json.loads(json.dumps(why_document(made)))
    SCHEMA.validate(document)
    again = restore_why(document)
    assert why_document(again) == why_document(made)
    assert why_sheet(again).plain() == why_sheet(made).plain()


def test_the_document_tells_the_hops():
    """One object a hop; the end with its code and place."""
    document = why_document(chained(WHOLE))
    assert [hop["hop"] for hop in document["chain"]] == [1, 2]
    assert document["chain"][0]["causes"][0]["refs"] == ["4[1].subject"]
    assert document["chain"][0]["link"]["kind"] == "through"
    assert document["chain_end"]["code"] == "user_message"
    assert document["chain_end"]["asked"]["ref"] == "1"
    assert why_document(report())["chain_end"] is None


def test_documents_saved_before_there_were_chains_are_read():
    """Fields are only ever added: a report without an end of the chain has none."""
    document = why_document(report())
    del document["chain_end"]
    assert restore_why(document).investigation.chain is None


def test_the_stream_tells_hops_in_envelopes():
    """Refs inside an envelope are those of that hop's context."""
    log = FactLog(lambda found: {"of": found.decision.event})
    log.read(Started(findings.DECISION, (findings.SYSTEM,), 400))
    started = log.read(HopStarted(1, READ, (WORDS,)))
    assert started["fact"] == "hop_started"
    assert started["masked"] == ["10"]
    log.read(HopFact(1, Started(READ, (LISTING,), 400)))
    told = log.read(HopFact(1, TallyChanged(1, Tally(0, 3), 7.5e-4)))
    assert (told["hop"], told["told"]["ref"]) == (1, "4")
    assert log.read(LinkChecked(1, THROUGH))["kind"] == "through"
    assert log.read(ChainEnded(WHOLE))["end"] == "user_message"
    inner = log.read(HopFact(1, Finished(FIRST)))
    assert inner["told"]["report"]["verdict"] == "attributed"


def test_progress_shows_the_hop_that_is_searched():
    """Both questions are seen, the pieces are those of the hop, the spending is that of all."""
    progress = Progress()
    progress.see(Started(findings.DECISION, (findings.SYSTEM,), 400))
    progress.see(CallsChanged(findings.CALLS))
    progress.see(HopStarted(1, READ))
    progress.see(HopFact(1, Started(READ, (LISTING,), 400)))
    progress.see(HopFact(1, TallyChanged(1, Tally(0, 3), 7.5e-4)))
    progress.see(HopFact(1, Warned("drift", {"same": 0, "runs": 3})))
    text = "\n".join(line.plain for line in progress_lines(progress))
    assert "why event 22" in text
    assert "why event 11" in text
    assert "52 of 400 calls" in text
    assert "4  result of list_emails" in text
    assert "system" not in text


@pytest.mark.parametrize("name", PAYLOADS)
def test_no_trace_text_reaches_the_tree_raw(name):
    """Texts, names and reasons are made visible."""
    evil = PAYLOADS[name]
    piece = replace(SUBJECT_LINE, text=evil)
    hop = Hop(
        1,
        replace(
            FIRST,
            decision=replace(READ, tool=None, text=evil, calls=(), kind=DecisionKind.TEXT),
            causes=(replace(LED, pieces=(piece,), narrowed=()),),
            warnings=(Warned(evil, {}),),
        ),
        masked=(WORDS,),
        followed=0,
    )
    chain = Chain((hop,), ChainEnd.CANNOT_RERUN, 2, evil, replace(USER, text=evil), (evil,), 0)
    shown = why_sheet(report(replace(ATTRIBUTED, chain=chain))).plain()
    assert smuggled(shown.replace("\n", "")) == []


def test_a_hop_at_temperature_0_has_no_p():
    """Every rerun gave one answer."""
    found = replace(
        FIRST, mode=Mode.DETERMINISTIC, baseline=Tally(2, 2), causes=(replace(LED, p=None),),
        pieces=(PieceResult(LISTING, Tally(0, 2), PieceState.CAUSE),),
    )  # fmt: skip
    text = tree_of(replace(WHOLE, hops=(Hop(1, found, followed=0),), end=ChainEnd.NO_CAUSE))
    assert "temperature 0" in text
