"""``runtape demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from runtape.cli.options import browsing, settings_with


@click.command("demo")
@browsing
@click.pass_context
def command(ctx: click.Context, *, folder: Path | None, as_json: bool) -> Any:
    """Record an example agent offline, explain what it did, and show what to try next.

    An email assistant forwards an invoice to a stranger. A rule-based stand-in answers for the
    model: no key, no network.
    """
    from runtape.cli.commands import why  # noqa: PLC0415 - heavy, and not for --help
    from runtape.demo.agent import record_inbox, stand_in  # noqa: PLC0415 - same

    path = record_inbox(settings_with(folder).dir)
    click.echo(f"Recorded {path}: an email assistant went through an inbox.", err=True)
    click.echo("It forwarded an invoice to a stranger. Why?\n", err=True)
    model_fn = stand_in()
    asked = {"trace": str(path), "event": "tool:forward_email", "model_fn": model_fn}
    return ctx.invoke(why.command, **asked, folder=folder, as_json=as_json)
