"""Jobs: a question, what it will probably cost, and its answer while it is being found."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from runtape.attribution.assembly import incomplete
from runtape.attribution.chain_driver import investigate_chain
from runtape.attribution.distribution import Distribution, sample_bodies
from runtape.attribution.driver import investigate
from runtape.attribution.facts import Fact, Finished, Investigation, Warned
from runtape.attribution.options import OddsOptions, RerunOptions, WhyOptions
from runtape.attribution.sampling import Place
from runtape.attribution.stopping import StopSignal
from runtape.attribution.streaming import last
from runtape.context import Context
from runtape.decision import Decision
from runtape.errors import IncompleteContext
from runtape.jsonio import Json
from runtape.reports.why_report import WhyReport
from runtape.workbench.blocking import run_blocking
from runtape.workbench.changes import changed_body
from runtape.workbench.earlier import call_behind
from runtape.workbench.estimates import Plan, plan_samples, plan_why
from runtape.workbench.questions import Gates, Question, ask_about, open_gates
from runtape.workbench.results import report_of
from runtape.workbench.traces import Trace


class WhyJob:
    """One `why`, ready to run. Nothing is called before :meth:`facts` or :meth:`run`.

    Attributes:
        question: the trace, the decision and the options.
        context: what the model saw, or the error that says what the tape lacks.
    """

    def __init__(self, question: Question, options: WhyOptions) -> None:
        self.question = question
        self.context = question.context_or_lack()
        self._options = options
        self._stop = StopSignal()

    @property
    def decision(self) -> Decision:
        """What is explained."""
        return self.question.decision

    @property
    def plan(self) -> Plan:
        """What it would test and probably cost; raises IncompleteContext."""
        if isinstance(self.context, IncompleteContext):
            raise self.context
        return plan_why(self.question, self.context, self._options)

    async def facts(self) -> AsyncGenerator[Fact]:
        """Investigate; the facts as they happen, ``Finished`` last.

        See :func:`runtape.attribution.driver.investigate` for how it ends.
        """
        if isinstance(self.context, IncompleteContext):
            yield Finished(incomplete(self.decision, self.context, self._options.budget))
            return
        async with (
            open_gates(self.question, self.context) as gates,
            aclosing(self._found(gates, self.context)) as facts,
        ):
            async for fact in facts:
                if isinstance(fact, Finished) and (warning := gates.warning) is not None:
                    yield warning
                    yield Finished(_warned(fact.report, warning))
                else:
                    yield fact

    def _found(self, gates: Gates, context: Context) -> AsyncGenerator[Fact]:
        if not self._options.chain:
            return investigate(context, self.decision, gates.gate, self._options, stop=self._stop)
        place = Place(context, self.decision, gates.gate)
        back = partial(call_behind, self.question.trace.tape, gates)
        return investigate_chain(place, self._options, back, stop=self._stop)

    def stop(self) -> None:
        """End it now with what is known; safe from any thread, also before it runs."""
        self._stop.request()

    def report(self, found: Investigation) -> WhyReport:
        """The result with what a report says beside it."""
        context = None if isinstance(self.context, IncompleteContext) else self.context
        return report_of(self.question, context, found)

    async def result(self, on_fact: Callable[[Fact], None] | None = None) -> WhyReport:
        """Investigate to the end; `on_fact` is shown each fact."""
        fact = await last(self.facts(), on_fact)
        assert isinstance(fact, Finished)  # noqa: S101 - the promise of `facts`
        return self.report(fact.report)

    def run(self, on_fact: Callable[[Fact], None] | None = None) -> WhyReport:
        """Like :meth:`result`, blocking; works inside a running event loop too."""
        return run_blocking(lambda: self.result(on_fact))


class SampleJob:
    """One `rerun` or `odds`, ready to run: the unchanged request, and a changed one beside it.

    Attributes:
        question: the trace, the decision and the options.
        context: what the model saw.
        bodies: the requests that are run; with two, the first is the unchanged one.
        runs: times each is run.
    """

    def __init__(
        self, question: Question, context: Context, bodies: Sequence[Json], runs: int
    ) -> None:
        self.question = question
        self.context = context
        self.bodies = tuple(bodies)
        self.runs = runs
        self._stop = StopSignal()

    @property
    def decision(self) -> Decision:
        """The recorded decision."""
        return self.question.decision

    @property
    def plan(self) -> Plan:
        """What it will probably cost."""
        return plan_samples(self.question, self.context, self.runs * len(self.bodies))

    async def snapshots(self) -> AsyncGenerator[Distribution]:
        """Run; the growing distribution with each reply, the result last.

        See :func:`runtape.attribution.distribution.sample_bodies` for how it ends.
        """
        async with open_gates(self.question, self.context) as gates:
            growing = sample_bodies(
                gates.gate, self.decision, self.bodies, self.runs, stop=self._stop
            )
            async with aclosing(growing) as distributions:
                async for distribution in distributions:
                    yield distribution

    def stop(self) -> None:
        """End it now with what is known; safe from any thread, also before it runs."""
        self._stop.request()

    async def result(
        self, on_snapshot: Callable[[Distribution], None] | None = None
    ) -> Distribution:
        """Run to the end; `on_snapshot` is shown each snapshot."""
        return await last(self.snapshots(), on_snapshot)

    def run(self, on_snapshot: Callable[[Distribution], None] | None = None) -> Distribution:
        """Like :meth:`result`, blocking; works inside a running event loop too."""
        return run_blocking(lambda: self.result(on_snapshot))


def prepare_why(trace: Trace, event: int | str, options: WhyOptions | None = None) -> WhyJob:
    """A `why` for the decision at `event`; see :func:`runtape.workbench.find_event` for events.

    Raises EventNotFound, NotADecision, or UsageError. An incomplete context is no error here but
    a verdict of the result.
    """
    options = options or WhyOptions()
    return WhyJob(ask_about(trace, event, options), options)


def prepare_rerun(trace: Trace, event: int | str, options: RerunOptions) -> SampleJob:
    """A `rerun` with changes.

    Raises what :func:`prepare_why` and :func:`~runtape.workbench.changes.changed_body` raise, and
    IncompleteContext.
    """
    question = ask_about(trace, event, replace(options, model_name=None))
    context = question.context()
    bodies = [context.edited(())] if options.baseline else []
    bodies.append(changed_body(context, options))
    return SampleJob(question, context, bodies, options.runs)


def prepare_odds(trace: Trace, event: int | str, options: OddsOptions | None = None) -> SampleJob:
    """An `odds`: how often the unchanged context gives the decision.

    Raises what :func:`prepare_why` raises, and IncompleteContext.
    """
    options = options or OddsOptions()
    question = ask_about(trace, event, options)
    context = question.context()
    return SampleJob(question, context, [context.edited(())], options.runs)


def _warned(report: Investigation, warning: Warned) -> Investigation:
    return replace(report, warnings=(*report.warnings, warning))
