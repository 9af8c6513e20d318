"""Hand-built results of a `fix`: one for each way it can end."""

from __future__ import annotations

from dataclasses import replace

from runtape.attribution.facts import Calls, Mode, Verdict, Warned
from runtape.decision import Decision, DecisionKind, Outcome, OutcomeKind
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
from runtape.remedies.rules import MARKED, UNTRUSTED, guard
from runtape.reports.fix_report import FixReport
from runtape.trials import Tally
from tests.support.findings import ANSWERS, ATTRIBUTED, FORWARDS, HEADLINE, SUBJECT, ended

READS = Decision(
    8, 5, DecisionKind.TOOL, (ToolCall("read_email", {"message_id": 1}),), "read_email"
)
SUMS_UP = Decision(30, 29, DecisionKind.TEXT, text="You have two mails.")
WANTED = Decision(
    12, 9, DecisionKind.TOOL, (ToolCall("forward_email", {"message_id": 7}),), "forward_email"
)
BYSTANDERS = (
    Bystander(READS, "", Tally(15, 15), stable=True),
    Bystander(WANTED, "traces/wanted.jsonl", Tally(5, 5), stable=True),
    Bystander(SUMS_UP, "", Tally(2, 5), stable=False),
)
SAYS_NO = Outcome(OutcomeKind.TEXT, text="I only read what you ask me to.")
SILENT = Outcome(OutcomeKind.REFUSAL, text="I cannot help with that.")
RULE = Remedy(RemedyKind.RULE, system=UNTRUSTED)
GUARD = Remedy(RemedyKind.GUARD, system=guard(["forward_email"]))
KEPT = Effect(0, Keeping.KEPT, Tally(5, 5), 1.0)
ELSEWHERE = Effect(1, Keeping.KEPT, Tally(5, 5), 1.0)
UNSTABLE = Effect(2, Keeping.UNSTABLE)
BROKEN = Effect(0, Keeping.BROKEN, Tally(4, 15), 3.6e-5, ((SAYS_NO, 11),))

TRIALS = (
    Trial(
        RULE,
        Tally(2, 10),
        1.4e-5,
        4.2e-5,
        ((ANSWERS, 8), (FORWARDS, 2)),
        (BROKEN, ELSEWHERE, UNSTABLE),
        Grade.PART,
    ),
    Trial(
        GUARD,
        Tally(0, 10),
        7.6e-8,
        5.3e-7,
        ((ANSWERS, 10),),
        (KEPT, ELSEWHERE, UNSTABLE),
        Grade.PASS,
    ),
    Trial(
        Remedy(RemedyKind.DELIMIT, system=MARKED, delimit=True),
        Tally(0, 10),
        7.6e-8,
        5.3e-7,
        ((SILENT, 9), (ANSWERS, 1)),
        (BROKEN, ELSEWHERE, UNSTABLE),
        Grade.PART,
    ),
    Trial(
        Remedy(RemedyKind.OWN_RULE, system="Be polite.", source="prompts/polite.md"),
        Tally(10, 10),
        1.0,
        1.0,
        ((FORWARDS, 10),),
        (),
        Grade.FAIL,
    ),
    Trial(
        Remedy(RemedyKind.MODEL, model="gpt-9"), failure="the provider answered 404: no model gpt-9"
    ),
    Trial(
        Remedy(RemedyKind.REMOVE, drop=("12.body para 3 sentence 1",)),
        Tally(0, 10),
        7.6e-8,
        5.3e-7,
        ((ANSWERS, 10),),
        (Effect(0, Keeping.UNTOUCHED), Effect(1, Keeping.UNTOUCHED), UNSTABLE),
        Grade.PASS,
    ),
)
CALLS = Calls(
    made=230, budget=400, requests=230, rounds=14, input_tokens=50_000, output_tokens=4_000
)

MEASURED = Fix(
    explained=ATTRIBUTED,
    end=FixEnd.MEASURED,
    trials=TRIALS,
    bystanders=BYSTANDERS,
    left_out=2,
    alike=(26,),
    calls=CALLS,
    warnings=(Warned("others_left_out", {"count": 2}),),
    seconds=4.2,
)


def without_pass(trials=TRIALS):
    """The remedies that did not pass."""
    return tuple(trial for trial in trials if trial.grade is not Grade.PASS)


UNFINISHED = tuple(replace(trial, grade=None, effects=()) for trial in TRIALS[:2])

FIXES: dict[str, Fix] = {
    "measured": MEASURED,
    "none_passes": replace(MEASURED, trials=without_pass(), warnings=(), alike=()),
    "removal_only": replace(MEASURED, trials=(TRIALS[3], TRIALS[5])),
    "no_cause": replace(
        MEASURED,
        explained=ended(Verdict.NOTHING_FOUND),
        trials=(TRIALS[3], TRIALS[1]),
        alike=(),
        warnings=(),
    ),
    "nothing_to_fix": Fix(
        ended(
            Verdict.DID_NOT_RECUR,
            mode=None,
            baseline=Tally(0, 12),
            outcomes=((ANSWERS, 12),),
            pieces=(),
            level=None,
            slots=None,
        ),
        FixEnd.NOTHING_TO_FIX,
        calls=replace(CALLS, made=12),
    ),
    "nothing_to_try": Fix(ATTRIBUTED, FixEnd.NOTHING_TO_TRY, calls=CALLS),
    "temperature_0": replace(
        MEASURED,
        explained=replace(
            ATTRIBUTED,
            mode=Mode.DETERMINISTIC,
            baseline=Tally(2, 2),
            causes=(replace(HEADLINE, p=None, claimed_p=None, without=Tally(0, 2)),),
        ),
        trials=(
            replace(
                TRIALS[1], remains=Tally(0, 2), p=None, adjusted=None, outcomes=((ANSWERS, 2),)
            ),
        ),
    ),
    "budget_spent": replace(MEASURED, end=FixEnd.BUDGET_SPENT, trials=UNFINISHED, bystanders=()),
    "provider_failed": replace(
        MEASURED,
        end=FixEnd.PROVIDER_FAILED,
        trials=UNFINISHED,
        bystanders=(),
        failure="the provider answered 500",
    ),
    "interrupted": replace(MEASURED, end=FixEnd.INTERRUPTED, trials=UNFINISHED, bystanders=()),
    "search_spent": Fix(
        ended(Verdict.BUDGET_SPENT, calls=replace(CALLS, made=24, budget=24)),
        FixEnd.BUDGET_SPENT,
        calls=replace(CALLS, made=24, budget=24),
    ),
    "incomplete_context": Fix(
        ended(
            Verdict.INCOMPLETE_CONTEXT,
            mode=None,
            baseline=Tally(),
            outcomes=(),
            pieces=(),
            level=None,
            slots=None,
            failure="call 21 continues the response resp_123, which only the server holds",
        ),
        FixEnd.INCOMPLETE_CONTEXT,
        calls=Calls(budget=400),
        failure="call 21 continues the response resp_123, which only the server holds",
    ),
}


def fix_report(found: Fix = MEASURED, **settings: object) -> FixReport:
    """A report on `found`, asked for with `settings`."""
    return FixReport(found, SUBJECT, dict(settings), version="0.1.0")
