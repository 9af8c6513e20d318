"""The headline cause in words: its text where it stands, the evidence, what happens instead."""

from __future__ import annotations

from collections.abc import Iterator

from runtape.attribution.facts import Cause, Investigation, Recheck, Role
from runtape.context.pieces import Piece
from runtape.reports.counts import add_counts, add_happenings
from runtape.reports.excerpt import add_excerpt, excerpt
from runtape.reports.sheet import Sheet, Span, Tone
from runtape.reports.words import (
    KIND_WORDS,
    p_value,
    piece_words,
    plural,
    rated,
    tally,
)

_SHOWN = 4
"""Texts of a set that are shown in full."""


def add_cause(sheet: Sheet, cause: Cause, found: Investigation) -> None:
    """One cause with all that supports it."""
    sheet.prose("Cause", f"{cause_words(cause)}:", Tone.STRONG)
    sheet.blank()
    for piece in cause.pieces[:_SHOWN]:
        add_excerpt(sheet, excerpt(cause, piece))
        sheet.row("", "  ", Span(address_words(piece), Tone.QUIET))
        sheet.blank()
    if len(cause.pieces) > _SHOWN:
        rest = ", ".join(piece.ref for piece in cause.pieces[_SHOWN:])
        sheet.prose("", f"and {plural(len(cause.pieces) - _SHOWN, 'more text')}: {rest}")
        sheet.blank()
    sheet.prose("Evidence", "\n".join(evidence_words(cause, found)))
    sheet.blank()
    add_happenings(sheet, "Instead", cause.instead, cause.without.runs, found.decision)
    add_counts(sheet, "Checked", check_rows(cause))
    if len(cause.narrowed) > 1:
        sheet.prose("Narrowed", _narrowing(cause))
    sheet.blank()


def cause_words(cause: Cause) -> str:
    """What the cause is, before its text: ``this sentence in the result of read_email``."""
    count = len(cause.pieces)
    if count == 1:
        tail = {
            Role.MASKED: ", hidden by what stands around it",
            Role.JOINT: ", together with those below",
        }.get(cause.role, "")
        return f"this {KIND_WORDS[cause.pieces[0].kind]}{_standing(cause)}{tail}"
    return {
        Role.EACH_ENOUGH: f"any of these {count} texts is enough: it stops without all of them",
        Role.JOINT: f"these {count} texts together: it stops without any one of them",
        Role.MASKED: f"these {count} texts, hidden by what stands around them",
    }.get(cause.role, f"these {count} texts")


def _standing(cause: Cause) -> str:
    """Where the only piece of `cause` stands, unless its kind says it."""
    piece = cause.pieces[0]
    root = cause.narrowed[0].piece if cause.narrowed else piece
    if root.kind is piece.kind:
        return f" of {root.tool}" if root.tool else ""
    return f" in the {piece_words(root)}"


def address_words(piece: Piece) -> str:
    """The ref, and the event it came in with when the ref does not begin with it."""
    event = "" if piece.ref.startswith(str(piece.event)) else f", entered with event {piece.event}"
    return f"{piece.ref}{event}"


def evidence_words(cause: Cause, found: Investigation) -> list[str]:
    """Both rates with their intervals, and the test: two lines."""
    if cause.p is None:
        return [
            f"without {tally(cause.without)}, with {tally(found.baseline)}, at temperature 0",
            "every rerun of one context gave one answer, so there is no p",
        ]
    rates = f"without {rated(cause.without)}, with {rated(found.baseline)}"
    return [rates, _test_words(cause, found)]


def _test_words(cause: Cause, found: Investigation) -> str:
    level = cause.level if cause.level is not None else found.level
    if cause.p is None or level is None:
        return ""
    limit = f"needed ≤ {p_value(level)}"
    if found.slots:
        limit += f" (5% corrected for {plural(found.slots, 'variant')})"
    if cause.p <= level or cause.claimed_p is None:
        return f"p = {p_value(cause.p)}, {limit}"
    claimed = f"claimed at {tally(cause.claimed_at)}, p = {p_value(cause.claimed_p)}"
    return f"p = {p_value(cause.p)}; {claimed}, {limit}"


def _narrowing(cause: Cause) -> str:
    first, *others = cause.narrowed
    steps = [f"{first.piece.ref} {tally(first.tally)}"]
    steps += [f"{last_part(step.piece.ref)} {tally(step.tally)}" for step in others]
    return " › ".join(steps)


def check_rows(cause: Cause) -> Iterator[tuple[str, str]]:
    """(rate, what was done) for every recheck of a claim, and for it standing alone."""
    for recheck in cause.rechecks:
        yield tally(recheck.tally), _recheck_words(recheck)
    if cause.enough_alone is not None:
        yield tally(cause.enough_alone), "kept, with nearly everything else gone"


def last_part(ref: str) -> str:
    """What the last level adds to a ref: ``sentence 1`` of ``12.body para 4 sentence 1``."""
    words = ref.split(" ")
    return " ".join(words[-2:]) if len(words) > 2 else ref  # noqa: PLR2004 - word and number


def _recheck_words(recheck: Recheck) -> str:
    return {
        "quoted": "kept, but quoted as data",
        "empty": "cut without leaving a marker",
        "neutral": "replaced by filler of its length",
    }.get(recheck.fill, f"replaced by {recheck.fill}")
