"""A ``rerun`` or ``odds`` with all that a report needs beside the counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from runtape.attribution.distribution import Distribution
from runtape.jsonio import Json
from runtape.reports.why_report import Subject


@dataclass(frozen=True, slots=True)
class DistributionReport:
    """Counts, whose they are, and what was changed.

    Attributes:
        distribution: what the model did; with a baseline beside it for a rerun.
        subject: the trace and the model.
        changed: what was changed, in words, for a rerun; empty for the unchanged context.
        settings: options that differ from their defaults, by name.
        version: version of runtape that made it.
    """

    distribution: Distribution
    subject: Subject
    changed: tuple[str, ...] = ()
    settings: Json = field(default_factory=dict)
    version: str = ""
