"""What a face says about a job: its estimate, and names that a user can type again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from runtape.errors import IncompleteContext
from runtape.reports.plan_text import Outlook
from runtape.reports.why_report import Subject
from runtape.workbench.fixing import FixJob
from runtape.workbench.jobs import SampleJob, WhyJob
from runtape.workbench.traces import Trace, trace_files


def outlook_of(job: WhyJob | SampleJob | FixJob) -> Outlook:
    """The plan of a job in numbers; raises IncompleteContext."""
    plan = job.plan
    return Outlook(
        decision=plan.decision,
        model=plan.model,
        server=job.question.options.base_url or _recorded_server(job),
        calls=plan.calls,
        most=plan.most,
        input_tokens=plan.input_tokens,
        cost_usd=plan.cost_usd,
        pieces=plan.pieces,
    )


def _recorded_server(job: WhyJob | SampleJob | FixJob) -> str | None:
    return None if isinstance(job.context, IncompleteContext) else job.context.request.origin


def subject_with_handle(subject: Subject, trace: Trace, folder: Path) -> Subject:
    """The subject with paths and names as short as they can be typed again."""
    path = trace.path
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return replace(subject, path=str(path), handle=_handle(trace.path, folder))


def _handle(path: Path, folder: Path) -> str:
    """The shortest end of the name that no other trace of the folder shares; empty elsewhere."""
    if path.parent.resolve() != folder.resolve():
        return ""
    names = [file.name.casefold() for file in trace_files(folder)]
    words = path.stem.split("-")
    for count in (1, 2, 3):
        handle = "-".join(words[-count:])
        if len(handle) > 3 and sum(handle.casefold() in name for name in names) == 1:  # noqa: PLR2004
            return handle
    return path.stem
