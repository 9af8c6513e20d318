"""The causal chain in words: a tree of decisions, each with its causing text and rates."""

from __future__ import annotations

from collections.abc import Callable

from runtape.attribution.chain_facts import Chain, ChainEnd, Hop, Link, LinkKind
from runtape.attribution.facts import Cause, Investigation, Verdict
from runtape.context.pieces import Piece
from runtape.reports.cells import wrap
from runtape.reports.codes import VERDICT_WORDS
from runtape.reports.decisions import decision_words
from runtape.reports.sheet import Sheet, Span, Tone
from runtape.reports.warnings import warning_text
from runtape.reports.why_report import WhyReport
from runtape.reports.words import (
    KIND_WORDS,
    likely,
    listed,
    of_runs,
    p_value,
    piece_words,
    plural,
    quoted,
    sentence,
    tally,
)
from runtape.visible import visible

_BRANCH = "└ "
_INDENT = "  "
_GLIMPSE = 160
"""Cells of a causing text that are shown: it is read in full by asking why of that decision."""


def add_chain(sheet: Sheet, report: WhyReport) -> None:
    """The way back from the decision, when it was asked for."""
    found, chain = report.investigation, report.investigation.chain
    if chain is None:
        return
    tree = _Tree(sheet)
    if chain.followed is not None:
        tree.root(found, chain.followed)
    for hop in chain.hops:
        _add_hop(tree, hop)
    tree.say(max((h.number for h in chain.hops), default=0), end_words(chain), Tone.STRONG)
    if chain.elsewhere:
        tree.say(0, f"not followed: {listed(list(chain.elsewhere))}", Tone.QUIET)
    sheet.blank()


def _add_hop(tree: _Tree, hop: Hop) -> None:
    depth, found = hop.number, hop.investigation
    if hop.number:
        tree.decision(depth, found)
    if hop.masked:
        refs = listed([piece.ref for piece in hop.masked])
        tree.say(depth, f"asked without the model's own earlier words ({refs})", Tone.QUIET)
    if hop.needs_words:
        words = "not made without the model's own earlier words, so they stayed in"
        tree.say(depth, words, Tone.QUIET)
    tree.cause(depth, found, hop.followed)
    if hop.link is not None:
        tree.say(depth, link_words(hop.link), Tone.QUIET)
    for warned in found.warnings:
        tree.say(depth, warning_text(warned), Tone.WARN)


