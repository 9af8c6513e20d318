"""How remedies are looked for and measured."""

from __future__ import annotations

from dataclasses import dataclass

from runtape.attribution.options import Asking, WhyOptions
from runtape.context.edits import Fill
from runtape.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class FixOptions(Asking):
    """What is tried, and how often.

    ``model_name`` is a remedy to be measured, as for `rerun`; the search and all other remedies
    ask the recorded model.

    Attributes:
        runs: times each remedy is run on the failed context; more when so few could not show
            anything (see :mod:`runtape.remedies.grading`).
        fill: what stands in the place of text that is taken out.
        rules: rules of the user's own to be tried: texts, or names of files that hold one.
        also: further traces whose decisions must keep happening: paths, parts of names, ``last``.
        others: most other decisions that are looked at, those nearest to the failed one first.
        checks: times each other decision is run, with and without each remedy.
        full, wide, max_pieces: how the cause is looked for.
    """

    runs: int = 10
    fill: Fill | str = Fill.MARKER
    rules: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    others: int = 12
    checks: int = 5
    full: bool = False
    wide: bool = False
    max_pieces: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.others < 0 or self.checks <= 0:
            raise UsageError("others must not be negative, and checks must be at least 1.")

    def for_why(self) -> WhyOptions:
        """How the cause is looked for: what is found is not topped up for display."""
        asking = {name: getattr(self, name) for name in Asking.__dataclass_fields__}
        return WhyOptions(
            **{**asking, "model_name": None},
            runs=1,
            fill=self.fill,
            full=self.full,
            wide=self.wide,
            max_pieces=self.max_pieces,
        )
