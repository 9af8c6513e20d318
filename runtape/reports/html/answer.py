"""The answer on a page: the decision, the text that caused it, and the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from runtape.attribution.facts import Cause, Investigation, Verdict
from runtape.context.pieces import Piece
from runtape.decision import Decision, DecisionKind, Outcome
from runtape.jsonio import dumps_text
from runtape.reports.causes import address_words, cause_words, check_rows, evidence_words, last_part
from runtape.reports.cells import cut, one_line
from runtape.reports.decisions import decided_tools, sameness_words
from runtape.reports.endings import ending_of
from runtape.reports.excerpt import excerpt
from runtape.reports.html.elements import Child, Element, tag
from runtape.reports.html.parts import anchor, meter, told
from runtape.reports.leftovers import claim_ref, glimpse
from runtape.reports.why_report import WhyReport
from runtape.reports.words import (
    happenings,
    likely,
    listed,
    of_runs,
    outcome_detail,
    piece_words,
    plural,
    tally,
)
from runtape.trials import Tally

_NEAR = 420
"""Characters of surroundings shown on each side of a causing text."""
_TEXTS = 6
"""Texts of a set shown in full."""
_WAYS = 6
_VALUE = 2_000
_LONGEST_NAME = 60


def question_words(report: WhyReport) -> str:
    """The question that the page answers, for its heading."""
    decision = report.investigation.decision
    model = _name(report.subject.model or "the model")
    called = [_name(call.name) for call in decision.calls if decision.tool in {None, call.name}]
    if decision.kind is DecisionKind.MATCH:
        return f"Why does {model} do what matches /{_name(decision.pattern or '')}/?"
    if called or decision.tool:
        names = list(dict.fromkeys(called)) or [_name(decision.tool or "")]
        return f"Why did {model} call {listed(names)}?"
    return f"Why did {model} answer this?"


def _name(text: str) -> str:
    return cut(one_line(text), _LONGEST_NAME)


def decision_part(report: WhyReport) -> Element:
    """What the model did, in full, and how often it does that again."""
    found = report.investigation
    same = sameness_words(found.decision, report.settings)
    return tag(
        "section",
        *_calls(found.decision),
        tag("p", _again(report), class_="again") if found.baseline.runs else None,
        tag("p", f"Counted as the same: {same}.", class_="quiet"),
        class_="decision",
        aria_label="the decision",
    )


def _calls(decision: Decision) -> Iterator[Element]:
    shown = [call for call in decision.calls if decision.tool in {None, call.name}]
    for call in shown:
        arguments = call.arguments if isinstance(call.arguments, dict) else None
        rows = arguments.items() if arguments is not None else ()
        yield tag(
            "div",
            tag("code", told(call.name, 200), class_="tool"),
            tag("dl", (part for key, value in rows for part in _argument(str(key), value))),
            None if arguments is not None else tag("code", told(str(call.arguments or ""), _VALUE)),
            class_="call",
        )
    if not shown and decision.text:
        yield tag("blockquote", told(decision.text, _VALUE), class_="text said", dir="auto")


def _argument(key: str, value: object) -> Iterator[Element]:
    text = value if isinstance(value, str) else dumps_text(value)
    yield tag("dt", told(key, 200))
    yield tag("dd", told(text, _VALUE), dir="auto", translate="no")


def _again(report: WhyReport) -> str:
    found = report.investigation
    asked = report.settings.get("model_fn") or report.subject.model or "the model"
    return f"On the unchanged context, {asked} does it in {of_runs(found.baseline)}."


def answer_part(report: WhyReport) -> Iterator[Element]:
    """The cause with all that supports it, or the honest ending without one."""
    found = report.investigation
    if report.headline is not None:
        yield _cause(report.headline, found)
    if report.headline is None or found.verdict is not Verdict.ATTRIBUTED:
        ending = ending_of(report)
        yield tag(
            "section",
            tag("p", ending.label, class_="label"),
            tag("h2", ending.title),
            *(tag("p", line) for line in ending.meaning.split("\n") if line),
            *_instead(found.outcomes, found.baseline, found)
            if found.verdict is Verdict.DID_NOT_RECUR
            else (),
            class_="answer ending",
        )


def _cause(cause: Cause, found: Investigation) -> Element:
    more = len(cause.pieces) - _TEXTS
    return tag(
        "section",
        tag("p", "Cause", class_="label"),
        tag("h2", _capital(cause_words(cause))),
        (_figure(cause, piece) for piece in cause.pieces[:_TEXTS]),
        tag("p", f"and {plural(more, 'more text')}") if more > 0 else None,
        _comparison(cause, found),
        tag("h3", "What it does instead") if cause.instead else None,
        *_instead(cause.instead, cause.without, found),
        _checks(cause),
        _narrowing(cause),
        class_="answer",
    )


def _figure(cause: Cause, piece: Piece) -> Element:
    shown = excerpt(cause, piece)
    return tag(
        "figure",
        tag(
            "blockquote",
            tag("span", _ending(shown.before), class_="around"),
            tag("mark", told(shown.text), class_="headline cause"),
            tag("span", _beginning(shown.after), class_="around"),
            class_="text",
            dir="auto",
            translate="no",
        ),
        tag("figcaption", tag("a", address_words(piece), href=f"#{anchor(piece)}")),
    )


def _ending(text: str) -> Iterable[Child]:
    return ("… " if len(text) > _NEAR else "", *told(text[-_NEAR:]))


def _beginning(text: str) -> Iterable[Child]:
    return (*told(text[:_NEAR]), " …" if len(text) > _NEAR else "")


def _comparison(cause: Cause, found: Investigation) -> Element:
    """Both rates side by side, and the test."""
    test = evidence_words(cause, found)[-1]
    rows = (("with it", found.baseline, "with"), ("without it", cause.without, "without"))
    return tag(
        "div",
        tag(
            "table",
            tag("caption", "How often the decision comes"),
            (_rate_row(words, counts, tone) for words, counts, tone in rows),
            class_="rates",
        ),
        tag("p", test, class_="quiet"),
    )


def _rate_row(words: str, counts: Tally, tone: str) -> Element:
    return tag(
        "tr",
        tag("th", words, scope="row"),
        tag("td", meter(counts, tone)),
        tag("td", tally(counts), class_="number"),
        tag("td", likely(counts), class_="quiet"),
    )


def _instead(
    outcomes: Iterable[tuple[Outcome, int]], counts: Tally, found: Investigation
) -> Iterator[Element]:
    ways = happenings(outcomes, decided_tools(found.decision))
    rows = (
        tag(
            "tr",
            tag("td", f"{way.count}/{counts.runs}", class_="number"),
            tag("td", outcome_detail(way.sample, 400), class_="way", dir="auto"),
        )
        for way in ways[:_WAYS]
    )
    if ways:
        yield tag("table", rows, class_="ways")
    if len(ways) > _WAYS:
        yield tag("p", f"and {plural(len(ways) - _WAYS, 'other way')}", class_="quiet")


def _checks(cause: Cause) -> Iterator[Element]:
    rows = list(check_rows(cause))
    if rows:
        yield tag("h3", "The same text, tried in other ways")
        yield tag("table", (_check(*row) for row in rows), class_="ways")


def _check(counts: str, words: str) -> Element:
    return tag("tr", tag("td", counts, class_="number"), tag("td", words))


def _narrowing(cause: Cause) -> Iterator[Element]:
    """The levels passed from the whole piece to the causing text, as steps."""
    if len(cause.narrowed) < 2:  # noqa: PLR2004 - one level is no way
        return
    yield tag("h3", "How it was narrowed down")
    first = cause.narrowed[0].piece
    steps = (
        tag(
            "li",
            tag("code", step.piece.ref if step.piece is first else last_part(step.piece.ref)),
            tag("span", piece_words(step.piece), class_="quiet"),
            meter(step.tally, "without"),
            tag("b", tally(step.tally), class_="number"),
        )
        for step in cause.narrowed
    )
    yield tag("ol", steps, class_="steps")


def claims_table(causes: Sequence[Cause]) -> Element:
    """Other claims: rate without each, where it stands, how it begins."""
    rows = (
        tag(
            "tr",
            tag("td", tally(cause.without), class_="number"),
            tag("td", tag("a", claim_ref(cause), href=f"#{anchor(cause.pieces[0])}")),
            tag("td", glimpse(cause.pieces[0]), class_="quiet"),
        )
        for cause in causes
    )
    return tag("table", rows, class_="claims")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
