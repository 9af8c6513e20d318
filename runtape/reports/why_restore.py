"""A saved ``runtape.why/1`` document read back, so that it can be shown again."""

from __future__ import annotations

from dataclasses import replace

from runtape.attribution.chain_facts import Chain, ChainEnd, Hop, Link, LinkKind
from runtape.attribution.facts import (
    Calls,
    Cause,
    Investigation,
    Mode,
    PieceResult,
    PieceState,
    Recheck,
    Role,
    Step,
    Verdict,
    Warned,
)
from runtape.context.pieces import Piece, PieceKind
from runtape.decision import Decision, DecisionKind
from runtape.dialects.base import ToolCall
from runtape.errors import UsageError
from runtape.jsonio import Json
from runtape.reports.outcome_json import read_outcomes, read_tally
from runtape.reports.why_json import WHY_SCHEMA
from runtape.reports.why_report import Subject, WhyReport


def restore_why(document: Json) -> WhyReport:
    """The report a document was made of; texts of tested pieces are as short as they were saved.

    Raises:
        UsageError: it is not a complete ``runtape.why/1`` document.
    """
    if not isinstance(document, dict) or document.get("schema") != WHY_SCHEMA:
        raise UsageError(
            "this is no saved report of runtape why",
            hint="save one with: runtape why TRACE EVENT --json > report.json",
        )
    try:
        return _report(document)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UsageError(f"the saved report is damaged: {error!r}") from error


def _report(data: Json) -> WhyReport:
    trace, decision = data["trace"], data["decision"]
    investigation = replace(_investigation(data), chain=_chain(data))
    subject = Subject(
        path=trace["path"],
        run_id=trace["run_id"],
        name=trace["name"],
        handle=trace["handle"],
        model=decision["model"],
        fidelity=decision["fidelity"],
    )
    return WhyReport(investigation, subject, data["settings"], data["version"])


def _investigation(data: Json) -> Investigation:
    baseline = data["baseline"]
    return Investigation(
        decision=read_decision(data["decision"]),
        verdict=Verdict(data["verdict"]),
        mode=Mode(baseline["mode"]) if baseline["mode"] else None,
        baseline=read_tally(baseline),
        outcomes=read_outcomes(baseline["outcomes"]),
        causes=tuple(_cause(cause) for cause in data["causes"]),
        pieces=tuple(_result(result) for result in data["pieces"]),
        untested=tuple(_piece(piece, piece["text"]) for piece in data["untested"]),
        calls=Calls(**data["calls"]),
        warnings=tuple(Warned(w["code"], w["numbers"]) for w in data["warnings"]),
        level=baseline["level"],
        slots=baseline["variants"],
        seconds=data["seconds"],
        failure=data["failure"],
    )


def _chain(data: Json) -> Chain | None:
    end = data.get("chain_end")
    if end is None:
        return None
    return Chain(
        hops=tuple(map(_hop, data["chain"])),
        end=ChainEnd(end["code"]),
        ended_at=end["hop"],
        reason=end["reason"],
        asked=_piece(end["asked"], end["asked"]["text"]) if end["asked"] else None,
        elsewhere=tuple(end["elsewhere"]),
        followed=end["followed"],
    )


def _hop(data: Json) -> Hop:
    return Hop(
        number=data["hop"],
        investigation=_investigation(data),
        masked=tuple(_piece(piece, piece["text"]) for piece in data["masked"]),
        needs_words=data["needs_words"],
        link=_link(data["link"]) if data["link"] else None,
        followed=data["followed"],
    )


def _link(data: Json) -> Link:
    return Link(LinkKind(data["kind"]), read_tally(data), data["p"], read_outcomes(data["instead"]))


def read_decision(data: Json) -> Decision:
    """The inverse of :func:`runtape.reports.why_json.decision_json`."""
    return Decision(
        event=data["event"],
        request=data["request"],
        kind=DecisionKind(data["kind"]),
        calls=tuple(ToolCall(**call) for call in data["calls"]),
        tool=data["tool"],
        text=data["text"],
        pattern=data["pattern"],
    )


def _cause(data: Json) -> Cause:
    alone = data["enough_alone"]
    return Cause(
        pieces=tuple(map(_piece, data["pieces"], data["texts"])),
        role=Role(data["role"]),
        headline=data["headline"],
        without=read_tally(data["without"]),
        p=data["p"],
        level=data["level"],
        claimed_at=read_tally(data["claimed_at"]),
        claimed_p=data["claimed_at"]["p"],
        instead=read_outcomes(data["instead"]),
        narrowed=tuple(Step(_piece(s, s["text"]), read_tally(s)) for s in data["narrowed"]),
        rechecks=tuple(Recheck(r["fill"], read_tally(r)) for r in data["rechecks"]),
        enough_alone=read_tally(alone) if alone else None,
    )


def _result(data: Json) -> PieceResult:
    piece = _piece(data, data["text"])
    return PieceResult(piece, read_tally(data), PieceState(data["state"]), data["p"])


def _piece(data: Json, text: str) -> Piece:
    return Piece(
        id=data["id"],
        ref=data["ref"],
        kind=PieceKind(data["kind"]),
        event=data["event"],
        parent=data["parent"],
        text=text,
        given=data["given"],
        tool=data["tool"],
        call=(data["call"][0], data["call"][1]) if data["call"] else None,
        divisible=data["divisible"],
    )
