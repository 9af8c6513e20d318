"""What a server may do: which traces it opens, who answers, and how much one job may ask."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtape.errors import TraceNotFound, UsageError
from runtape.workbench import Trace, open_trace

MOST_CALLS = 100
"""Replies that one job may pay for, unless whoever starts the server says otherwise."""


@dataclass(frozen=True, slots=True)
class Serving:
    """Set by whoever starts the server; a client cannot change it.

    What could run code (`model_fn`) or send a context elsewhere (`base_url`) is here and not among
    the arguments of a tool: those may come from a model that was talked into something.

    Attributes:
        folder: the only folder whose traces are opened.
        max_calls: most replies one job may pay for.
        asking: fields of :class:`runtape.attribution.options.Asking` that say who answers.
        runs: runs of what is reported, where the client does not say.
    """

    folder: Path
    max_calls: int = MOST_CALLS
    asking: dict[str, Any] = field(default_factory=dict)
    runs: int = 10

    def open(self, name: str) -> Trace:
        """The trace with that name; raises TraceNotFound, also for a file elsewhere."""
        path = Path(name)
        if path.exists() and not path.resolve().is_relative_to(self.folder.resolve()):
            raise TraceNotFound(
                f"{name!r} is not in the folder of traces, {self.folder}.",
                hint="give a name from list_traces",
                path=name,
            )
        return open_trace(name, folder=self.folder)

    def budget(self, wanted: int | None) -> int:
        """Replies a job may pay for; raises UsageError for more than the server allows."""
        if wanted is not None and wanted > self.max_calls:
            raise UsageError(
                f"A job may ask for at most {self.max_calls} model calls here, not {wanted}.",
                hint="whoever starts the server can allow more: runtape mcp --max-calls N",
            )
        return wanted or self.max_calls
