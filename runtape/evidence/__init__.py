"""Exact tests, intervals and sampling plans: numbers in, numbers out, on the ground floor."""

from __future__ import annotations

from runtape.evidence.enumeration import FrozenBaseline, frozen_baselines, variant_error
from runtape.evidence.fisher import fisher_less
from runtape.evidence.intervals import clopper_pearson, largest_rate, newcombe, wilson
from runtape.evidence.plan import (
    CONSISTENT,
    CONSISTENT_WIDE,
    INTERMITTENT,
    BaselineStep,
    Ending,
    Looks,
    plan_baseline,
)
from runtape.evidence.power import power, runs_needed

__all__ = [
    "CONSISTENT",
    "CONSISTENT_WIDE",
    "INTERMITTENT",
    "BaselineStep",
    "Ending",
    "FrozenBaseline",
    "Looks",
    "clopper_pearson",
    "fisher_less",
    "frozen_baselines",
    "largest_rate",
    "newcombe",
    "plan_baseline",
    "power",
    "runs_needed",
    "variant_error",
    "wilson",
]
