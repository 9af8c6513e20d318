"""Writing a regression test: the file, and a copy of the trace in a folder beside it."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from runtape.attribution.options import Asking, RerunOptions
from runtape.decision import Decision, DecisionKind
from runtape.errors import StorageError, UsageError
from runtape.remedies.facts import Bystander, Fix, Keeping, Remedy, Trial
from runtape.reports.regression import MODEL_FILE, Regression, regression_source
from runtape.workbench.changes import changed_body
from runtape.workbench.questions import Question, ask_about
from runtape.workbench.traces import Trace

FOLDER = "runtape_traces"
"""Where the copies of traces stand, beside the test files."""
_COLLECTED = re.compile(r"test_\w+\.py|\w+_test\.py")
_ASK = ("model_fn", "tool", "match", "exact_args", "judge", "base_url", "provider")
_CHANGES = ("drop", "quote", "replace", "system", "add_system", "delimit", "params", "model_name")


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Attributes:
        test: the test file.
        trace: the copy of the trace.
        runs: times the test makes the call.
    """

    test: Path
    trace: Path
    runs: int


def write_regression(
    trace: Trace,
    event: int | str,
    path: Path,
    options: RerunOptions | None = None,
    *,
    kept: Mapping[int, str] | None = None,
    force: bool = False,
) -> Written:
    """Write a pytest file that fails when the decision at `event` comes back under a change.

    Nothing is asked. The file needs pytest and runtape, and the folder :data:`FOLDER` beside it.

    Args:
        trace: where the decision was recorded.
        event: as for :func:`runtape.workbench.find_event`.
        path: the file, ``test_….py`` (what pytest collects).
        options: the change, who is asked, what counts as the same, and how often.
        kept: event → what happens there (as in ``Distribution.counts``) for decisions of the same
            trace that have to go on happening.
        force: overwrite the file, and another trace of the same name.

    Raises:
        UsageError: `path` is taken or would not be collected, or the options make no sense.
        RefNotFound, InvalidEdit, IncompleteContext: the change cannot be made.
        StorageError: the file or the copy cannot be written.
    """
    options = options or RerunOptions()
    check_path(path, force=force)
    question = ask_about(trace, event, options)
    changes = _changes(options)
    context = question.context()
    if changes:
        changed_body(context, options)
    copy = path.parent / FOLDER / trace.path.name
    source = regression_source(
        Regression(
            decision=question.decision,
            trace=f"{FOLDER}/{copy.name}",
            run=trace.name,
            runs=options.runs,
            ask=_asked(question, path),
            fix=changes,
            deterministic=context.dialect.temperature(context.body) == 0,
            kept=kept or {},
            version=version("runtape"),
        )
    )
    try:
        _copy(trace.path, copy, force=force)
        path.write_text(source, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"Cannot write {path}: {error.strerror}.", path=str(path)) from error
    return Written(path, copy, options.runs)


def write_fix_regression(
    trace: Trace, event: int | str, path: Path, fix: Fix, asking: Asking, *, force: bool = False
) -> Written:
    """Write the test of the first remedy that passed, and of the decisions that it keeps.

    Raises what :func:`write_regression` raises, and UsageError when no remedy passed.
    """
    if fix.best is None:
        raise UsageError(
            "No remedy passed, so there is nothing to test.",
            hint="write a test of a rule of your own: runtape test … --rule",
        )
    best = fix.trials[fix.best]
    options = rerun_options(best.remedy, asking, best.remains.runs)
    return write_regression(trace, event, path, options, kept=kept_by(best, fix), force=force)


def rerun_options(remedy: Remedy, asking: Asking, runs: int) -> RerunOptions:
    """The rerun that applies a remedy, asked like `asking`."""
    asked = {field.name: getattr(asking, field.name) for field in fields(Asking)}
    return RerunOptions(
        **{**asked, "model_name": remedy.model},
        runs=runs,
        add_system=remedy.system or None,
        drop=remedy.drop,
        quote=remedy.quote,
        delimit=remedy.delimit,
    )


def kept_by(trial: Trial, fix: Fix) -> dict[int, str]:
    """Decisions of the same trace that a remedy keeps, for the test."""
    kept = [
        fix.bystanders[effect.bystander]
        for effect in trial.effects
        if effect.keeping is Keeping.KEPT
    ]
    return {b.decision.event: _way(b) for b in sorted(kept, key=_event) if not b.trace}


def _event(bystander: Bystander) -> int:
    return bystander.decision.event


def _way(bystander: Bystander) -> str:
    """What happens there, as ``Distribution.counts`` names it."""
    return "+".join(call.name for call in bystander.decision.calls) or "(text)"


def check_path(path: Path, *, force: bool) -> None:
    """Refuse a path that is taken or that pytest would not collect; raises UsageError."""
    if not _COLLECTED.fullmatch(path.name):
        raise UsageError(
            f"pytest would not collect {path}.", hint="call it test_SOMETHING.py", path=str(path)
        )
    if path.exists() and not force:
        raise UsageError(f"{path} exists already.", hint="--force overwrites it", path=str(path))


def _changes(options: RerunOptions) -> dict[str, Any]:
    """The changes that were asked for, by option."""
    if options.edit is not None:
        raise UsageError("A test cannot hold a change that is a function.")
    given = {name: getattr(options, name) for name in _CHANGES}
    plain = {name: list(v) if isinstance(v, tuple) else v for name, v in given.items()}
    return {name: dict(v) if isinstance(v, Mapping) else v for name, v in plain.items() if v}


def _asked(question: Question, path: Path) -> dict[str, Any]:
    """How the test asks: what was said, and the tool's name, by which the event is understood."""
    options, decision = question.options, question.decision
    given = {name: value for name in _ASK if (value := getattr(options, name))}
    if callable(given.get("judge")):
        raise UsageError("A test needs a judge with a name.", hint="name a model: --judge MODEL")
    if MODEL_FILE in given:
        given[MODEL_FILE] = _from(path.parent, _function_name(given[MODEL_FILE]))
    if _by_tool(decision):
        given["tool"] = decision.tool
    return given


def _by_tool(decision: Decision) -> bool:
    return decision.kind is DecisionKind.TOOL and decision.tool is not None


def _function_name(named: Any) -> str:
    """``file.py:function`` or ``module:function`` of a model function."""
    if isinstance(named, str):
        return named
    file = inspect.getsourcefile(named) if inspect.isfunction(named) else None
    if file is None or "<locals>" in named.__qualname__:
        raise UsageError(
            "A test needs a model function that it can find.",
            hint="name it: model_fn='file.py:function'",
        )
    return f"{file}:{named.__qualname__}"


def _from(folder: Path, named: str) -> str:
    """The function, its file as seen from `folder`."""
    place, _, function = named.rpartition(":")
    if not place.endswith(".py"):
        return named
    return f"{Path(os.path.relpath(Path(place).resolve(), folder.resolve())).as_posix()}:{function}"


def _copy(trace: Path, copy: Path, *, force: bool) -> None:
    """Copy a trace, unless it is there; a file that is still being written is copied as it is."""
    data = trace.read_bytes()
    copy.parent.mkdir(parents=True, exist_ok=True)
    if copy.exists() and copy.read_bytes() != data and not force:
        raise UsageError(
            f"{copy} exists already and is another trace.",
            hint="--force overwrites it",
            path=str(copy),
        )
    copy.write_bytes(data)