class _Tree:
    """Rows of the tree on a sheet; the label stands at the first one."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._label = "Chain"

    def root(self, found: Investigation, followed: int) -> None:
        """The final decision; its cause, which stands above, only by its address."""
        self._rows("", "", f"event {found.decision.event}, the decision above", Tone.STRONG)
        self.say(0, f"because of {place_words(found.causes[followed])}")

    def decision(self, depth: int, found: Investigation) -> None:
        """An earlier decision, at the end of a branch."""
        decision = found.decision
        words = f"event {decision.event} {decision_words(decision)}"
        branch = _INDENT * (depth - 1) + _BRANCH
        self._rows(branch, _INDENT * depth, words, Tone.STRONG)

    def cause(self, depth: int, found: Investigation, followed: int | None) -> None:
        """Why it was made: the causing text with both rates, or how the search ended."""
        if followed is None:
            self.say(depth, _rates_alone(found))
            return
        cause = found.causes[followed]
        self.say(depth, f"because of {place_words(cause)}")
        self.say(depth, quoted(cause.pieces[0].text, _GLIMPSE), Tone.MARK)
        self.say(depth, _rates(cause, found), Tone.QUIET)

    def say(self, depth: int, text: str, tone: Tone = Tone.PLAIN) -> None:
        """A remark below a decision."""
        indent = _INDENT * (depth + 1)
        self._rows(indent, indent, text, tone)

    def _rows(self, first: str, rest: str, text: str, tone: Tone) -> None:
        for row in wrap(visible(text).text, self._sheet.room - len(rest)):
            self._sheet.row(self._label, Span(first, Tone.QUIET), Span(row, tone))
            self._label, first = "", rest


def place_words(cause: Cause) -> str:
    """Address of a claim, and what stands there: ``12.body para 4, a paragraph in the …``."""
    piece = cause.pieces[0]
    more = f" and {plural(len(cause.pieces) - 1, 'more text')}" if len(cause.pieces) > 1 else ""
    return f"{piece.ref}{more}, {_standing(cause, piece)}"


def _standing(cause: Cause, piece: Piece) -> str:
    root = cause.narrowed[0].piece if cause.narrowed else piece
    if root.ref == piece.ref:
        return f"the {piece_words(piece)}"
    words = KIND_WORDS[piece.kind]
    article = "an" if words[0] in "aeiou" else "a"
    return f"{article} {words} in the {piece_words(root)}"


def _rates(cause: Cause, found: Investigation) -> str:
    test = "temperature 0" if cause.p is None else f"p = {p_value(cause.p)}"
    return f"without it {tally(cause.without)}, with it {tally(found.baseline)}, {test}"


def _rates_alone(found: Investigation) -> str:
    if not found.baseline.runs:
        return VERDICT_WORDS[found.verdict]
    again = f"made again in {of_runs(found.baseline)}"
    if found.verdict in (Verdict.DID_NOT_RECUR, Verdict.TOO_RARE):
        return f"{again} ({likely(found.baseline)})"
    return again


def link_words(link: Link) -> str:
    """What the mediation check says about how an earlier cause reaches the final decision."""
    if link.kind is LinkKind.ABSENT:
        return "no longer in the final context, so it acts only through this call"
    if link.kind is LinkKind.UNCHECKED:
        return "whether it also acts on the final decision by itself was not checked"
    counts = f"taken out of the final context, the final decision comes {tally(link.without)}"
    if link.kind is LinkKind.DIRECT:
        return f"{counts}: it also acts there by itself"
    return f"{counts}: it acts only through this call"


def end_words(chain: Chain) -> str:
    """Where the chain ends and why."""
    return f"{_ENDS[chain.end](chain)} {sentence(chain.reason)}".rstrip()


def _user(chain: Chain) -> str:
    if chain.asked is None:
        return "Here the chain ends, at the user's message."
    said = quoted(chain.asked.text, _GLIMPSE)
    return (
        f"needs the user's message ({chain.asked.ref}) {said}; no other text pushes it there. "
        "Here the chain ends."
    )


def _system(chain: Chain) -> str:
    if chain.asked is None:
        return "Here the chain ends, at the system prompt."
    return "needs the system prompt; no other text pushes it there. Here the chain ends."


def _at(what: str) -> Callable[[Chain], str]:
    return lambda _: f"Here the chain ends{what}"


def _depth(chain: Chain) -> str:
    return f"{plural(chain.ended_at, 'step')} back is as far as was asked for (--depth)."


def _cannot_rerun(chain: Chain) -> str:
    return f"The decision {plural(chain.ended_at, 'step')} back cannot be run again:"


def _stopped(what: str) -> Callable[[Chain], str]:
    def words(chain: Chain) -> str:
        back = plural(chain.ended_at, "step")
        where = f"at the decision {back} back" if chain.ended_at else "before the first step back"
        return f"{what} {where}."

    return words


_ENDS: dict[ChainEnd, Callable[[Chain], str]] = {
    ChainEnd.USER_MESSAGE: _user,
    ChainEnd.SYSTEM_PROMPT: _system,
    ChainEnd.TOOL_DEFINITION: _at(", at the definition of a tool."),
    ChainEnd.OWN_WORDS: _at(", at the model's own earlier words: without them it is not made."),
    ChainEnd.MEDIA: _at(", at an image or a file."),
    ChainEnd.NO_CAUSE: _at(": no text was found that makes the model do this."),
    ChainEnd.UNSTABLE: _at(": that decision does not recur often enough to be explained."),
    ChainEnd.DEPTH: _depth,
    ChainEnd.NOT_RECORDED: _at(":"),
    ChainEnd.CANNOT_RERUN: _cannot_rerun,
    ChainEnd.BUDGET_SPENT: _stopped("The budget ended"),
    ChainEnd.PROVIDER_FAILED: _stopped("The model failed"),
    ChainEnd.INTERRUPTED: _stopped("Interrupted"),
}
