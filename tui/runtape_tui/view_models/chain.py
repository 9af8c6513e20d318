"""The causal chain as a tree that grows: from the decision back to what began it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from runtape.attribution.chain_facts import Chain, Link
from runtape.attribution.facts import (
    Cause,
    ChainEnded,
    Fact,
    Finished,
    HopFact,
    HopStarted,
    Investigation,
    LinkChecked,
    Verdict,
)
from runtape.context.pieces import Piece
from runtape.decision import Decision
from runtape.evidence import wilson
from runtape.reports.cells import cut, wrap
from runtape.reports.chain_text import end_words, link_words, place_words
from runtape.reports.codes import VERDICT_WORDS
from runtape.reports.decisions import decision_words
from runtape.reports.progress import Progress, phase_words
from runtape.reports.sheet import Line, Part, Span, Tone, line
from runtape.reports.warnings import warning_text
from runtape.reports.words import likely, listed, of_runs, p_value, quoted, tally
from runtape.trials import Tally
from runtape.visible import visible
from runtape_tui.view_models.bars import interval_bar

_BRANCH, _INDENT = "└ ", "  "
_BAR = 8
_GLIMPSE = 160


class Row(NamedTuple):
    """One line of the tree, and the event that it is about."""

    line: Line
    event: int


@dataclass(slots=True)
class Step:
    """One decision of the chain, as far as it is known.

    Attributes:
        decision: what was decided.
        masked: the model's own earlier words, left out of every run.
        progress: the search while it runs.
        found: its result.
        followed: the claim that the chain goes on from, by number; None: the headline.
        needs_words: it is not made without the model's own words.
        link: how its cause reaches the final decision.
    """

    decision: Decision
    masked: tuple[Piece, ...] = ()
    progress: Progress = field(default_factory=Progress)
    found: Investigation | None = None
    followed: int | None = None
    needs_words: bool = False
    link: Link | None = None

    @property
    def cause(self) -> Cause | None:
        """What the decision was made because of."""
        causes = self.found.causes if self.found is not None else ()
        if self.followed is not None:
            return causes[self.followed]
        return next((cause for cause in causes if cause.headline), None)


class ChainTree:
    """The state of a chain, fact by fact.

    Attributes:
        steps: hop → decision; 0 is the final one.
        chain: the result, in the end.
    """

    def __init__(self, decision: Decision) -> None:
        self.steps = {0: Step(decision)}
        self.chain: Chain | None = None
        self.report: Investigation | None = None

    def take(self, fact: Fact) -> None:
        """Take one fact in."""
        if isinstance(fact, HopStarted):
            self._begin(fact)
        elif isinstance(fact, HopFact):
            self._hop(fact)
        elif isinstance(fact, LinkChecked) and fact.hop in self.steps:
            self.steps[fact.hop].link = fact.link
        elif isinstance(fact, ChainEnded):
            self._end(fact.chain)
        elif isinstance(fact, Finished):
            self._finish(fact.report)
        else:
            self.steps[0].progress.see(fact)

    def _begin(self, fact: HopStarted) -> None:
        if fact.hop:
            self.steps[fact.hop] = Step(fact.decision, fact.masked)

    def _hop(self, fact: HopFact) -> None:
        step = self.steps.get(fact.hop)
        if step is None or not fact.hop:
            return  # the final decision asked again: its first answer stays until the end
        if isinstance(fact.fact, Finished):
            step.found = fact.fact.report
        else:
            step.progress.see(fact.fact)

    def _end(self, chain: Chain) -> None:
        self.chain = chain
        for hop in chain.hops:
            known = self.steps.get(hop.number, Step(hop.investigation.decision))
            self.steps[hop.number] = replace(
                known,
                masked=hop.masked,
                found=hop.investigation,
                followed=hop.followed,
                needs_words=hop.needs_words,
                link=hop.link,
            )

    def _finish(self, report: Investigation) -> None:
        self.report = report
        if report.chain is not None:
            self._end(report.chain)
        if report.chain is None or not any(not hop.number for hop in report.chain.hops):
            self.steps[0].found = report
            self.steps[0].followed = report.chain.followed if report.chain is not None else None

    def rows(self, columns: int) -> list[Row]:
        """The tree, each line at most `columns` wide."""
        found: list[Row] = []
        newest = max(self.steps)
        for number, step in sorted(self.steps.items()):
            found += _step_rows(number, step, columns, live=number == newest and not self.report)
        return found + list(self._ending(newest, columns))

    def _ending(self, newest: int, columns: int) -> Iterator[Row]:
        event, depth = self.steps[newest].decision.event, newest + 1
        if self.chain is not None:
            words = end_words(self.chain)
            yield from _said(depth, Span(words, Tone.STRONG), columns, event)
            if self.chain.elsewhere:
                words = f"not followed: {listed(list(self.chain.elsewhere))}"
                first = self.steps[0].decision.event
                yield from _said(1, Span(words, Tone.QUIET), columns, first)
        elif self.report is not None:
            words = f"No chain: {VERDICT_WORDS[self.report.verdict]}."
            yield from _said(depth, Span(words, Tone.WARN), columns, event)


def _step_rows(number: int, step: Step, columns: int, *, live: bool) -> Iterator[Row]:
    event, depth = step.decision.event, number + 1

    def said(text: str, tone: Tone = Tone.QUIET) -> Iterator[Row]:
        return _said(depth, Span(text, tone), columns, event)

    yield _decision_row(number, step.decision, columns)
    if step.masked and not step.needs_words:
        refs = listed([piece.ref for piece in step.masked])
        yield from said(f"asked without the model's own earlier words ({refs})")
    if step.needs_words:
        yield from said("not made without the model's own earlier words, so they stayed in")
    if step.cause is not None and step.found is not None:
        yield from _cause_rows(step.cause, step.found, depth, columns)
    elif step.found is not None:
        yield from said(_alone(step.found))
    elif live:
        yield from said(phase_words(step.progress), Tone.GOOD)
    elif step.progress.baseline.tally.runs:
        yield from said(f"unchanged {tally(step.progress.baseline.tally)}")
    if step.link is not None:
        yield from said(link_words(step.link))
    for warned in step.found.warnings if step.found is not None and number else ():
        yield from said(warning_text(warned), Tone.WARN)


def _decision_row(number: int, decision: Decision, columns: int) -> Row:
    """An earlier decision at the end of its branch; the final one stands above the tree."""
    branch = f"{_INDENT * (number - 1)}{_BRANCH}" if number else ""
    words = f" {decision_words(decision)}" if number else ", the decision above"
    shown = f"event {decision.event}{words}"
    text = Span(cut(shown, columns - len(branch) - 1), Tone.STRONG)
    return Row(line(Span(branch, Tone.QUIET), text), decision.event)


def _cause_rows(cause: Cause, found: Investigation, depth: int, columns: int) -> Iterator[Row]:
    piece = cause.pieces[0]
    yield from _said(depth, Span(f"because of {place_words(cause)}"), columns, piece.event)
    text = Span(quoted(piece.text, _GLIMPSE), Tone.MARK)
    yield from _said(depth, text, columns, piece.event)
    p = "temperature 0" if cause.p is None else f"p {p_value(cause.p)}"
    rates = [
        Span("without ", Tone.QUIET),
        *_rate(cause.without),
        Span("  with ", Tone.QUIET),
        *_rate(found.baseline),
        Span(f"  {p}", Tone.QUIET),
    ]
    yield Row(line(Span(_INDENT * depth), *rates), found.decision.event)


def _rate(counts: Tally) -> list[Part]:
    if not counts.runs:
        return [Span("not run", Tone.QUIET)]
    bar = interval_bar(counts.same / counts.runs, *wilson(counts.same, counts.runs), _BAR)
    strong = Span(bar.sure + bar.likely, Tone.BAD)
    return [strong, Span(f"{bar.possible}{bar.rest} ", Tone.QUIET), tally(counts)]


def _alone(found: Investigation) -> str:
    """A decision without a cause: how often it is made again."""
    if not found.baseline.runs:
        return VERDICT_WORDS[found.verdict]
    words = f"made again in {of_runs(found.baseline)}"
    if found.verdict in (Verdict.DID_NOT_RECUR, Verdict.TOO_RARE):
        words += f" ({likely(found.baseline)})"
    return words


def _said(depth: int, span: Span, columns: int, event: int) -> Iterator[Row]:
    """A remark below a decision, on as many rows as it takes."""
    indent = _INDENT * depth
    for text in wrap(visible(span.text).text, columns - len(indent) - 1):
        yield Row(line(indent, Span(text, span.tone)), event)
