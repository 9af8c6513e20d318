"""From options and settings to a job, and its confirmation."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from runtape.cli.entry import Exit
from runtape.cli.options import settings_with
from runtape.cli.output import columns, print_json, print_sheet
from runtape.context.edits import Fill
from runtape.reports.plan_text import Outlook, outlook_words, plan_json, plan_sheet
from runtape.reports.sheet import safe
from runtape.settings import Settings


@dataclass(frozen=True, slots=True)
class Asked:
    """The flags that every asking command has, and the settings behind them.

    Attributes:
        flags: options by parameter name; None or False where not given.
        settings: what holds where a flag is not given.
    """

    flags: dict[str, Any]
    settings: Settings

    @classmethod
    def read(cls, flags: dict[str, Any], folder: Path | None) -> Asked:
        """Together with the settings that hold here."""
        return cls(flags, settings_with(folder))

    def common(self) -> dict[str, Any]:
        """Fields of :class:`runtape.attribution.options.Asking`."""
        flags, settings = self.flags, self.settings
        given = {name: flags[name] for name in _GIVEN if flags.get(name) is not None}
        return {
            **given,
            "timeout": flags.get("timeout") or settings.timeout,
            "budget": flags.get("budget") or settings.budget,
            "workers": flags.get("workers") or settings.workers,
            "cache": settings.cache and not flags.get("no_cache"),
            "cache_folder": settings.cache_dir,
        }

    @property
    def runs(self) -> int:
        """``--runs``, or the setting."""
        return self.flags.get("runs") or self.settings.runs

    @property
    def fill(self) -> Fill | str:
        """``--fill``, or the setting."""
        return fill_of(self.flags.get("fill") or self.settings.fill)

    @property
    def asks_first(self) -> bool:
        """Whether a person is there who wants to be asked before model calls."""
        if self.flags.get("yes") or self.settings.yes or self.flags.get("model_fn"):
            return False
        return sys.stdin.isatty() and sys.stderr.isatty()


_GIVEN = (
    "tool",
    "match",
    "exact_args",
    "judge",
    "model_fn",
    "model_name",
    "base_url",
    "provider",
)


def fill_of(text: str) -> Fill | str:
    """A fill by its name, or the text itself."""
    return next((fill for fill in Fill if fill.value == text), text)


def one_output(*, as_json: bool, stream: bool) -> None:
    """Refuse ``--json`` and ``--stream`` at once."""
    if as_json and stream:
        raise click.UsageError("--json prints one document and --stream prints many: choose one")


def print_plan(outlook: Outlook, *, as_json: bool) -> Exit:
    """What ``--dry`` prints."""
    if as_json:
        print_json(plan_json(outlook))
    else:
        print_sheet(plan_sheet(outlook, columns()))
    return Exit.DONE


def confirm(outlook: Outlook) -> None:
    """Ask a person before anything is spent; raises click.Abort when it is declined."""
    click.echo(safe(outlook_words(outlook)), err=True)
    click.confirm("Go on?", default=True, abort=True, err=True)
