"""A report in which one text stands wherever a text of the trace can stand."""

from __future__ import annotations

import json
from dataclasses import replace

from runtape.attribution.chain_facts import Chain, ChainEnd, Hop, Link, LinkKind
from runtape.attribution.facts import PieceResult, PieceState, Recheck, Role, Step, Verdict, Warned
from runtape.decision import DecisionKind, Outcome, OutcomeKind
from runtape.dialects.base import ToolCall
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
from runtape.reports.fix_report import FixReport
from runtape.reports.why_report import WhyReport
from runtape.trials import Tally
from tests.support import findings
from tests.support.findings import ATTRIBUTED, HEADLINE, PARA, SENTENCE, report


def evil_report(
    evil: str, verdict: Verdict = Verdict.ATTRIBUTED, *, calls: bool = True
) -> WhyReport:
    """Everything in the report that a trace can set is `evil`."""
    piece = replace(SENTENCE, text=evil, ref=f"12.{evil}", tool=evil)
    root = replace(findings.EMAIL, text=f"{evil} {evil}", ref=evil, tool=evil)
    other = Outcome(OutcomeKind.OTHER_CALL, calls=((evil, json.dumps({evil: evil})),))
    said = Outcome(OutcomeKind.TEXT, text=evil)
    around = replace(PARA, text=f"{evil} around {evil}", ref=evil)
    cause = replace(
        HEADLINE,
        pieces=(piece,),
        narrowed=(Step(root, Tally(0, 2)), Step(around, Tally(0, 1)), Step(piece, Tally(0, 3))),
        instead=((other, 3), (said, 1)),
        rechecks=(Recheck(evil, Tally(0, 5)),),
    )
    decision = replace(
        findings.DECISION,
        tool=evil if calls else None,
        calls=(ToolCall(evil, {evil: evil, "n": [evil]}),) if calls else (),
        text=None if calls else evil,
        kind=DecisionKind.TOOL if calls else DecisionKind.TEXT,
    )
    found = replace(
        ATTRIBUTED,
        verdict=verdict,
        decision=decision,
        causes=(cause, *(replace(cause, headline=False, role=role) for role in Role)),
        pieces=(
            PieceResult(root, Tally(0, 2), PieceState.CAUSE, 0.001),
            PieceResult(around, Tally(0, 1), PieceState.SUSPECTED, 0.05),
            PieceResult(piece, Tally(0, 10), PieceState.CAUSE, 1e-7),
        ),
        untested=(replace(findings.OTHER, text=evil, ref=f"x{evil}"),),
        failure=evil,
        warnings=(Warned(evil, {evil: evil}),),
        outcomes=((other, 3), (said, 1)),
    )
    hop = Hop(1, found, masked=(piece,), link=Link(LinkKind.DIRECT, Tally(1, 9), 0.1))
    chain = Chain((hop,), ChainEnd.CANNOT_RERUN, 2, reason=evil, asked=piece, elsewhere=(evil,))
    subject = replace(
        findings.SUBJECT,
        path=evil,
        run_id=evil,
        name=evil,
        model=evil,
        handle=evil,
        fidelity={evil: "assumed"},
    )
    made = report(replace(found, chain=chain), model_fn=evil, judge=evil)
    return replace(made, subject=subject, version=evil)


def evil_fix(evil: str) -> FixReport:
    """The same for a `fix`: remedies, bystanders and failures are `evil` too."""
    made = evil_report(evil)
    found = replace(made.investigation, chain=None)
    remedies = (
        Remedy(RemedyKind.OWN_RULE, system=evil, source=evil),
        Remedy(RemedyKind.REMOVE, drop=(evil,)),
        Remedy(RemedyKind.QUOTE, quote=(evil,)),
        Remedy(RemedyKind.MODEL, model=evil),
    )
    outcomes = found.outcomes
    effect = Effect(0, Keeping.BROKEN, Tally(0, 5), 0.01, outcomes)
    trials = tuple(
        Trial(remedy, Tally(0, 10), 1e-5, 1e-4, outcomes, (effect,), Grade.PART, failure=evil)
        for remedy in remedies
    )
    fix = Fix(
        found,
        FixEnd.BUDGET_SPENT,
        trials,
        (Bystander(found.decision, evil, Tally(5, 5), stable=True),),
        warnings=found.warnings,
        failure=evil,
    )
    return FixReport(fix, made.subject, made.settings, evil)
