"""``runtape.distribution/1``: what a model does with a context, run after run, as JSON."""

from __future__ import annotations

from runtape.attribution.distribution import Distribution
from runtape.jsonio import Json
from runtape.reports.decisions import decided_tools
from runtape.reports.distribution_report import DistributionReport
from runtape.reports.outcome_json import interval_json, outcomes_json, tally_json
from runtape.reports.why_json import calls_json, decision_json

DISTRIBUTION_SCHEMA = "runtape.distribution/1"


def distribution_document(report: DistributionReport) -> Json:
    """The document of one ``rerun`` or ``odds``."""
    found = report.distribution
    subject = report.subject
    beside = found.baseline
    return {
        "schema": DISTRIBUTION_SCHEMA,
        "version": report.version,
        "trace": {"path": subject.path, "run_id": subject.run_id, "name": subject.name},
        "decision": {
            **decision_json(found.decision),
            "model": subject.model,
            "fidelity": subject.fidelity,
        },
        "changed": list(report.changed),
        "distribution": _side(found),
        "baseline": _side(beside) if beside is not None else None,
        "p": found.p,
        "calls": calls_json(found.calls),
        "settings": report.settings,
        "failure": found.failure,
    }


def _side(found: Distribution) -> Json:
    return {
        **tally_json(found.tally),
        "asked": found.asked,
        "rate": found.tally.rate,
        "interval": interval_json(found.tally),
        "counts": found.counts(),
        "outcomes": outcomes_json(found.outcomes, decided_tools(found.decision)),
    }
