"""What a job would do and probably cost, before anything is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runtape.context.pieces import Piece
from runtape.decision import Decision
from runtape.jsonio import Json
from runtape.reports.cells import cut, pad, width
from runtape.reports.decisions import decision_words
from runtape.reports.leftovers import glimpse
from runtape.reports.sheet import Sheet, Span, Tone
from runtape.reports.why_json import decision_json
from runtape.reports.words import dollars, plural, tokens

_SHOWN = 40
_REF = 30


@dataclass(frozen=True, slots=True)
class Outlook:
    """An estimate in numbers.

    Attributes:
        decision: what it is about.
        model: who would be asked, or None when unknown.
        server: where the requests would go, or None when unknown.
        calls: replies it will probably take, cached ones included.
        most: replies it can take at most.
        input_tokens: of all probable calls together.
        cost_usd: of all probable calls, None when the price is unknown.
        pieces: what would be tested; none for a rerun.
    """

    decision: Decision
    model: str | None
    server: str | None
    calls: int
    most: int
    input_tokens: int
    cost_usd: float | None = None
    pieces: Sequence[Piece] = ()


def outlook_words(outlook: Outlook) -> str:
    """One sentence for a confirmation."""
    most = f", at most {outlook.most:,}" if outlook.most != outlook.calls else ""
    cost = f", about {dollars(outlook.cost_usd)}" if outlook.cost_usd is not None else ""
    where = f" at {outlook.server}" if outlook.server else ""
    times = f"about {plural(outlook.calls, 'time')}{most}"
    return (
        f"This asks {outlook.model or 'the model'}{where} {times}: "
        f"about {tokens(outlook.input_tokens)} tokens{cost}. Replies kept from before are free."
    )


def plan_sheet(outlook: Outlook, columns: int = 80) -> Sheet:
    """The dry run for a person."""
    sheet = Sheet(columns)
    decision = f"event {outlook.decision.event} {decision_words(outlook.decision)}"
    sheet.prose("Decision", decision, Tone.STRONG)
    sheet.blank()
    label = "Pieces"
    refs = min(_REF, max((width(piece.ref) for piece in outlook.pieces), default=0))
    for piece in outlook.pieces[:_SHOWN]:
        ref = f"{pad(piece.ref, refs)}  "
        sheet.row(label, Span(ref, Tone.NAME), cut(glimpse(piece), sheet.room - len(ref)))
        label = ""
    if len(outlook.pieces) > _SHOWN:
        sheet.row("", Span(f"and {len(outlook.pieces) - _SHOWN:,} more", Tone.QUIET))
    sheet.blank()
    sheet.prose("Dry run", "Nothing was asked.", Tone.STRONG)
    sheet.prose("", outlook_words(outlook))
    return sheet


def plan_json(outlook: Outlook) -> Json:
    """``runtape.plan/1``."""
    return {
        "schema": "runtape.plan/1",
        "decision": decision_json(outlook.decision),
        "model": outlook.model,
        "server": outlook.server,
        "calls": outlook.calls,
        "most": outlook.most,
        "input_tokens": outlook.input_tokens,
        "cost_usd": outlook.cost_usd,
        "pieces": [
            {
                "ref": piece.ref,
                "kind": piece.kind.value,
                "event": piece.event,
                "tool": piece.tool,
                "characters": len(piece.text),
            }
            for piece in outlook.pieces
        ],
    }
