"""``runtape.why/1``: a finished ``why`` as one JSON document."""

from __future__ import annotations

from runtape.attribution.chain_facts import Hop, Link
from runtape.attribution.facts import Calls, Cause, Investigation, PieceResult
from runtape.context.pieces import Piece
from runtape.decision import Decision
from runtape.jsonio import Json
from runtape.reports.decisions import decided_tools
from runtape.reports.outcome_json import interval_json, outcomes_json, tally_json
from runtape.reports.warnings import warning_text
from runtape.reports.why_report import WhyReport

WHY_SCHEMA = "runtape.why/1"
_GLIMPSE = 400
"""Characters of a tested piece's text that are kept, and of what stands around a causing text."""


def why_document(report: WhyReport) -> Json:
    """The document; :func:`runtape.reports.why_restore.restore_why` reads it back."""
    found = report.investigation
    subject = report.subject
    return {
        "schema": WHY_SCHEMA,
        "version": report.version,
        "trace": {
            "path": subject.path,
            "run_id": subject.run_id,
            "name": subject.name,
            "handle": subject.handle,
        },
        "decision": _decision(report),
        **findings_json(found),
        **chain_json(found),
        "settings": report.settings,
    }


def chain_json(found: Investigation) -> Json:
    """The chain of causes, one object a hop, and how it ends; empty when it was not asked for."""
    chain = found.chain
    if chain is None:
        return {"chain": [], "chain_end": None}
    decided = decided_tools(found.decision)
    return {
        "chain": [_hop(hop, decided) for hop in chain.hops],
        "chain_end": {
            "code": chain.end.value,
            "hop": chain.ended_at,
            "reason": chain.reason,
            "asked": _glimpsed(chain.asked) if chain.asked else None,
            "elsewhere": list(chain.elsewhere),
            "followed": chain.followed,
        },
    }


def _hop(hop: Hop, decided: frozenset[str]) -> Json:
    return {
        "hop": hop.number,
        "decision": decision_json(hop.investigation.decision),
        **findings_json(hop.investigation),
        "masked": [_glimpsed(piece) for piece in hop.masked],
        "needs_words": hop.needs_words,
        "followed": hop.followed,
        "link": link_json(hop.link, decided) if hop.link else None,
    }


def link_json(link: Link, decided: frozenset[str]) -> Json:
    """How an earlier cause reaches the final decision, whose tools are `decided`."""
    return {
        "kind": link.kind.value,
        **tally_json(link.without),
        "interval": interval_json(link.without),
        "p": link.p,
        "instead": outcomes_json(link.instead, decided),
    }


def findings_json(found: Investigation) -> Json:
    """All that was found of a decision, but the decision and its chain."""
    return {
        "verdict": found.verdict.value,
        "baseline": _baseline(found),
        "causes": [_cause(cause, found) for cause in found.causes],
        "pieces": [_result(result) for result in found.pieces],
        "untested": [_glimpsed(piece) for piece in found.untested],
        "calls": calls_json(found.calls),
        "warnings": [
            {"code": w.code, "message": warning_text(w), "numbers": w.numbers}
            for w in found.warnings
        ],
        "seconds": round(found.seconds, 3),
        "failure": found.failure,
    }


def _decision(report: WhyReport) -> Json:
    decision = report.investigation.decision
    return {
        **decision_json(decision),
        "model": report.subject.model,
        "fidelity": report.subject.fidelity,
    }


def decision_json(decision: Decision) -> Json:
    """What the model did; ``arguments`` are those of the explained tool's first call."""
    own = [call for call in decision.calls if decision.tool in {None, call.name}]
    return {
        "event": decision.event,
        "request": decision.request,
        "kind": decision.kind.value,
        "tool": decision.tool,
        "arguments": own[0].arguments if own else None,
        "text": decision.text,
        "pattern": decision.pattern,
        "calls": [{"name": c.name, "arguments": c.arguments, "id": c.id} for c in decision.calls],
    }


def _baseline(found: Investigation) -> Json:
    return {
        **tally_json(found.baseline),
        "rate": found.baseline.rate,
        "interval": interval_json(found.baseline),
        "mode": found.mode.value if found.mode else None,
        "level": found.level,
        "variants": found.slots,
        "outcomes": outcomes_json(found.outcomes, decided_tools(found.decision)),
    }


def _cause(cause: Cause, found: Investigation) -> Json:
    fills = [{"fill": r.fill, **tally_json(r.tally)} for r in cause.rechecks]
    alone = cause.enough_alone
    return {
        "refs": [piece.ref for piece in cause.pieces],
        "events": list(dict.fromkeys(piece.event for piece in cause.pieces)),
        "texts": [piece.text for piece in cause.pieces],
        "text": "\n".join(piece.text for piece in cause.pieces),
        "role": cause.role.value,
        "headline": cause.headline,
        "without": {**tally_json(cause.without), "interval": interval_json(cause.without)},
        "p": cause.p,
        "level": cause.level,
        "claimed_at": {**tally_json(cause.claimed_at), "p": cause.claimed_p},
        "instead": outcomes_json(cause.instead, decided_tools(found.decision)),
        "narrowed": [
            {**piece_json(step.piece), **tally_json(step.tally), "text": _around(step.piece, cause)}
            for step in cause.narrowed
        ],
        "recheck": fills[0] if fills else None,
        "rechecks": fills,
        "enough_alone": tally_json(alone) if alone is not None else None,
        "pieces": [piece_json(piece) for piece in cause.pieces],
    }


def _around(piece: Piece, cause: Cause) -> str:
    """The text of an enclosing piece near the causing text: reports show no more of it."""
    at = piece.text.find(cause.pieces[0].text)
    if at < 0:
        return piece.text[:_GLIMPSE]
    end = at + len(cause.pieces[0].text)
    return piece.text[max(0, at - _GLIMPSE) : end + _GLIMPSE]


def _result(result: PieceResult) -> Json:
    return {
        **_glimpsed(result.piece),
        **tally_json(result.tally),
        "p": result.p,
        "state": result.state.value,
    }


def _glimpsed(piece: Piece) -> Json:
    """A piece with the beginning of its text."""
    return {
        **piece_json(piece),
        "text": piece.text[:_GLIMPSE],
        "characters": len(piece.text),
    }


def piece_json(piece: Piece) -> Json:
    """A piece without its text."""
    return {
        "ref": piece.ref,
        "kind": piece.kind.value,
        "event": piece.event,
        "id": piece.id,
        "parent": piece.parent,
        "given": piece.given,
        "tool": piece.tool,
        "call": list(piece.call) if piece.call else None,
        "divisible": piece.divisible,
    }


def calls_json(calls: Calls) -> Json:
    """What it cost."""
    return {
        "made": calls.made,
        "cached": calls.cached,
        "budget": calls.budget,
        "requests": calls.requests,
        "rounds": calls.rounds,
        "errors": calls.errors,
        "input_tokens": calls.input_tokens,
        "output_tokens": calls.output_tokens,
        "cost_usd": calls.cost_usd,
    }
