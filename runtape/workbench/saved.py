"""A saved report opened again, with what the model saw when its trace is still at hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runtape.context import Context, build_context
from runtape.errors import RuntapeError, UsageError
from runtape.jsonio import loads
from runtape.reports.fix_json import FIX_SCHEMA
from runtape.reports.fix_report import FixReport
from runtape.reports.fix_restore import restore_fix
from runtape.reports.why_report import WhyReport
from runtape.reports.why_restore import restore_why
from runtape.workbench.traces import Trace, open_trace


def open_report(path: Path) -> WhyReport | FixReport:
    """Read what ``runtape why --json`` or ``runtape fix --json`` printed.

    Raises UsageError when it is something else.
    """
    return restore_report(read_document(path))


def read_document(path: Path) -> Any:
    """The JSON in a file, whatever it says; raises UsageError when it is none."""
    try:
        return loads(path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror or error}", path=str(path)
        ) from error
    except ValueError as error:
        raise UsageError(
            f"{path} is not JSON: {error}",
            hint="save a report with: runtape why TRACE EVENT --json > report.json",
            path=str(path),
        ) from error


def restore_report(document: Any) -> WhyReport | FixReport:
    """The report that a document was made of; raises UsageError when it is no report."""
    if isinstance(document, dict) and document.get("schema") == FIX_SCHEMA:
        return restore_fix(document)
    return restore_why(document)


def find_context(report: WhyReport, beside: Path, folder: Path) -> Context | None:
    """What the model saw, from the trace the report names; None when that trace is not at hand.

    Args:
        report: a saved report.
        beside: folder of the saved report: a relative path may be meant from there.
        folder: folder of traces.
    """
    for trace in _candidates(report, beside, folder):
        if trace.run_id != report.subject.run_id:
            continue
        try:
            return build_context(trace.tape, report.investigation.decision.request)
        except RuntapeError:
            return None
    return None


def _candidates(report: WhyReport, beside: Path, folder: Path) -> Iterator[Trace]:
    recorded = Path(report.subject.path)
    for path in (recorded, beside / recorded, folder / recorded.name, beside / recorded.name):
        if path.is_file():
            try:
                yield open_trace(path, folder=folder)
            except RuntapeError:
                continue
