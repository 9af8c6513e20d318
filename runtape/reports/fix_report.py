"""One finished ``fix`` with all that a report needs beside the findings."""

from __future__ import annotations

from dataclasses import dataclass, field

from runtape.jsonio import Json
from runtape.remedies.facts import Fix, Grade, Trial
from runtape.reports.why_report import Subject, WhyReport


@dataclass(frozen=True, slots=True)
class FixReport:
    """What helps, whose trace it is about, and how it was asked for.

    Attributes:
        fix: the findings.
        subject: the trace and the model.
        settings: options that differ from their defaults, by name.
        version: version of runtape that made it.
    """

    fix: Fix
    subject: Subject
    settings: Json = field(default_factory=dict)
    version: str = ""

    def __str__(self) -> str:
        from runtape.reports.remedies_text import fix_sheet  # noqa: PLC0415 - it takes a FixReport

        return fix_sheet(self).plain()

    def to_json(self) -> Json:
        """The ``runtape.fix/1`` document."""
        from runtape.reports.fix_json import fix_document  # noqa: PLC0415 - it takes a FixReport

        return fix_document(self)

    @property
    def best(self) -> Trial | None:
        """The first remedy that passed, in the order of proposal; None when none did."""
        return None if self.fix.best is None else self.fix.trials[self.fix.best]

    def graded(self, grade: Grade) -> list[Trial]:
        """The remedies with a grade."""
        return [trial for trial in self.fix.trials if trial.grade is grade]

    @property
    def why(self) -> WhyReport:
        """The `why` that came first, as a report of its own."""
        return WhyReport(self.fix.explained, self.subject, self.settings, self.version)
