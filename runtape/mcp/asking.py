"""Tools that ask a model: each call is one job with a bound on what it may pay for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any, TypeVar

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from runtape.attribution.distribution import Distribution
from runtape.attribution.facts import Fact, Finished, PieceState
from runtape.attribution.options import OddsOptions, RerunOptions, WhyOptions
from runtape.errors import UsageError
from runtape.jsonio import Json
from runtape.mcp.arguments import Budget, EventSpec, ExactArgs, Match, Runs, Tool, TraceName
from runtape.mcp.failures import told
from runtape.mcp.progressing import FixReporter, Reporter, SampleReporter, WhyReporter
from runtape.mcp.results import COLUMNS, result
from runtape.mcp.serving import Serving
from runtape.remedies.facts import FixFact, FixFinished
from runtape.remedies.options import FixOptions
from runtape.reports.changes import change_words
from runtape.reports.distribution_json import distribution_document
from runtape.reports.distribution_report import DistributionReport
from runtape.reports.distribution_text import distribution_sheet
from runtape.reports.fix_json import fix_document
from runtape.reports.fix_report import FixReport
from runtape.reports.plan_text import plan_json, plan_sheet
from runtape.reports.remedies_text import fix_sheet
from runtape.reports.why_json import why_document
from runtape.reports.why_report import WhyReport
from runtape.reports.why_text import why_sheet
from runtape.workbench import (
    FixJob,
    SampleJob,
    WhyJob,
    prepare_fix,
    prepare_odds,
    prepare_rerun,
    prepare_why,
)
from runtape.workbench.presentation import outlook_of, subject_with_handle
from runtape.workbench.results import changed_settings, subject_of

T = TypeVar("T")
_CALM = {PieceState.NO_EFFECT.value, PieceState.IN_GROUP.value, PieceState.UNTESTED.value}
_WORDS = 3
"""Fewest words of a rule: with fewer, it could be the name of a file."""
_GLIMPSE = 80
"""Characters of a text that had no effect: a reader can ask for it by its ref."""

Chain = Annotated[
    bool, Field(description="Go on to the earlier decisions that brought the causing text.")
]
Full = Annotated[bool, Field(description="Go on after the first answer, until all is settled.")]
Drop = Annotated[list[str], Field(description="Refs of pieces to take out (see `context`).")]
Replace = Annotated[dict[str, str], Field(description="Text → other text, wherever it stands.")]
System = Annotated[str | None, Field(description="The system prompt instead of the recorded one.")]
AddSystem = Annotated[str | None, Field(description="Text after the system prompt.")]
Params = Annotated[dict[str, Any], Field(description="Request parameters, as in the API.")]
Rules = Annotated[list[str], Field(description="Rules of your own to try, each a sentence.")]
Also = Annotated[list[str], Field(description="More runs whose decisions must keep happening.")]
ModelName = Annotated[str | None, Field(description="Another model of the same provider.")]


class Asking:
    """Asks about decisions in the traces of one server; each method is a tool."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    async def why(
        self,
        ctx: Context,
        trace: TraceName,
        event: EventSpec,
        *,
        tool: Tool = None,
        match: Match = None,
        exact_args: ExactArgs = False,
        runs: Runs = None,
        full: Full = False,
        chain: Chain = False,
        budget: Budget = None,
    ) -> CallToolResult:
        """Which part of the context caused a decision, found by experiment.

        Takes parts of what the model saw out, asks the model again, many times, and tells by exact
        tests what made the difference. Asks a model 30 to 100 times: see `why_dry` before. Replies
        are kept: asking again after a full budget goes on from there.
        """
        with told():
            options = WhyOptions(
                **self._common(tool, match, budget, exact_args=exact_args),
                runs=runs or self._serving.runs,
                full=full,
                chain=chain,
            )
            job = await _aside(partial(self._why_job, trace, event, options))
            seen = WhyReporter(Reporter(ctx, options.budget))
            report = self._named(job, await _answered(job, seen))
            return result(why_sheet(report, COLUMNS).lines, _without_calm_texts(report))

    async def why_dry(
        self,
        trace: TraceName,
        event: EventSpec,
        *,
        tool: Tool = None,
        match: Match = None,
        budget: Budget = None,
    ) -> CallToolResult:
        """What `why` would test and about what it would cost; asks nothing."""
        with told():
            options = WhyOptions(**self._common(tool, match, budget, exact_args=False))
            job = await _aside(partial(self._why_job, trace, event, options))
            outlook = await _aside(partial(outlook_of, job))
            return result(plan_sheet(outlook, COLUMNS).lines, plan_json(outlook))

    async def rerun(
        self,
        ctx: Context,
        trace: TraceName,
        event: EventSpec,
        *,
        drop: Drop = [],  # noqa: B006 - read only; the schema wants a list
        replace_text: Replace = {},  # noqa: B006 - same
        system: System = None,
        add_system: AddSystem = None,
        params: Params = {},  # noqa: B006 - same
        model: ModelName = None,
        tool: Tool = None,
        match: Match = None,
        exact_args: ExactArgs = False,
        runs: Runs = None,
        budget: Budget = None,
    ) -> CallToolResult:
        """What the model does at a decision when something is changed, beside the unchanged call.

        Runs both, and counts. At least one change is needed.
        """
        with told():
            options = RerunOptions(
                **self._common(tool, match, budget, exact_args=exact_args),
                runs=runs or self._serving.runs,
                drop=tuple(drop),
                replace=replace_text,
                system=system,
                add_system=add_system,
                params=params,
                model_name=model,
            )
            opened = partial(self._serving.open, trace)
            job = await _aside(lambda: prepare_rerun(opened(), event, options))
            return await self._sampled(ctx, job, change_words(options))

    async def odds(
        self,
        ctx: Context,
        trace: TraceName,
        event: EventSpec,
        *,
        tool: Tool = None,
        match: Match = None,
        exact_args: ExactArgs = False,
        runs: Runs = None,
        budget: Budget = None,
    ) -> CallToolResult:
        """How often a decision comes when the same call is made again, unchanged."""
        with told():
            options = OddsOptions(
                **self._common(tool, match, budget, exact_args=exact_args),
                runs=runs or self._serving.runs,
            )
            opened = partial(self._serving.open, trace)
            job = await _aside(lambda: prepare_odds(opened(), event, options))
            return await self._sampled(ctx, job, [])

    async def fix(
        self,
        ctx: Context,
        trace: TraceName,
        event: EventSpec,
        *,
        rules: Rules = [],  # noqa: B006 - read only; the schema wants a list
        also: Also = [],  # noqa: B006 - same
        model: ModelName = None,
        tool: Tool = None,
        match: Match = None,
        exact_args: ExactArgs = False,
        runs: Runs = None,
        budget: Budget = None,
    ) -> CallToolResult:
        """What helps against a decision: remedies, measured, and what each breaks.

        Begins with a `why`; replies are kept from one that was made before. The other recorded
        decisions of the run have to go on happening. Asks a model a few hundred times.
        """
        with told():
            options = FixOptions(
                **self._common(tool, match, budget, exact_args=exact_args),
                model_name=model,
                runs=runs or self._serving.runs,
                rules=tuple(map(_plain_rule, rules)),
                also=await _aside(lambda: tuple(str(self._serving.open(t).path) for t in also)),
            )
            opened = partial(self._serving.open, trace)
            job = await _aside(lambda: prepare_fix(opened(), event, options))
            report = await _fixed(job, FixReporter(Reporter(ctx, options.budget)))
            folder = self._serving.folder
            subject = subject_with_handle(report.subject, job.question.trace, folder)
            report = replace(report, subject=subject)
            return result(fix_sheet(report, COLUMNS).lines, fix_document(report))

    def _common(
        self, tool: str | None, match: str | None, budget: int | None, *, exact_args: bool
    ) -> dict[str, Any]:
        """Fields of :class:`runtape.attribution.options.Asking`."""
        return {
            **self._serving.asking,
            "tool": tool,
            "match": match,
            "exact_args": exact_args,
            "budget": self._serving.budget(budget),
        }

    def _why_job(self, trace: str, event: int | str, options: WhyOptions) -> WhyJob:
        return prepare_why(self._serving.open(trace), event, options)

    def _named(self, job: WhyJob, report: WhyReport) -> WhyReport:
        folder = self._serving.folder
        return replace(
            report, subject=subject_with_handle(report.subject, job.question.trace, folder)
        )

    async def _sampled(self, ctx: Context, job: SampleJob, changed: list[str]) -> CallToolResult:
        reporter = SampleReporter(Reporter(ctx, job.runs * len(job.bodies)))
        found = await _distribution(job, reporter)
        plain = subject_of(job.question, job.context)
        report = DistributionReport(
            distribution=found,
            subject=subject_with_handle(plain, job.question.trace, self._serving.folder),
            changed=tuple(changed),
            settings=changed_settings(job.question.options),
            version=version("runtape"),
        )
        return result(distribution_sheet(report, COLUMNS).lines, distribution_document(report))


