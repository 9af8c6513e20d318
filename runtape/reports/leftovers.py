"""What a report says beside its headline: further claims, needed inputs, what had no effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runtape.attribution.facts import Cause, Investigation, PieceResult, PieceState, Role
from runtape.context.pieces import Piece
from runtape.reports.cells import cut, one_line, width
from runtape.reports.sheet import Part, Sheet, Span, Tone
from runtape.reports.why_report import WhyReport
from runtape.reports.words import p_value, piece_words, plural, tally

_REFS = 12
"""Refs listed by name; the rest is counted."""
_GLIMPSE = 12
"""Fewest cells in which a glimpse of a text is worth showing."""
SECTIONS = (
    (
        "Also",
        "without this it stops too:",
        (Role.CAUSE, Role.EACH_ENOUGH, Role.JOINT, Role.MASKED),
    ),
    ("Needs", "inputs it cannot do without; not what pushes it there:", (Role.REQUIRED,)),
    ("Helps", "without this it gets rarer, but by less than half:", (Role.CONTRIBUTES,)),
    ("Diffuse", "works only with most of the context gone, so no cause:", (Role.DIFFUSE,)),
)
"""Claims beside the headline: label, what they have in common, their roles."""


def add_leftovers(sheet: Sheet, report: WhyReport) -> None:
    """All claims but the headline, and what the search leaves open."""
    for label, text, roles in SECTIONS:
        causes = report.causes_of(*roles)
        if causes:
            sheet.prose(label, text)
            add_claims(sheet, causes)
            sheet.blank()
    _add_rest(sheet, report.investigation)


def add_claims(sheet: Sheet, causes: Sequence[Cause]) -> None:
    """A line for each claim: rate without it, p, ref, a glimpse of its text."""
    rows = [(tally(c.without), "" if c.p is None else f"p {p_value(c.p)}", c) for c in causes]
    counts = max(len(count) for count, _, _ in rows)
    tests = max(len(p) for _, p, _ in rows)
    refs = max(width(claim_ref(c)) for c in causes)
    for count, p, cause in rows:
        head = f"  {count:<{counts}}  {p:<{tests}}  ".rstrip() + "  "
        head = f"{head:<{4 + counts + (tests + 2 if tests else 0)}}"
        room = sheet.room - len(head) - min(refs, 30) - 2
        parts: list[Part] = [head, Span(f"{claim_ref(cause):<{min(refs, 30)}}", Tone.NAME)]
        if room >= _GLIMPSE:
            parts += ["  ", Span(cut(glimpse(cause.pieces[0]), room), Tone.QUIET)]
        sheet.row("", *parts)


def claim_ref(cause: Cause) -> str:
    """The refs of a claim."""
    return ", ".join(piece.ref for piece in cause.pieces)


def glimpse(piece: Piece) -> str:
    """What a piece is and how it begins, on one line."""
    return f"{piece_words(piece)}: {one_line(piece.text, 160)}"


def _add_rest(sheet: Sheet, found: Investigation) -> None:
    lines = list(rest_words(found)) if found.baseline.runs else []
    if lines:
        sheet.prose("Others", "\n".join(lines), Tone.QUIET)
        sheet.blank()


def rest_words(found: Investigation) -> Iterator[str]:
    """What the search leaves open, and what had no effect: a sentence each."""
    on_the_way = {step.piece.ref for cause in found.causes for step in cause.narrowed}
    suspected = [r for r in _in_state(found, PieceState.SUSPECTED) if r.piece.ref not in on_the_way]
    if suspected:
        named = [f"{result.piece.ref} ({tally(result.tally)})" for result in suspected]
        yield f"suspected, but not confirmed: {_named(named)}"
    whole = [piece.ref for piece in found.untested if piece.parent is None]
    if whole:
        yield f"not tested: {_named(whole)}"
    if len(whole) < len(found.untested):
        yield f"not tested: {plural(len(found.untested) - len(whole), 'part')} of tested pieces"
    calm = len(_in_state(found, PieceState.NO_EFFECT))
    grouped = len(_in_state(found, PieceState.IN_GROUP))
    if calm or grouped:
        how = f", {grouped} of them removed in groups" if grouped else ""
        yield f"no effect seen of {plural(calm + grouped, 'other piece')}{how}"


def _in_state(found: Investigation, state: PieceState) -> list[PieceResult]:
    return [result for result in found.pieces if result.state is state]


def _named(refs: Sequence[str]) -> str:
    shown = ", ".join(refs[:_REFS])
    rest = len(refs) - _REFS
    return f"{shown} and {rest:,} more" if rest > 0 else shown
