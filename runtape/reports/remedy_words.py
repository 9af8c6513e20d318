"""Remedies in words: their names, what they change, and what may be pasted."""

from __future__ import annotations

from collections.abc import Sequence

from runtape.remedies.facts import Grade, Keeping, Remedy, RemedyKind
from runtape.remedies.rules import CLOSE, OPEN
from runtape.reports.cells import cut_start
from runtape.reports.sheet import Tone
from runtape.reports.words import listed

NAME_CELLS = 20
"""Most cells of a remedy's name."""

_NAMES = {
    RemedyKind.RULE: "untrusted-text rule",
    RemedyKind.GUARD: "action guard",
    RemedyKind.RULE_AND_GUARD: "rule and guard",
    RemedyKind.DELIMIT: "marks around results",
    RemedyKind.QUOTE: "text quoted",
    RemedyKind.REMOVE: "text removed",
}

GRADE_TONES = {Grade.PASS: Tone.GOOD, Grade.PART: Tone.WARN, Grade.FAIL: Tone.BAD}

KEEPING_WORDS = {
    Keeping.KEPT: "kept",
    Keeping.BROKEN: "broken",
    Keeping.UNTOUCHED: "not touched by it",
    Keeping.UNSTABLE: "unstable without it too",
    Keeping.UNCHECKED: "not checked",
}


def remedy_names(remedies: Sequence[Remedy]) -> list[str]:
    """A short name for each; rules of the user's own are told apart by file or number."""
    own = [r for r in remedies if r.kind is RemedyKind.OWN_RULE]
    return [_name(remedy, own) for remedy in remedies]


def _name(remedy: Remedy, own: Sequence[Remedy]) -> str:
    if remedy.kind is RemedyKind.MODEL:
        return f"model {cut_start(remedy.model or '', NAME_CELLS - 6)}"
    if remedy.kind is not RemedyKind.OWN_RULE:
        return _NAMES[remedy.kind]
    if remedy.source:
        return f"rule {cut_start(remedy.source, NAME_CELLS - 5)}"
    return "own rule" if len(own) == 1 else f"own rule {own.index(remedy) + 1}"


def remedy_words(remedy: Remedy) -> str:
    """What one has to do to apply it; the text to be added to a system prompt comes after."""
    if remedy.delimit:
        return f"put what tools return between {OPEN} and {CLOSE}, and add to the system prompt:"
    if remedy.system:
        return "add to the system prompt:"
    if remedy.drop:
        return f"take {listed(list(remedy.drop))} out, where it comes from"
    if remedy.quote:
        return f"quote {listed(list(remedy.quote))} as data"
    return f"ask {remedy.model} instead"