async def _aside(work: Callable[[], T]) -> T:
    """Read files in a thread, so that the server goes on answering."""
    return await anyio.to_thread.run_sync(work)


async def _answered(job: WhyJob, reporter: WhyReporter) -> WhyReport:
    """The finished report; a cancelled call ends the job, whose replies are kept."""
    fact: Fact | None = None
    async with aclosing(job.facts()) as facts:
        async for fact in facts:
            await reporter.see(fact)
    if not isinstance(fact, Finished):
        raise TypeError("the last fact is the result")
    return job.report(fact.report)


async def _fixed(job: FixJob, reporter: FixReporter) -> FixReport:
    fact: FixFact | None = None
    async with aclosing(job.facts()) as facts:
        async for fact in facts:
            await reporter.see(fact)
    if not isinstance(fact, FixFinished):
        raise TypeError("the last fact is the result")
    return job.report(fact.fix)


def _plain_rule(text: str) -> str:
    """A rule as text; what could name a file is refused: a client has no say over those."""
    if text.startswith("@") or len(text.split()) < _WORDS:
        raise UsageError(
            f"{text!r} is no rule.", hint="say what the model must do, in a sentence of some words"
        )
    return text


async def _distribution(job: SampleJob, reporter: SampleReporter) -> Distribution:
    found: Distribution | None = None
    async with aclosing(job.snapshots()) as snapshots:
        async for found in snapshots:
            await reporter.see(found)
    if found is None:
        raise TypeError("the last snapshot is the result")
    return found


def _without_calm_texts(report: WhyReport) -> Json:
    """The document; of texts that had no effect only the beginnings."""
    document = why_document(report)
    for piece in (*document["pieces"], *document["untested"]):
        if piece.get("state", PieceState.UNTESTED.value) in _CALM:
            piece["text"] = piece["text"][:_GLIMPSE]
    return document
