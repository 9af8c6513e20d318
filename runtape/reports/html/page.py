"""The page of one ``why``: decision, answer, context, cost. One file, offline, without a script."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.resources import files

from runtape.attribution.facts import Calls
from runtape.context import Context
from runtape.reports.cells import cut, one_line
from runtape.reports.codes import VERDICT_WORDS
from runtape.reports.commands import Suggestion, fix_suggestions, suggestions
from runtape.reports.costs import cost_words
from runtape.reports.fix_report import FixReport
from runtape.reports.heat import heat_map, holds_all
from runtape.reports.html.answer import answer_part, claims_table, decision_part, question_words
from runtape.reports.html.chain import chain_part
from runtape.reports.html.context_map import context_map, size_words
from runtape.reports.html.elements import Child, Element, StyleSheet, tag
from runtape.reports.html.remedies import remedies_part
from runtape.reports.leftovers import SECTIONS, rest_words
from runtape.reports.warnings import warning_text
from runtape.reports.why_report import WhyReport
from runtape.reports.words import duration, listed, p_value, percent

_COLUMNS = 100


def why_page(
    report: WhyReport, context: Context | None = None, fix: FixReport | None = None
) -> str:
    """The page as HTML text, to be written as UTF-8.

    Args:
        report: a finished `why`; that of `fix`, if there is one.
        context: what the model saw, to be shown in full; without it the page shows as much of the
            texts as the report holds.
        fix: the remedies that were measured, to be shown too.
    """
    css = StyleSheet(files("runtape.reports.html").joinpath("page.css").read_text("utf-8"))
    page = tag("html", _head(report, css), _body(report, context, fix), lang="en")
    return f"<!doctype html>\n{page}\n"


def _head(report: WhyReport, css: StyleSheet) -> Element:
    digest = b64encode(sha256(css.text.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"runtape {report.version}".strip()),
        tag("title", f"{question_words(report)} · runtape"),
        tag("style", css),
    )


def _body(report: WhyReport, context: Context | None, fix: FixReport | None) -> Element:
    entries = heat_map(report.investigation, context)
    whole = holds_all(report.investigation, context)
    return tag(
        "body",
        tag(
            "header",
            tag("p", tag("b", "runtape"), " why", class_="brand"),
            tag("p", _whose(report), class_="quiet"),
            tag("h1", question_words(report)),
        ),
        tag(
            "main",
            decision_part(report),
            answer_part(report),
            chain_part(report.investigation),
            remedies_part(fix.fix) if fix else None,
            _beside(report),
            _cautions(report, fix),
            context_map(entries, whole=whole) if entries else None,
            _method(report, size_words(entries), fix.fix.calls if fix else None),
            _next(fix_suggestions(fix) if fix else suggestions(report)),
        ),
        tag("footer", tag("p", _FOOT)),
    )


_FOOT = (
    "Found by experiment: parts of the recorded context were taken out, the model was asked again, "
    "and exact tests told chance from effect. Everything on this page is in this file."
)


def _whose(report: WhyReport) -> str:
    subject, event = report.subject, report.investigation.decision.event
    words = (subject.name, f"event {event}", subject.model or "")
    return " · ".join(cut(one_line(word), 60) for word in words if word)


def _beside(report: WhyReport) -> Element | None:
    """Claims beside the headline, and what the search leaves open."""
    found = report.investigation
    parts: list[Child] = []
    for label, text, roles in SECTIONS:
        causes = report.causes_of(*roles)
        if causes:
            words = (tag("b", label), f" {text}")
            parts += (tag("p", words, class_="claim"), claims_table(causes))
    rest = list(rest_words(found)) if found.baseline.runs else []
    if rest:
        parts.append(tag("ul", (tag("li", words) for words in rest), class_="quiet rest"))
    return tag("section", tag("h2", "Beside it"), *parts) if parts else None


def _cautions(report: WhyReport, fix: FixReport | None) -> Element | None:
    warnings = fix.fix.warnings if fix else report.investigation.warnings
    texts = [warning_text(warned) for warned in warnings]
    assumed = [part for part, how in report.subject.fidelity.items() if how == "assumed"]
    if assumed:
        texts.append(f"the trace does not hold the {listed(assumed)} of this call: assumed")
    if not texts:
        return None
    return tag("aside", tag("h2", "Caution"), tag("ul", (tag("li", text) for text in texts)))


def _method(report: WhyReport, size: str, whole: Calls | None) -> Element:
    rows = [(name, words) for name, words in _facts(report, size) if words]
    if whole is not None:
        rows.append(("With the remedies", " · ".join(cost_words(whole))))
    return tag(
        "section",
        tag("h2", "How it was found"),
        tag("table", (_fact(*row) for row in rows), class_="facts"),
    )


def _fact(name: str, words: str) -> Element:
    return tag("tr", tag("th", name, scope="row"), tag("td", words))


def _facts(report: WhyReport, size: str) -> Iterator[tuple[str, str]]:
    found, subject = report.investigation, report.subject
    yield "Trace", subject.path
    yield "Run", subject.run_id
    yield "Model", str(subject.model or "")
    yield "Answered by", str(report.settings.get("model_fn") or "")
    yield "Context", size
    yield "Verdict", VERDICT_WORDS[found.verdict]
    if found.mode is not None:
        rate = found.baseline.rate
        yield "Behaviour", found.mode.value + (f", {percent(rate)}" if rate is not None else "")
    if found.level is not None:
        variants = f": 5% corrected for {found.slots} variants" if found.slots else ""
        yield "Level of each test", f"{p_value(found.level)}{variants}"
    yield "Cost", " · ".join([*cost_words(found.calls), duration(found.seconds)])
    yield "Recorded", ", ".join(f"{part} {how}" for part, how in subject.fidelity.items())
    others = {k: v for k, v in report.settings.items() if k != "model_fn"}
    yield "Asked with", ", ".join(f"{name} {value}" for name, value in others.items())
    yield "Version", report.version


def _next(ideas: Sequence[Suggestion]) -> Element | None:
    if not ideas:
        return None
    rows = (
        tag("li", tag("p", idea.purpose), tag("pre", tag("code", "\n".join(idea.lines(_COLUMNS)))))
        for idea in ideas
    )
    return tag("section", tag("h2", "Next"), tag("ul", rows, class_="next"))
