"""The causal chain on a page: the decisions back from the last one, each with its cause."""

from __future__ import annotations

from collections.abc import Iterator

from runtape.attribution.chain_facts import Chain, Hop
from runtape.attribution.facts import Cause, Investigation
from runtape.reports.causes import cause_words, evidence_words
from runtape.reports.chain_text import end_words, link_words
from runtape.reports.codes import VERDICT_WORDS
from runtape.reports.decisions import decision_words
from runtape.reports.html.elements import Element, tag
from runtape.reports.html.parts import told
from runtape.reports.warnings import warning_text
from runtape.reports.words import listed, of_runs

_TEXT = 600
"""Characters of a causing text: in full it stands in the report of that decision."""


def chain_part(found: Investigation) -> Element | None:
    """The way back, when it was asked for."""
    chain = found.chain
    if chain is None:
        return None
    return tag(
        "section",
        tag("h2", "How it came to that"),
        tag("p", "From the decision back to where its cause came from.", class_="lead"),
        tag("ol", _steps(found, chain), class_="chain"),
    )


def _steps(found: Investigation, chain: Chain) -> Iterator[Element]:
    asked_again = bool(chain.hops) and chain.hops[0].number == 0
    own = () if asked_again else tuple(_why(found))
    if chain.hops or found.headline:
        yield tag("li", _decision(found), own)
    for hop in chain.hops:
        yield _hop(hop)
    left = f"Not followed: {listed(list(chain.elsewhere))}." if chain.elsewhere else None
    end = end_words(chain)
    yield tag(
        "li", tag("p", end[:1].upper() + end[1:]), tag("p", left, class_="quiet") if left else None
    )


def _hop(hop: Hop) -> Element:
    found = hop.investigation
    remarks = [link_words(hop.link)] if hop.link else []
    if hop.masked:
        refs = listed([piece.ref for piece in hop.masked])
        remarks.append(f"asked without the model's own earlier words ({refs})")
    if hop.needs_words:
        remarks.append("not made without the model's own earlier words, so they stayed in")
    remarks += [warning_text(warned) for warned in found.warnings]
    return tag(
        "li",
        _decision(found) if hop.number else None,
        _why(found),
        (tag("p", remark, class_="quiet") for remark in remarks),
    )


def _decision(found: Investigation) -> Element:
    words = decision_words(found.decision)
    return tag("p", tag("b", f"Event {found.decision.event} "), words)


def _why(found: Investigation) -> Iterator[Element]:
    if found.headline is not None:
        yield from _cause(found.headline, found)
    elif found.baseline.runs:
        yield tag("p", f"made again in {of_runs(found.baseline)}", class_="quiet")
    else:
        yield tag("p", VERDICT_WORDS[found.verdict], class_="quiet")


def _cause(cause: Cause, found: Investigation) -> Iterator[Element]:
    refs = ", ".join(piece.ref for piece in cause.pieces)
    yield tag("p", f"because of {cause_words(cause)} ", tag("code", refs))
    for piece in cause.pieces[:2]:
        yield tag("div", told(piece.text, _TEXT), class_="text", dir="auto", translate="no")
    yield tag("p", evidence_words(cause, found)[0], class_="quiet")
