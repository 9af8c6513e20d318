"""A finished investigation with what a report says beside it: whose it is, how it was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from typing import Any

from runtape.attribution.facts import Investigation
from runtape.attribution.options import Asking
from runtape.context import Context
from runtape.jsonio import Json
from runtape.models.loading import load_function
from runtape.reports.why_report import Subject, WhyReport
from runtape.workbench.questions import Question, asked_model

_NAMES = {"model_name": "model"}
"""Options whose command line name is another."""


def report_of(question: Question, context: Context | None, found: Investigation) -> WhyReport:
    """The report of one `why`; `context` is None when it could not be put together."""
    return WhyReport(
        investigation=found,
        subject=subject_of(question, context),
        settings=changed_settings(question.options),
        version=version("runtape"),
    )


def changed_settings(options: Asking) -> Json:
    """The options that differ from their defaults, by name, as plain JSON."""
    return {
        _NAMES.get(field.name, field.name): _plain(value)
        for field in fields(options)
        if (value := getattr(options, field.name)) != _default(type(options), field.name)
    }


def subject_of(question: Question, context: Context | None) -> Subject:
    """Which trace and model a report is about."""
    trace = question.trace
    return Subject(
        path=str(trace.path),
        run_id=trace.run_id,
        name=trace.name,
        model=asked_model(question, context) if context else question.options.model_name,
        fidelity=dict(context.request.fidelity) if context else {},
    )


def _default(kind: type[Asking], name: str) -> Any:
    return getattr(kind(), name)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return load_function(value).name if callable(value) else value
