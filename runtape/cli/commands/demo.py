"""``runtape demo``."""

from __future__ import annotations

import click


@click.command("demo")
def command() -> int | None:
    """Record an example agent offline, explain what it did, and show what to try next."""
    from runtape.demo import run_demo  # noqa: PLC0415 - records and explains: heavy

    return run_demo()
