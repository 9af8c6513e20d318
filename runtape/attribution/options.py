"""How a question is asked: which decision, of whom, at what cost, and how to look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtape.attribution.ledger import SearchOptions
from runtape.context.edits import Fill
from runtape.decision import Judge
from runtape.errors import UsageError
from runtape.jsonio import Json
from runtape.models.function import ModelFunction


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What every question has: the decision it is about, who answers, and at what cost.

    Attributes:
        tool: the decision is a call of this tool; None: what the recorded reply did.
        match: the decision is a call or words that match this regular expression.
        exact_args: a tool call is the same only with the same arguments (1 and 1.0 are equal).
        judge: a model's name, or a function of a reply, that says whether a reply is the same
            decision.
        model_fn: answers instead of the provider: a function, or ``file.py:function``.
        model_name: another model than the recorded one.
        base_url: another server than the recorded one.
        provider: a known provider's server, such as ``openai``.
        timeout: seconds without a byte after which a call has failed; None: RUNTAPE_TIMEOUT, or
            300.
        budget: most replies that may be paid for; cached ones are free.
        workers: most requests at once; None: 8, and 1 for a server on this machine.
        cache: whether replies are kept, and kept ones used.
        only_kept: take kept replies and ask nobody; what is missing then stays missing.
        cache_folder: where they are kept.
    """

    tool: str | None = None
    match: str | None = None
    exact_args: bool = False
    judge: Judge | str | None = None
    model_fn: ModelFunction | str | None = None
    model_name: str | None = None
    base_url: str | None = None
    provider: str | None = None
    timeout: float | None = None
    budget: int = 400
    workers: int | None = None
    cache: bool = True
    only_kept: bool = False
    cache_folder: Path = Path(".runtape")

    def __post_init__(self) -> None:
        for name in ("budget", "workers", "timeout", "runs", "max_pieces", "depth"):
            value = getattr(self, name, None)
            if value is not None and value <= 0:
                raise UsageError(f"{name} must be at least 1, not {value}.")


@dataclass(frozen=True, kw_only=True)
class WhyOptions(Asking):
    """How a cause is looked for.

    Attributes:
        runs: what is reported is topped up to this many runs.
        fill: what stands in the place of text that is taken out: a fill, or text of your own.
        full: go on after the first settled cause, until every suspect is settled.
        wide: fewer rounds for more calls.
        max_pieces: most top-level pieces to test, the newest first; None: all.
        expand: refs of pieces that are looked into from the start instead of being tested as a
            whole.
        chain: go on to the earlier decisions that brought the cause.
        depth: most earlier decisions to go back to.
    """

    runs: int = 10
    fill: Fill | str = Fill.MARKER
    full: bool = False
    wide: bool = False
    max_pieces: int | None = None
    expand: tuple[str, ...] = ()
    chain: bool = False
    depth: int = 4

    def for_search(self, *, deterministic: bool, drifts: bool) -> SearchOptions:
        """What the search is told: is the call at temperature 0, may the model change?"""
        return SearchOptions(
            budget=self.budget,
            full=self.full,
            wide=self.wide,
            deterministic=deterministic,
            drifts=drifts,
            runs=self.runs,
            max_pieces=self.max_pieces,
        )


@dataclass(frozen=True, kw_only=True)
class OddsOptions(Asking):
    """How often the unchanged context is run."""

    runs: int = 10


@dataclass(frozen=True, kw_only=True)
class RerunOptions(OddsOptions):
    """What is changed before running again.

    Attributes:
        baseline: whether the unchanged context is run beside it.
        drop: refs of pieces to take out.
        quote: refs of pieces to quote as data.
        fill: what stands in their place.
        replace: text → other text, wherever it stands in the context.
        system: the system prompt instead of the recorded one.
        add_system: text appended to the system prompt.
        params: request parameters to set, such as ``{"temperature": 0}``; None drops one.
        delimit: put tool results between marks (say in the system prompt what these mean).
        edit: changes a copy of the body in place, or returns another one.
    """

    baseline: bool = True
    drop: tuple[str, ...] = ()
    quote: tuple[str, ...] = ()
    fill: Fill | str = Fill.MARKER
    replace: Mapping[str, str] = field(default_factory=dict)
    system: str | None = None
    add_system: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    delimit: bool = False
    edit: Callable[[Json], Json | None] | None = None
