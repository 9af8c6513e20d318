"""How the app asks a model: flags and settings, and what a person changed while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from runtape.attribution.options import Asking, OddsOptions, RerunOptions, WhyOptions
from runtape.context import Fill
from runtape.remedies.options import FixOptions
from runtape.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """What every job of the app starts from.

    Attributes:
        asking: who answers, at what cost, and what counts as the same decision.
        runs: runs of each context, and of what `why` reports.
        fill: what stands in for removed text.
        max_pieces: most top-level pieces that `why` tests; None: all.
        yes: whether model calls need no confirmation.
        folder: where traces are; commands name a trace by a short handle when it is in there.
    """

    asking: Asking = field(default_factory=Asking)
    runs: int = 10
    fill: Fill | str = Fill.MARKER
    max_pieces: int | None = None
    yes: bool = False
    folder: Path = Path("traces")

    @classmethod
    def read(cls, settings: Settings, **flags: Any) -> JobOptions:
        """From settings and the flags of the command line; a flag that is None was not given.

        Besides the fields of :class:`~runtape.attribution.options.Asking` the flags ``yes`` and
        ``no_cache`` are known.
        """
        held = {
            "timeout": settings.timeout,
            "budget": settings.budget,
            "workers": settings.workers,
            "cache": settings.cache and not flags.pop("no_cache", False),
            "cache_folder": settings.cache_dir,
        }
        yes = bool(flags.pop("yes", False))
        given = {name: value for name, value in flags.items() if value is not None}
        return cls(
            asking=Asking(**{**held, **given}),
            runs=settings.runs,
            fill=_fill(settings.fill),
            max_pieces=settings.max_pieces,
            yes=yes or settings.yes,
            folder=settings.dir,
        )

    @property
    def asks_first(self) -> bool:
        """Whether a person has to agree before calls are made; a function costs nothing."""
        return not self.yes and self.asking.model_fn is None

    def with_function(self, named: str) -> JobOptions:
        """The same, answered by a function instead of a server."""
        asking = replace(self.asking, model_fn=named, model_name=None, base_url=None, provider=None)
        return replace(self, asking=asking)

    def why(self) -> WhyOptions:
        """For a `why`."""
        return WhyOptions(
            **self._common(), runs=self.runs, fill=self.fill, max_pieces=self.max_pieces
        )

    def chain(self) -> WhyOptions:
        """For a `why` that goes on to the earlier decisions."""
        return replace(self.why(), chain=True)

    def fix(self) -> FixOptions:
        """For a `fix`."""
        return FixOptions(
            **self._common(), runs=self.runs, fill=self.fill, max_pieces=self.max_pieces
        )

    def odds(self) -> OddsOptions:
        """For an `odds`."""
        return OddsOptions(**self._common(), runs=self.runs)

    def rerun(self, **changes: Any) -> RerunOptions:
        """For a `rerun`; `changes` are fields of RerunOptions and win."""
        held = {**self._common(), "runs": self.runs, "fill": self.fill}
        return RerunOptions(**{**held, **changes})

    def _common(self) -> dict[str, Any]:
        return {entry.name: getattr(self.asking, entry.name) for entry in fields(Asking)}


def _fill(named: str) -> Fill | str:
    return next((fill for fill in Fill if fill.value == named), named)
