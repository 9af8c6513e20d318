"""The job of a `fix`: why, what helps, what that breaks."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from runtape.attribution.assembly import incomplete
from runtape.attribution.facts import Investigation
from runtape.attribution.sampling import Place
from runtape.attribution.stopping import StopSignal
from runtape.attribution.streaming import last
from runtape.context import Context
from runtape.decision import Decision
from runtape.errors import IncompleteContext, UsageError
from runtape.remedies.driver import Complaint, remedy
from runtape.remedies.facts import Explained, Fix, FixEnd, FixFact, FixFinished
from runtape.remedies.measuring import Others
from runtape.remedies.options import FixOptions
from runtape.remedies.rules import Rule, read_rule
from runtape.reports.fix_report import FixReport
from runtape.workbench.blocking import run_blocking
from runtape.workbench.earlier import other_decisions
from runtape.workbench.estimates import Plan, plan_fix
from runtape.workbench.questions import Gates, Question, ask_about, open_gates
from runtape.workbench.results import changed_settings, subject_of
from runtape.workbench.traces import TRACES, Trace, open_trace


class FixJob:
    """One `fix`, ready to run. Nothing is called before :meth:`facts` or :meth:`run`.

    Attributes:
        question: the trace, the decision and the options.
        context: what the model saw, or the error that says what the tape lacks.
        rules: the user's own rules, read.
        also: further traces whose decisions must keep happening.
    """

    def __init__(
        self,
        question: Question,
        options: FixOptions,
        rules: Sequence[Rule],
        also: Sequence[Trace],
        found: Investigation | None,
    ) -> None:
        self.question = question
        self.context = question.context_or_lack()
        self.rules = tuple(rules)
        self.also = tuple(also)
        self._options = options
        self._found = found
        self._stop = StopSignal()

    @property
    def decision(self) -> Decision:
        """What is to be fixed."""
        return self.question.decision

    @property
    def plan(self) -> Plan:
        """What it would try and probably cost; raises IncompleteContext."""
        if isinstance(self.context, IncompleteContext):
            raise self.context
        return plan_fix(self.question, self.context, self._options, explained=self._found)

    async def facts(self) -> AsyncGenerator[FixFact]:
        """Explain and measure; the facts as they happen, ``FixFinished`` last.

        See :func:`runtape.remedies.driver.remedy` for how it ends.
        """
        if isinstance(self.context, IncompleteContext):
            lack = incomplete(self.decision, self.context, self._options.budget)
            yield Explained(lack)
            yield FixFinished(
                Fix(lack, FixEnd.INCOMPLETE_CONTEXT, calls=lack.calls, failure=lack.failure)
            )
            return
        async with (
            open_gates(self.question, self.context) as gates,
            aclosing(remedy(self._complaint(gates, self.context), stop=self._stop)) as facts,
        ):
            async for fact in facts:
                if isinstance(fact, FixFinished) and (warning := gates.warning) is not None:
                    yield warning
                    warnings = (*fact.fix.warnings, warning)
                    yield FixFinished(replace(fact.fix, warnings=warnings))
                else:
                    yield fact

    def _complaint(self, gates: Gates, context: Context) -> Complaint:
        place = Place(context, self.decision, gates.gate)

        async def others() -> Others:
            limit = self._options.others
            return await other_decisions(self.question.trace, place, gates, self.also, limit)

        return Complaint(place, self._options, self.rules, others, self._found)

    def stop(self) -> None:
        """End it now with what is known; safe from any thread, also before it runs."""
        self._stop.request()

    def report(self, fix: Fix) -> FixReport:
        """The result with what a report says beside it."""
        context = None if isinstance(self.context, IncompleteContext) else self.context
        return FixReport(
            fix=fix,
            subject=subject_of(self.question, context),
            settings=changed_settings(self._options),
            version=version("runtape"),
        )

    async def result(self, on_fact: Callable[[FixFact], None] | None = None) -> FixReport:
        """Run to the end; `on_fact` is shown each fact."""
        fact = await last(self.facts(), on_fact)
        assert isinstance(fact, FixFinished)  # noqa: S101 - the promise of `facts`
        return self.report(fact.fix)

    def run(self, on_fact: Callable[[FixFact], None] | None = None) -> FixReport:
        """Like :meth:`result`, blocking; works inside a running event loop too."""
        return run_blocking(lambda: self.result(on_fact))


def prepare_fix(
    trace: Trace,
    event: int | str,
    options: FixOptions | None = None,
    *,
    found: Investigation | None = None,
    folder: Path = TRACES,
) -> FixJob:
    """A `fix` of the decision at `event`.

    Args:
        trace: where the decision was recorded.
        event: as for :func:`runtape.workbench.find_event`.
        options: what is tried, how often, of whom.
        found: the finished `why` of this very decision; without it the job begins with one.
        folder: where further traces are looked for by name.

    Raises:
        EventNotFound, NotADecision: no decision there.
        TraceNotFound, TraceUnreadable: a trace in ``also``.
        UsageError: a rule that cannot be read, the trace itself among the further ones, or `found`
            is about another decision.
    """
    options = options or FixOptions()
    rules = [read_rule(given) for given in options.rules]
    also = [_further(trace, spec, folder) for spec in options.also]
    question = ask_about(trace, event, replace(options, model_name=None))
    if found is not None and found.decision.request != question.decision.request:
        raise UsageError("What was found is about another decision.")
    return FixJob(question, options, rules, also, found)


def _further(trace: Trace, spec: str, folder: Path) -> Trace:
    further = open_trace(spec, folder=folder)
    if further.path.resolve() == trace.path.resolve():
        raise UsageError(
            f"{spec!r} is the trace of the decision itself.",
            hint="its other decisions are looked at anyway; name another trace",
            path=str(further.path),
        )
    return further
