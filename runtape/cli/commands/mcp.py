"""``runtape mcp``."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import click

from runtape.cli.asking import Asked
from runtape.cli.options import folder_option
from runtape.errors import MissingPackage

_SERVER = "runtape.mcp"


@click.command("mcp")
@folder_option
@click.option(
    "--max-calls",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    metavar="N",
    help="Most model replies that one tool call may pay for.",
)
@click.option("--model-fn", metavar="FILE.py:NAME", help="Ask this function, not a provider.")
@click.option("--base-url", metavar="URL", help="Ask another server.")
@click.option("--provider", metavar="NAME", help="openai or anthropic, where the trace says none.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Seconds for one call.  [default: 300]",
)
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Calls at once.")
@click.option("--no-cache", is_flag=True, help="Neither use nor keep replies.")
def command(*, folder: Path | None, max_calls: int, **flags: Any) -> None:
    """Serve the traces to an agent: an MCP server on standard input and output.

    A client starts it, for example with {"command": "runtape", "args": ["mcp", "--dir", "traces"]}.
    It opens traces of one folder only; who answers is set here, not by the client.
    """
    if importlib.util.find_spec("mcp") is None:
        raise MissingPackage(
            "The MCP server needs the package mcp.", hint="pip install 'runtape[mcp]'"
        )
    asked = Asked.read({**flags, "budget": max_calls}, folder)
    asking = asked.common()
    del asking["budget"]
    # found by name: faces do not import one another
    serving = importlib.import_module(f"{_SERVER}.serving")
    server = importlib.import_module(f"{_SERVER}.server")
    settings = asked.settings
    server.serve(serving.Serving(settings.dir, max_calls, asking, settings.runs))
