"""What is written when a report is saved: the ending of the file's name says which form."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from runtape.context import Context
from runtape.decision import Decision
from runtape.errors import UsageError
from runtape.jsonio import dumps_text
from runtape.reports.fix_report import FixReport
from runtape.reports.html.page import why_page
from runtape.reports.html.picture import why_picture
from runtape.reports.markdown import why_markdown
from runtape.reports.why_report import WhyReport
from runtape.reports.words import listed

_Form = Callable[[WhyReport, Context | None, FixReport | None], str]
_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")
_LONGEST = 40


def _document(report: WhyReport, context: Context | None, fix: FixReport | None) -> str:
    del context
    return dumps_text((fix or report).to_json(), indent=True) + "\n"


def _picture(report: WhyReport, context: Context | None, fix: FixReport | None) -> str:
    del fix
    return why_picture(report, context)


def _markdown(report: WhyReport, context: Context | None, fix: FixReport | None) -> str:
    del context
    return why_markdown(report, fix)


_FORMS: dict[str, _Form] = {
    ".html": why_page,
    ".svg": _picture,
    ".json": _document,
    ".md": _markdown,
}


def check_ending(path: Path) -> None:
    """Refuse a name whose ending stands for no form; raises UsageError."""
    if path.suffix.lower() not in _FORMS:
        raise UsageError(
            f"{path.name} could be anything.", hint=f"end it with {listed(list(_FORMS), 'or')}"
        )


def saved_text(
    path: Path, report: WhyReport, context: Context | None, fix: FixReport | None = None
) -> str:
    """The text of the file at `path`.

    Args:
        path: its ending is ``.html``, ``.svg``, ``.json`` or ``.md``.
        report: the `why`.
        context: what the model saw, for page and picture; None: as much as the report holds.
        fix: what helps, where that was measured.

    Raises:
        UsageError: another ending.
    """
    check_ending(path)
    return _FORMS[path.suffix.lower()](report, context, fix)


def report_name(decision: Decision, asked: str) -> str:
    """A name for the report: ``why-forward_email.html``."""
    return f"{asked}-{_subject(decision)}.html"


def check_name(decision: Decision, folder: Path) -> str:
    """A path for the regression test, among the tests where `folder` has some."""
    name = f"test_{_subject(decision)}.py"
    return f"tests/{name}" if (folder / "tests").is_dir() else name


def _subject(decision: Decision) -> str:
    """The tool, or the event where there is none; fit for a file name whatever a trace says."""
    tool = decision.tool or (decision.calls[0].name if decision.calls else "")
    words = _UNSAFE.sub("_", tool).strip("_")[:_LONGEST]
    return words or f"event_{decision.event}"
