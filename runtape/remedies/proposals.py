"""Which remedies make sense: from the cause that was found, and what the user named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runtape.attribution.facts import Investigation
from runtape.context import Context, PieceKind
from runtape.decision import Decision
from runtape.remedies.facts import Remedy, RemedyKind
from runtape.remedies.rules import MARKED, UNTRUSTED, Rule, guard

_THE_USERS = (PieceKind.USER, PieceKind.MEDIA)
"""What a user says cannot be fixed by leaving it out."""


def propose(
    explained: Investigation, context: Context, rules: Sequence[Rule], model: str | None
) -> tuple[Remedy, ...]:
    """The remedies to measure, those first that help beyond this one context.

    Rules and marks, the user's own rules, another model; then what touches the causing text only.
    Without a cause: rules and guards. A cause in the user's message or the system prompt is no
    untrusted text; one in the system prompt can be taken out, one in the user's message cannot.
    """
    own = [Remedy(RemedyKind.OWN_RULE, system=r.text, source=r.source) for r in rules]
    other = [Remedy(RemedyKind.MODEL, model=model)] if model else []
    kind = standing(explained, context)
    return (*_general(explained, kind), *own, *other, *_at_the_cause(explained, kind))


def _general(explained: Investigation, kind: PieceKind | None) -> Iterator[Remedy]:
    """Rules for what is read and for what is done, and marks around what is read."""
    tools = _bad_tools(explained.decision)
    distrusts = kind not in {*_THE_USERS, PieceKind.SYSTEM}
    if distrusts:
        yield Remedy(RemedyKind.RULE, system=UNTRUSTED)
    if tools:
        yield Remedy(RemedyKind.GUARD, system=guard(tools))
    if distrusts and tools:
        yield Remedy(RemedyKind.RULE_AND_GUARD, system=f"{UNTRUSTED}\n\n{guard(tools)}")
    if kind is PieceKind.TOOL_RESULT:
        yield Remedy(RemedyKind.DELIMIT, system=MARKED, delimit=True)


def _at_the_cause(explained: Investigation, kind: PieceKind | None) -> Iterator[Remedy]:
    """What is done to the causing text itself."""
    if explained.headline is None or kind in _THE_USERS:
        return
    refs = tuple(piece.ref for piece in explained.headline.pieces)
    if kind is PieceKind.TOOL_DEFINITION:
        yield Remedy(RemedyKind.QUOTE, quote=refs)
    yield Remedy(RemedyKind.REMOVE, drop=refs)


def standing(explained: Investigation, context: Context) -> PieceKind | None:
    """Kind of the top-level piece that holds the cause (its first text); None without a cause."""
    if explained.headline is None:
        return None
    piece = explained.headline.pieces[0]
    while piece.parent is not None:
        piece = context.by_id(piece.parent)
    return piece.kind


def _bad_tools(decision: Decision) -> tuple[str, ...]:
    """Names of the tools the bad decision calls."""
    if decision.tool is not None:
        return (decision.tool,)
    return tuple(dict.fromkeys(call.name for call in decision.calls))
