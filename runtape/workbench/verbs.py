"""The questions as single calls: what ``runtape.why`` and its like are."""

from __future__ import annotations

import difflib
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from runtape.attribution.distribution import Distribution
from runtape.attribution.facts import Fact
from runtape.attribution.options import Asking, OddsOptions, RerunOptions, WhyOptions
from runtape.errors import UsageError
from runtape.remedies.facts import FixFact
from runtape.remedies.options import FixOptions
from runtape.reports.fix_report import FixReport
from runtape.reports.why_report import WhyReport
from runtape.workbench.blocking import run_blocking
from runtape.workbench.estimates import Plan
from runtape.workbench.fixing import prepare_fix
from runtape.workbench.jobs import SampleJob, WhyJob, prepare_odds, prepare_rerun, prepare_why
from runtape.workbench.regressions import write_fix_regression, write_regression
from runtape.workbench.results import changed_settings
from runtape.workbench.traces import Trace, open_trace

O = TypeVar("O", bound=Asking)  # noqa: E741 - a type variable, not a zero
Place: TypeAlias = Trace | str | Path
"""A trace, or what :func:`load` takes."""


def load(path: str | Path) -> Trace:
    """Open a trace: a path, a unique part of a name in ./traces, or ``last``.

    Raises TraceNotFound or TraceUnreadable.
    """
    return open_trace(path)


def why(
    trace: Place,
    event: int | str,
    options: WhyOptions | None = None,
    *,
    on_fact: Callable[[Fact], None] | None = None,
    **settings: Any,
) -> WhyReport:
    """Find out which part of the context made the model decide as it did at `event`.

    Blocks until the answer is there; works inside a running event loop too. The answer is in
    ``.headline`` (a cause, or None) and ``.investigation``.

    Args:
        trace: an open trace, a path, a part of a name, or ``last``.
        event: a number, ``tool:NAME``, ``last`` or ``error``.
        options: how to ask.
        on_fact: shown every fact as it happens.
        settings: single fields of :class:`~runtape.attribution.options.WhyOptions`; they win.

    Raises:
        AddressError: no such event, or no decision there.
        ModelError: nobody can answer (no key, no package, a broken model function).
        UsageError: options that make no sense.
    """
    return run_blocking(lambda: why_async(trace, event, options, on_fact=on_fact, **settings))


async def why_async(
    trace: Place,
    event: int | str,
    options: WhyOptions | None = None,
    *,
    on_fact: Callable[[Fact], None] | None = None,
    **settings: Any,
) -> WhyReport:
    """Like :func:`why`, for code that runs in an event loop."""
    return await _why_job(trace, event, options, settings).result(on_fact)


async def investigate(
    trace: Place, event: int | str, options: WhyOptions | None = None, **settings: Any
) -> AsyncGenerator[Fact]:
    """Like :func:`why_async`, as the stream of facts; ``Finished`` is last, with the result."""
    async with aclosing(_why_job(trace, event, options, settings).facts()) as facts:
        async for fact in facts:
            yield fact


def plan(
    trace: Place, event: int | str, options: WhyOptions | None = None, **settings: Any
) -> Plan:
    """What :func:`why` would test, and what it would probably cost; nothing is called."""
    return _why_job(trace, event, options, settings).plan


def rerun(
    trace: Place, event: int | str, options: RerunOptions | None = None, **settings: Any
) -> Distribution:
    """Change the context and see what the model does now, beside what it does without the change.

    Args:
        trace: as for :func:`why`.
        event: as for :func:`why`.
        options: what to change, and how to ask.
        settings: single fields of :class:`~runtape.attribution.options.RerunOptions`; they win.

    Raises:
        RefNotFound: a dropped ref is not there.
        UsageError: a change that would change nothing.
        RuntapeError: as for :func:`why`; IncompleteContext when the request cannot be put together.
    """
    asked = _with(options or RerunOptions(), settings)
    return _signed(prepare_rerun(_opened(trace), event, asked), asked)


def odds(
    trace: Place, event: int | str, options: OddsOptions | None = None, **settings: Any
) -> Distribution:
    """How often the model decides the same on the unchanged context; raises as :func:`rerun`."""
    asked = _with(options or OddsOptions(), settings)
    return _signed(prepare_odds(_opened(trace), event, asked), asked)


def fix(
    trace: Place,
    event: int | str,
    options: FixOptions | None = None,
    *,
    on_fact: Callable[[FixFact], None] | None = None,
    **settings: Any,
) -> FixReport:
    """Find out why, measure what helps against it, and what that breaks.

    Blocks until the answer is there; works inside a running event loop too. The answer is in
    ``.best`` (the first remedy that passed, or None) and ``.fix``;
    :mod:`runtape.remedies.grading` defines PASS, PART and FAIL.

    Args:
        trace: as for :func:`why`.
        event: as for :func:`why`.
        options: what is tried, and how to ask.
        on_fact: shown every fact as it happens.
        settings: single fields of :class:`~runtape.remedies.options.FixOptions`; they win.

    Raises:
        UsageError: a rule that cannot be read, or options that make no sense.
        RuntapeError: as for :func:`why`, also for traces in ``also``.
    """
    return prepare_fix(_opened(trace), event, _with(options or FixOptions(), settings)).run(on_fact)


def write_test(
    trace: Place,
    event: int | str,
    path: str | Path,
    fixed: FixReport | None = None,
    *,
    force: bool = False,
    **settings: Any,
) -> Path:
    """Write a pytest file that fails when the decision at `event` comes back; nothing is asked.

    A copy of the trace goes into a folder beside it. Returns the file.

    Args:
        trace: as for :func:`why`.
        event: as for :func:`why`.
        path: the file: ``test_….py``.
        fixed: what :func:`fix` returned: its first remedy that passed is tested, and what it
            keeps.
        force: overwrite what is there.
        settings: the change and how to ask, as for :func:`rerun`; beside `fixed`, how to ask only.

    Raises:
        UsageError: `path` is taken or would not be collected, or no remedy passed.
        StorageError: the file cannot be written.
        RuntapeError: as for :func:`rerun`.
    """
    opened, options = _opened(trace), _with(RerunOptions(), settings)
    if fixed is None:
        return write_regression(opened, event, Path(path), options, force=force).test
    found = fixed.fix
    return write_fix_regression(opened, event, Path(path), found, options, force=force).test


def _signed(job: SampleJob, options: Asking) -> Distribution:
    """Run a job; the result knows whose it is, so that a failing check can say what explains it."""
    path = str(job.question.trace.path)
    return replace(job.run(), trace=path, settings=changed_settings(options))


def _why_job(
    trace: Place, event: int | str, options: WhyOptions | None, settings: dict[str, Any]
) -> WhyJob:
    return prepare_why(_opened(trace), event, _with(options or WhyOptions(), settings))


def _opened(trace: Place) -> Trace:
    return trace if isinstance(trace, Trace) else open_trace(trace)


def _with(options: O, settings: dict[str, Any]) -> O:
    """`options` with single settings changed; lists are taken for tuples."""
    known = [field.name for field in fields(options)]
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise UsageError(f"There is no option {name!r}.", hint=hint)
    plain: Any = {n: tuple(v) if isinstance(v, list) else v for n, v in settings.items()}
    return replace(options, **plain)
