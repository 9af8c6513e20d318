"""``runtape.fix/1``: a finished ``fix`` as one JSON document, and its facts as JSON lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtape.evidence import largest_rate
from runtape.jsonio import Json
from runtape.remedies.facts import (
    Bystander,
    BystanderChanged,
    Effect,
    EffectChanged,
    Explained,
    Fix,
    FixFact,
    FixFinished,
    Graded,
    Proposed,
    RemainsChanged,
    Remedy,
    Trial,
    Watched,
)
from runtape.remedies.grading import ALPHA
from runtape.reports.decisions import decided_tools
from runtape.reports.fact_json import FactLog
from runtape.reports.fix_report import FixReport
from runtape.reports.outcome_json import interval_json, outcomes_json, tally_json
from runtape.reports.warnings import warning_text
from runtape.reports.why_json import calls_json, decision_json, findings_json
from runtape.trials import Tally

FIX_SCHEMA = "runtape.fix/1"


def fix_document(report: FixReport) -> Json:
    """The document of one ``fix``."""
    fix, subject = report.fix, report.subject
    return {
        "schema": FIX_SCHEMA,
        "version": report.version,
        "trace": {
            "path": subject.path,
            "run_id": subject.run_id,
            "name": subject.name,
            "handle": subject.handle,
        },
        "decision": {
            **decision_json(fix.decision),
            "model": subject.model,
            "fidelity": subject.fidelity,
        },
        "end": fix.end.value,
        "why": findings_json(fix.explained),
        "correction": {"method": "holm", "alpha": ALPHA, "remedies": len(fix.trials)},
        "remedies": [trial_json(trial, fix) for trial in fix.trials],
        "best": fix.best,
        "decisions": [_bystander(bystander) for bystander in fix.bystanders],
        "left_out": fix.left_out,
        "alike": list(fix.alike),
        "calls": calls_json(fix.calls),
        "warnings": [
            {"code": w.code, "message": warning_text(w), "numbers": w.numbers} for w in fix.warnings
        ],
        "settings": report.settings,
        "seconds": round(fix.seconds, 3),
        "failure": fix.failure,
    }


def trial_json(trial: Trial, fix: Fix) -> Json:
    """One remedy with its numbers."""
    return {
        **remedy_json(trial.remedy),
        "grade": trial.grade.value if trial.grade else None,
        "remains": _rate(trial.remains),
        "p": trial.p,
        "p_adjusted": trial.adjusted,
        "outcomes": outcomes_json(trial.outcomes, decided_tools(fix.decision)),
        "effects": [_effect(effect, fix.bystanders[effect.bystander]) for effect in trial.effects],
        "failure": trial.failure or None,
    }


def remedy_json(remedy: Remedy) -> Json:
    """What is changed."""
    return {
        "kind": remedy.kind.value,
        "system": remedy.system or None,
        "drop": list(remedy.drop),
        "quote": list(remedy.quote),
        "delimit": remedy.delimit,
        "model": remedy.model,
        "source": remedy.source or None,
    }


def _rate(counts: Tally) -> Json:
    bound = largest_rate(counts.same, counts.runs) if counts.runs else None
    return {
        **tally_json(counts),
        "interval": interval_json(counts),
        "largest_rate": None if bound is None else round(bound, 4),
    }


def _bystander(bystander: Bystander) -> Json:
    return {
        "trace": bystander.trace or None,
        **decision_json(bystander.decision),
        **tally_json(bystander.tally),
        "interval": interval_json(bystander.tally),
        "stable": bystander.stable,
    }


def _effect(effect: Effect, bystander: Bystander) -> Json:
    return {
        "decision": effect.bystander,
        "keeping": effect.keeping.value,
        **tally_json(effect.tally),
        "interval": interval_json(effect.tally),
        "p": effect.p,
        "instead": outcomes_json(effect.instead, decided_tools(bystander.decision)),
    }


class FixLog:
    """Turns the facts of a `fix` into objects whose ``fact`` says what they are.

    Args:
        document: makes the final ``runtape.fix/1`` document, which the last object carries.
    """

    def __init__(self, document: Callable[[Fix], Json]) -> None:
        self._document = document
        self._why = FactLog(findings_json)

    def read(self, fact: FixFact) -> Json:
        """One fact as an object; those of the `why` before it are as in its own stream."""
        entry = _WRITERS.get(type(fact))
        if entry is None:
            return self._why.read(fact)  # type: ignore[arg-type] # the rest are facts of a why
        name, write = entry
        return {"fact": name, **write(self, fact)}

    def explained(self, fact: Explained) -> Json:
        """The search is over."""
        return {"report": findings_json(fact.investigation)}

    def proposed(self, fact: Proposed) -> Json:
        """What will be measured."""
        return {"remedies": [remedy_json(r) for r in fact.remedies], "runs": fact.runs}

    def remains(self, fact: RemainsChanged) -> Json:
        """The failed context with one remedy."""
        return {"remedy": fact.remedy, **tally_json(fact.tally), "p": fact.p}

    def watched(self, fact: Watched) -> Json:
        """What has to be kept."""
        return {"decisions": list(map(_bystander, fact.bystanders)), "left_out": fact.left_out}

    def bystander(self, fact: BystanderChanged) -> Json:
        """One of them without any remedy."""
        return {"decision": fact.bystander, **tally_json(fact.tally), "stable": fact.stable}

    def effect(self, fact: EffectChanged) -> Json:
        """One of them under one remedy."""
        keeping = fact.keeping.value if fact.keeping else None
        return {
            "remedy": fact.remedy,
            "decision": fact.bystander,
            **tally_json(fact.tally),
            "keeping": keeping,
        }

    def graded(self, fact: Graded) -> Json:
        """One remedy is done."""
        trial = fact.trial
        return {
            "remedy": fact.remedy,
            "grade": trial.grade.value if trial.grade else None,
            **tally_json(trial.remains),
            "p_adjusted": trial.adjusted,
        }

    def finished(self, fact: FixFinished) -> Json:
        """The whole report."""
        return {"report": self._document(fact.fix)}


_WRITERS: dict[type[Any], tuple[str, Callable[[FixLog, Any], Json]]] = {
    Explained: ("explained", FixLog.explained),
    Proposed: ("proposed", FixLog.proposed),
    RemainsChanged: ("remains", FixLog.remains),
    Watched: ("watched", FixLog.watched),
    BystanderChanged: ("kept_without", FixLog.bystander),
    EffectChanged: ("effect", FixLog.effect),
    Graded: ("graded", FixLog.graded),
    FixFinished: ("finished", FixLog.finished),
}
