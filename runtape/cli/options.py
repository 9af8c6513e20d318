"""Options and arguments that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from runtape.settings import Settings, read_settings

if TYPE_CHECKING:
    TextType = click.ParamType[str]
else:
    TextType = click.ParamType  # generic from click 8.2 on only

Function = TypeVar("Function", bound=Callable[..., Any])
_NUMBER = re.compile(r"-\d+")


class EventCommand(click.Command):
    """A command whose arguments may be negative event numbers: ``-1`` is no option there."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Protect negative numbers that no option takes as its value."""
        taking = {
            name
            for parameter in self.params
            if isinstance(parameter, click.Option) and not parameter.is_flag
            for name in parameter.opts
        }
        protected = [
            f"event:{word}" if _NUMBER.fullmatch(word) and before not in taking else word
            for before, word in zip(["", *args], args, strict=False)
        ]
        return super().parse_args(ctx, protected)


class EventType(TextType):
    """An event: number, ``tool:NAME``, ``last`` or ``error``; found by the workbench."""

    name = "event"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:  # noqa: ARG002 - click's signature
        """The text as it was typed."""
        return str(value).removeprefix("event:")

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """The words that name an event."""
        return [CompletionItem(w) for w in ("last", "error", "tool:") if w.startswith(incomplete)]


class TraceType(TextType):
    """A trace: path, part of a name, or ``last``; found by the workbench."""

    name = "trace"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:  # noqa: ARG002 - click's signature
        """The text as it was typed."""
        return str(value)

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """``last``, files, and the names in the folder of traces."""
        names = ["last", *(path.stem for path in read_settings().dir.glob("*.jsonl"))]
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return [*found, CompletionItem(incomplete, type="file")]


def trace_argument(function: Function) -> Function:
    """``TRACE``."""
    return click.argument("trace", type=TraceType())(function)


def event_argument(function: Function) -> Function:
    """``EVENT``."""
    return click.argument("event", type=EventType())(function)


def folder_option(function: Function) -> Function:
    """``--dir``."""
    return click.option(
        "--dir",
        "folder",
        type=click.Path(path_type=Path),
        help="Folder of traces.  [default: ./traces]",
    )(function)


def json_option(function: Function) -> Function:
    """``--json``."""
    return click.option(
        "--json", "as_json", is_flag=True, help="One JSON document on standard output."
    )(function)


def browsing(function: Function) -> Function:
    """The options of every command that only looks: ``--dir`` and ``--json``."""
    return folder_option(json_option(function))


_DECISION = (
    click.option(
        "--tool", metavar="NAME", help="Explain the call of this tool, if there are several."
    ),
    click.option("--match", metavar="REGEX", help="Same decision = a call or words that match."),
    click.option("--exact-args", is_flag=True, help="Same decision = the same arguments too."),
    click.option(
        "--judge", metavar="MODEL", help="Same decision = what this model calls the same."
    ),
)
_ANSWERING = (
    click.option(
        "--model-fn", metavar="FILE.py:NAME", help="Ask this function instead of a provider."
    ),
    click.option("--model", "model_name", metavar="NAME", help="Ask another model."),
    click.option("--base-url", metavar="URL", help="Ask another server."),
    click.option(
        "--provider", metavar="NAME", help="openai or anthropic, where the trace does not say."
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Seconds for one call.  [default: 300]",
    ),
    click.option(
        "--budget",
        type=click.IntRange(1),
        metavar="N",
        help="Most replies to pay for.  [default: 400]",
    ),
    click.option(
        "--workers",
        type=click.IntRange(1),
        metavar="N",
        help="Calls at once.  [default: 8; local servers 1]",
    ),
    click.option("--no-cache", is_flag=True, help="Neither use nor keep replies."),
    click.option("--yes", "-y", is_flag=True, help="Do not ask before model calls."),
)


def answering(function: Function) -> Function:
    """The options that say who is asked, and at what cost."""
    for option in reversed(_ANSWERING):
        function = option(function)
    return function


def asking(function: Function) -> Function:
    """The options of every command that asks a model, and ``--dir`` and ``--json``."""
    function = answering(browsing(function))
    for option in reversed(_DECISION):
        function = option(function)
    return function


def settings_with(folder: Path | None) -> Settings:
    """The settings that hold here; ``--dir`` wins over them."""
    from dataclasses import replace  # noqa: PLC0415 - not needed for --help

    settings = read_settings()
    return replace(settings, dir=folder) if folder is not None else settings
