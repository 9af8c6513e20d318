"""Arguments of tools, described for whoever fills them in."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

TraceName: TypeAlias = Annotated[
    str, Field(description="A recorded run: a unique part of its name, or `last`.")
]
EventSpec: TypeAlias = Annotated[
    int | str,
    Field(
        description="An event: its number (negative: from the end), tool:NAME (the last call of "
        "that tool), `last` (the last model response) or `error`."
    ),
]
Tool: TypeAlias = Annotated[
    str | None, Field(description="Which tool call is meant, where the reply made several.")
]
Match: TypeAlias = Annotated[
    str | None,
    Field(description="Regular expression: the decision is a call or words that match it."),
]
ExactArgs: TypeAlias = Annotated[
    bool, Field(description="The decision is the same only with the same arguments.")
]
Runs: TypeAlias = Annotated[
    int | None, Field(ge=1, description="Runs of what is reported (default 10).")
]
Budget: TypeAlias = Annotated[
    int | None, Field(ge=1, description="Most model calls this job may pay for.")
]
