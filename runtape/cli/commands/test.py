"""``runtape test``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from runtape.attribution.options import RerunOptions
from runtape.cli.asking import Asked
from runtape.cli.entry import Exit
from runtape.cli.options import EventCommand, asking, event_argument, trace_argument
from runtape.cli.output import print_json, print_lines
from runtape.evidence import largest_rate
from runtape.remedies.rules import read_rule
from runtape.reports.sheet import line
from runtape.reports.words import percent
from runtape.workbench import open_trace
from runtape.workbench.regressions import Written, write_regression


@click.command("test", cls=EventCommand)
@trace_argument
@event_argument
@click.option(
    "--write-test",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="The file to write: test_SOMETHING.py.",
)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="TEXT|FILE",
    help="The fix: a rule appended to the system prompt.",
)
@click.option("--drop", multiple=True, metavar="REF", help="The fix: this piece taken out.")
@click.option("--quote", multiple=True, metavar="REF", help="The fix: this piece quoted as data.")
@click.option("--delimit", is_flag=True, help="The fix: marks around tool results.")
@click.option(
    "--system-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The fix: this system prompt instead of the recorded one.",
)
@click.option("--runs", type=click.IntRange(1), metavar="N", help="Runs.  [default: 10]")
@click.option("--force", is_flag=True, help="Overwrite PATH.")
@asking
def command(*, trace: str, event: str, folder: Path | None, as_json: bool, **flags: Any) -> int:
    """Write a pytest file that fails when the decision at EVENT comes back.

    The test makes the recorded call again, with the fix you name, and stands alone beside a copy
    of the trace. Without a fix it tests the recorded prompt as it is, and should fail. Nothing is
    asked now.
    """
    asked = Asked.read(flags, folder)
    rules = [read_rule(given).text for given in flags["rules"]]
    system = flags["system_file"]
    options = RerunOptions(
        **asked.common(),
        runs=asked.runs,
        drop=flags["drop"],
        quote=flags["quote"],
        delimit=flags["delimit"],
        system=system.read_text(encoding="utf-8") if system else None,
        add_system="\n\n".join(rules) or None,
    )
    opened = open_trace(trace, folder=asked.settings.dir)
    written = write_regression(opened, event, flags["write_test"], options, force=flags["force"])
    _print(written, as_json=as_json)
    return Exit.DONE


def _print(written: Written, *, as_json: bool) -> None:
    bound = largest_rate(0, written.runs)
    if as_json:
        print_json(
            {
                "test": str(written.test),
                "trace": str(written.trace),
                "runs": written.runs,
                "rules_out": round(bound, 4),
            }
        )
        return
    print_lines(
        [
            line(f"Wrote {written.test}, and a copy of the trace to {written.trace}."),
            line(f"{written.runs} runs: a pass rules out a rate of {percent(bound)} or more."),
            line(f"Run it: pytest {written.test}"),
        ]
    )
