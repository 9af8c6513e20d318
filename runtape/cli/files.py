"""Files that a command writes because it was asked to."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from runtape.cli.output import note
from runtape.context import Context
from runtape.reports.fix_report import FixReport
from runtape.reports.why_report import WhyReport

Function = TypeVar("Function", bound=Callable[..., Any])
STANDARD_OUTPUT = Path("-")


def html_option(function: Function) -> Function:
    """``--html``."""
    return click.option(
        "--html",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Also write the report as a page that needs nothing else.",
    )(function)


def write_file(path: Path, text: str) -> None:
    """Write `text` as UTF-8 and say so; ``-`` is standard output. Raises OSError."""
    if path == STANDARD_OUTPUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        return
    path.write_bytes(text.encode())
    note(f"wrote {path}")


def write_pages(
    report: WhyReport,
    context: Context | None,
    *,
    fix: FixReport | None = None,
    html: Path | None = None,
    svg: Path | None = None,
) -> None:
    """Write the page and the picture that were asked for."""
    if html:
        from runtape.reports.html.page import why_page  # noqa: PLC0415 - only where asked for

        write_file(html, why_page(report, context, fix))
    if svg:
        from runtape.reports.html.picture import why_picture  # noqa: PLC0415 - same

        write_file(svg, why_picture(report, context))
