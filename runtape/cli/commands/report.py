"""``runtape report``."""

from __future__ import annotations

from pathlib import Path

import click

from runtape.cli.files import write_file, write_pages
from runtape.cli.options import browsing, settings_with
from runtape.cli.output import columns, print_json, print_sheet
from runtape.reports.fix_report import FixReport
from runtape.reports.remedies_text import fix_sheet
from runtape.reports.sheet import Sheet
from runtape.reports.why_report import WhyReport
from runtape.reports.why_text import why_sheet
from runtape.workbench.saved import find_context, read_document, restore_report

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("report")
@click.argument("saved", type=_FILE)
@click.option("--html", type=_FILE, metavar="FILE", help="A page that needs nothing else.")
@click.option("--svg", type=_FILE, metavar="FILE", help="The heatmap alone, as a picture.")
@click.option("--md", type=_FILE, metavar="FILE", help="Markdown for a bug tracker.")
@browsing
def command(
    *,
    saved: Path,
    html: Path | None,
    svg: Path | None,
    md: Path | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Show a saved report again: SAVED is what `why --json` or `fix --json` printed.

    Page and picture show the context in full when the trace is still where it was, or in --dir;
    else as much of it as the report holds. A FILE of `-` is standard output.
    """
    document = read_document(saved)
    opened = restore_report(document)
    fix = opened if isinstance(opened, FixReport) else None
    report = opened.why if isinstance(opened, FixReport) else opened
    if html or svg:
        context = find_context(report, saved.parent, settings_with(folder).dir)
        write_pages(report, context, fix=fix, html=html, svg=svg)
    if md:
        from runtape.reports.markdown import why_markdown  # noqa: PLC0415 - only where asked for

        write_file(md, why_markdown(report, fix))
    if as_json:
        print_json(document)
    elif not (html or svg or md):
        print_sheet(_sheet(opened))


def _sheet(report: WhyReport | FixReport) -> Sheet:
    if isinstance(report, FixReport):
        return fix_sheet(report, columns())
    return why_sheet(report, columns())
