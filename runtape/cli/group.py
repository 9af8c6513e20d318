"""The group of commands: lazy, a help page in sections; a trace in place of a command opens it."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from runtape.cli.table import ENTRIES, SECTIONS

VIEW = "view"


class LazyGroup(click.Group):
    """Commands that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names on the help page, in its order."""
        return [entry.name for section in SECTIONS.values() for entry in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        if cmd_name not in ENTRIES:
            return None
        module = importlib.import_module(f"runtape.cli.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The sections of the help page."""
        for title, entries in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(entry.name, entry.summary) for entry in entries])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without a command the newest run is opened, with the view's options if there are any."""
        own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        bare = not args or (args[0].startswith("-") and args[0] not in own)
        if bare and not ctx.resilient_parsing:
            args = [VIEW, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Commands, without importing any of them."""
        return [
            CompletionItem(entry.name, help=entry.summary)
            for section in SECTIONS.values()
            for entry in section
            if entry.name.startswith(incomplete)
        ]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command, or the view of the trace that stands in its place."""
        name = args[0]
        if name in ENTRIES:
            return super().resolve_command(ctx, args)
        if _is_trace(name):
            return super().resolve_command(ctx, [VIEW, *args])
        raise click.UsageError(_unknown(name), ctx)


def _is_trace(name: str) -> bool:
    if name == "last" or os.sep in name or Path(name).is_file():
        return True
    from runtape.settings import read_settings  # noqa: PLC0415 - only where a command is unknown

    folder = read_settings().dir
    return any(name.casefold() in path.name.casefold() for path in folder.glob("*.jsonl"))


def _unknown(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is wrong

    near = get_close_matches(name, ENTRIES, n=1)
    hint = f" Did you mean {near[0]}?" if near else " See runtape --help, or runtape ls for traces."
    return f"{name!r} is neither a command nor a trace.{hint}"
