"""A saved ``runtape.fix/1`` document read back, so that it can be shown again."""

from __future__ import annotations

from runtape.attribution.facts import Calls, Warned
from runtape.errors import UsageError
from runtape.jsonio import Json
from runtape.remedies.facts import (
    Bystander,
    Effect,
    Fix,
    FixEnd,
    Grade,
    Keeping,
    Remedy,
    RemedyKind,
    Trial,
)
from runtape.reports.fix_json import FIX_SCHEMA
from runtape.reports.fix_report import FixReport
from runtape.reports.outcome_json import read_outcomes, read_tally
from runtape.reports.why_json import WHY_SCHEMA
from runtape.reports.why_restore import read_decision, restore_why


def restore_fix(document: Json) -> FixReport:
    """The report a document was made of; texts of tested pieces are as short as they were saved.

    Raises:
        UsageError: it is not a complete ``runtape.fix/1`` document.
    """
    if not isinstance(document, dict) or document.get("schema") != FIX_SCHEMA:
        raise UsageError("this is no saved report of runtape fix")
    try:
        return _report(document)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UsageError(f"the saved report is damaged: {error!r}") from error


def _report(data: Json) -> FixReport:
    shared = {name: data[name] for name in ("version", "trace", "decision", "settings")}
    why = restore_why({"schema": WHY_SCHEMA, **shared, **data["why"], "chain": []})
    fix = Fix(
        explained=why.investigation,
        end=FixEnd(data["end"]),
        trials=tuple(map(_trial, data["remedies"])),
        bystanders=tuple(map(_bystander, data["decisions"])),
        left_out=data["left_out"],
        alike=tuple(data["alike"]),
        calls=Calls(**data["calls"]),
        warnings=tuple(Warned(w["code"], w["numbers"]) for w in data["warnings"]),
        seconds=data["seconds"],
        failure=data["failure"],
    )
    return FixReport(fix, why.subject, data["settings"], data["version"])


def _trial(data: Json) -> Trial:
    return Trial(
        remedy=_remedy(data),
        remains=read_tally(data["remains"]),
        p=data["p"],
        adjusted=data["p_adjusted"],
        outcomes=read_outcomes(data["outcomes"]),
        effects=tuple(map(_effect, data["effects"])),
        grade=Grade(data["grade"]) if data["grade"] else None,
        failure=data["failure"] or "",
    )


def _remedy(data: Json) -> Remedy:
    return Remedy(
        kind=RemedyKind(data["kind"]),
        system=data["system"] or "",
        drop=tuple(data["drop"]),
        quote=tuple(data["quote"]),
        delimit=data["delimit"],
        model=data["model"],
        source=data["source"] or "",
    )


def _bystander(data: Json) -> Bystander:
    return Bystander(read_decision(data), data["trace"] or "", read_tally(data), data["stable"])


def _effect(data: Json) -> Effect:
    return Effect(
        bystander=data["decision"],
        keeping=Keeping(data["keeping"]),
        tally=read_tally(data),
        p=data["p"],
        instead=read_outcomes(data["instead"]),
    )
