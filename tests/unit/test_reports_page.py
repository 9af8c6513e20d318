"""The page of a ``why``, its picture, its Markdown: what they show, and what cannot get out."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.attribution.facts import PieceState, Role, Verdict
from runtape.attribution.options import WhyOptions
from runtape.demo.agent import record_inbox, stand_in
from runtape.errors import UsageError
from runtape.remedies.options import FixOptions
from runtape.reports.fix_report import FixReport
from runtape.reports.fix_restore import restore_fix
from runtape.reports.heat import heat_map
from runtape.reports.html.elements import StyleSheet, tag
from runtape.reports.html.page import why_page
from runtape.reports.html.picture import why_picture
from runtape.reports.markdown import code, fenced, why_markdown
from runtape.reports.why_json import why_document
from runtape.reports.why_restore import restore_why
from runtape.visible import visible
from runtape.workbench import open_trace, prepare_fix, prepare_why
from runtape.workbench.saved import find_context, open_report
from tests.support import findings
from tests.support.evil import evil_fix, evil_report
from tests.support.findings import ATTRIBUTED, ENDINGS, HEADLINE, NOTE, ended, report
from tests.support.hostile import PAYLOADS, smuggled
from tests.support.markup import Seen, payloads

ATTACKS = {**payloads("http://attack.invalid"), **PAYLOADS}


@pytest.fixture(scope="module")
def inbox(tmp_path_factory):
    """The inbox story, recorded and explained: (report, context)."""
    folder = tmp_path_factory.mktemp("inbox")
    trace = open_trace(record_inbox(folder / "traces"))
    options = WhyOptions(model_fn=stand_in(), cache=False)
    job = prepare_why(trace, "tool:forward_email", options)
    return job.run(), job.context


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own text: that it parses is the test


def words_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html.split("</head>")[1]))


def test_the_page_answers_the_question(inbox):
    """Question, causing text, both rates, what it needs and every text the model saw."""
    words = words_of(why_page(*inbox))
    assert "Why did stand-in call forward_email?" in words
    assert "This sentence in the result of read_email" in words
    assert "18/18" in words
    assert "0/10" in words
    assert "inputs it cannot do without" in words
    for root in inbox[1].roots:
        if not root.divisible:
            assert root.text in words


def test_the_causing_text_is_marked_in_the_context(inbox):
    """The very words stand in the context too, inside a mark the excerpt links to."""
    html = why_page(*inbox)
    (target,) = set(re.findall(r'<figcaption><a href="#(piece-\d+)"', html))
    marked = html.split(f'id="{target}">')[1].split("</mark>")[0]
    assert "Note to AI assistants" in unescape(marked)


@pytest.mark.parametrize("name", ENDINGS)
def test_every_ending_has_a_page_a_picture_and_markdown(name):
    """No verdict is without one; the words are those of the text report."""
    made = report(ENDINGS[name])
    assert Seen(why_page(made)).dangers() == []
    assert parsed(why_picture(made)).tag.endswith("svg")
    assert why_markdown(made).startswith("### Why")


@pytest.mark.parametrize("calls", [True, False])
@pytest.mark.parametrize("name", ATTACKS)
def test_no_text_of_the_trace_becomes_markup(name, calls):
    """Wherever a hostile text stands, the page holds no element and no attribute of it."""
    for verdict in (Verdict.ATTRIBUTED, Verdict.PROVIDER_FAILED):
        made = evil_report(ATTACKS[name], verdict, calls=calls)
        html = why_page(made)
        seen = Seen(html)
        assert seen.dangers() == []
        assert seen.title.endswith("· runtape")
        assert smuggled(html) == []


@pytest.mark.parametrize("name", ATTACKS)
def test_no_text_of_a_fix_becomes_markup(name):
    """Rules, models, sources and broken decisions are foreign text as well."""
    made = evil_fix(ATTACKS[name])
    html = why_page(made.why, None, made)
    assert Seen(html).dangers() == []
    assert smuggled(html) == []
    outside = _outside_code(why_markdown(made.why, made))
    assert "script" not in outside
    assert "attack.invalid" not in outside


@pytest.mark.parametrize("name", ATTACKS)
def test_the_picture_stays_an_xml_document_of_its_own_elements(name):
    """Any text leaves the SVG well-formed; it holds drawings and text, nothing else."""
    root = parsed(why_picture(evil_report(ATTACKS[name])))
    names = {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in root.iter()}
    assert names <= {"svg", "title", "style", "rect", "text", "g"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in attributes if name.startswith("on") or "href" in name}


@given(st.text(max_size=60), st.text(max_size=60))
def test_text_and_values_come_back_as_they_were(text, value):
    """What is put into an element is its text and nothing else, whatever it holds."""
    shown = str(tag("p", text, title=value))
    inner = re.fullmatch(r'<p title="([^"<>]*)">([^<>]*)</p>', shown)
    assert inner is not None
    assert [unescape(part) for part in inner.groups()] == [visible(value).text, visible(text).text]


def test_an_element_refuses_what_could_run_or_lead_away():
    """Handlers, style attributes and addresses outside the page are mistakes of ours."""
    for attributes in ({"onclick": "x()"}, {"style": "x"}, {"href": "https://x"}, {"src": "x.png"}):
        with pytest.raises(ValueError, match="a page has no attribute"):
            tag("a", "x", **attributes)
    with pytest.raises(ValueError, match="style sheet"):
        StyleSheet("</style>")


def test_the_policy_of_the_page_allows_its_own_style_alone():
    """No script, no network, no inline style: the one style sheet is named by its hash."""
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', why_page(report()))
    assert policy is not None
    allowed = unescape(policy.group(1))
    assert allowed.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in allowed


def test_without_the_trace_the_page_shows_what_the_report_keeps():
    """A saved report alone gives pieces, numbers and beginnings of texts, and says so."""
    words = words_of(why_page(report()))
    assert "The trace was not at hand" in words
    assert NOTE in words
    assert findings.CONTACTS.text in words


def test_a_context_that_divides_otherwise_is_not_used(inbox):
    """Numbers are never put on pieces of another context."""
    _, context = inbox
    found = ATTRIBUTED
    assert heat_map(found, context) == heat_map(found)


def test_a_huge_context_makes_no_huge_page():
    """Of megabytes without effect the page shows both ends, and counts the rest."""
    big = replace(findings.USER, text="word " * 1_000_000)
    results = tuple(replace(r, piece=big) if r.piece.id == big.id else r for r in ATTRIBUTED.pieces)
    html = why_page(report(replace(ATTRIBUTED, pieces=results)))
    assert "more characters" in html
    assert len(html) < 200_000


def test_a_picture_of_many_pieces_leaves_out_the_calm_ones():
    """The rows that say something stay; the others are counted."""
    calm = [replace(findings.USER, id=1000 + n, ref=f"{n}") for n in range(300)]
    results = [replace(ATTRIBUTED.pieces[1], piece=piece) for piece in calm]
    svg = why_picture(report(replace(ATTRIBUTED, pieces=(*ATTRIBUTED.pieces, *results))))
    assert "other pieces" in svg
    assert "headline cause" in svg
    assert svg.count('class="row"') <= 60


def test_members_of_a_set_keep_their_own_numbers():
    """The runs without a whole set are not shown as those of one member."""
    both = replace(HEADLINE, pieces=(findings.SENTENCE, findings.OTHER), role=Role.EACH_ENOUGH)
    entries = heat_map(replace(ATTRIBUTED, causes=(both,)))
    other = next(entry for entry in entries if entry.piece.id == findings.OTHER.id)
    assert other.heat is not None
    assert other.heat.state is PieceState.CAUSE
    assert (other.heat.tally.same, other.heat.tally.runs) == (2, 2)


@pytest.mark.parametrize("name", ATTACKS)
def test_markdown_keeps_foreign_text_in_code(name):
    """Outside fences and code spans nothing of the trace is left."""
    made = why_markdown(evil_report(ATTACKS[name], Verdict.BUDGET_SPENT))
    outside = _outside_code(made)
    assert "script" not in outside
    assert "attack.invalid" not in outside
    assert "@everyone" not in outside
    assert smuggled(made) == []


def _outside_code(markdown: str) -> str:
    """What a CommonMark reader does not take for code."""
    kept: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        if fence:
            closing = re.fullmatch(r" {0,3}(`{3,})\s*", line)
            fence = "" if closing and len(closing.group(1)) >= len(fence) else fence
        elif opening := re.match(r" {0,3}(`{3,})[^`]*$", line):
            fence = opening.group(1)
        else:
            kept.append(re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", line))
    assert not fence
    return "\n".join(kept)


@given(st.text(max_size=200))
def test_code_cannot_be_left(text):
    """No text ends its own fence or its own span."""
    assert _outside_code(fenced(text)) == ""
    assert _outside_code(code(text)) == ""


def test_a_saved_report_finds_its_trace_again(inbox, tmp_path, monkeypatch):
    """By the path it names, or by its name in the folder of traces; only with the right run id."""
    made, context = inbox
    saved = tmp_path / "report.json"
    saved.write_text(json.dumps(why_document(made)))
    again = open_report(saved)
    found = find_context(again, tmp_path, tmp_path)
    assert found is not None
    assert [root.text for root in found.roots] == [root.text for root in context.roots]
    assert why_page(again, found) == why_page(made, context)
    moved = Path(made.subject.path)
    monkeypatch.chdir(tmp_path)
    lost = replace(again, subject=replace(again.subject, path=f"elsewhere/{moved.name}"))
    assert find_context(lost, tmp_path, moved.parent) is not None
    assert find_context(lost, tmp_path, tmp_path) is None
    other = replace(again, subject=replace(again.subject, run_id="another"))
    assert find_context(other, tmp_path, moved.parent) is None


def test_a_saved_fix_comes_back_and_shows_its_remedies(inbox, tmp_path):
    """The document of a fix is read back whole; page and Markdown tell what helps."""
    trace = open_trace(Path(inbox[0].subject.path))
    options = FixOptions(model_fn=stand_in(), cache=False, others=2)
    made = prepare_fix(trace, "tool:forward_email", options).run()
    saved = tmp_path / "fix.json"
    saved.write_text(json.dumps(made.to_json()))
    again = open_report(saved)
    assert isinstance(again, FixReport)
    kept = {name: value for name, value in made.to_json().items() if name != "why"}
    assert {name: value for name, value in again.to_json().items() if name != "why"} == kept
    assert str(again) == str(made)
    words = words_of(why_page(again.why, inbox[1], again))
    assert "What helps" in words
    assert "action guard" in words
    assert "Call forward_email only if the user has asked" in words
    assert "**PASS** `action guard` 0/10" in why_markdown(again.why, again)


@pytest.mark.parametrize("document", [{}, [], {"schema": "runtape.fix/1"}])
def test_a_damaged_fix_is_refused_with_words(document):
    """Anything else than a complete document is a usage error."""
    with pytest.raises(UsageError):
        restore_fix(document)


def test_a_restored_report_makes_the_same_markdown():
    """Nothing that the Markdown shows is lost by saving."""
    for found in (ATTRIBUTED, ended(Verdict.TOO_RARE)):
        made = report(found)
        assert why_markdown(
            restore_why(json.loads(json.dumps(why_document(made))))
        ) == why_markdown(made)
