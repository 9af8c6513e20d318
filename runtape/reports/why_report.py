"""One finished ``why`` with all that a report needs beside the findings."""

from __future__ import annotations

from dataclasses import dataclass, field

from runtape.attribution.facts import Cause, Investigation, Role
from runtape.jsonio import Json


@dataclass(frozen=True, slots=True)
class Subject:
    """Which trace and model a report is about.

    Attributes:
        path: trace file as the user can give it again.
        run_id: id of the recorded run.
        name: name of the recorded run.
        model: model of the explained call, or None when unknown.
        handle: a shorter name that finds the trace, for commands; empty: the path.
        fidelity: part of the request → ``exact | assumed | missing``; empty means all exact.
    """

    path: str
    run_id: str = ""
    name: str = ""
    model: str | None = None
    handle: str = ""
    fidelity: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WhyReport:
    """An investigation, whose it is, and how it was asked for.

    Attributes:
        investigation: the findings.
        subject: the trace and the model.
        settings: options that differ from their defaults, by name (``model_fn``, ``tool`` …).
        version: version of runtape that made it.
    """

    investigation: Investigation
    subject: Subject
    settings: Json = field(default_factory=dict)
    version: str = ""

    def __str__(self) -> str:
        from runtape.reports.why_text import why_sheet  # noqa: PLC0415 - it takes a WhyReport

        return why_sheet(self).plain()

    def to_json(self) -> Json:
        """The ``runtape.why/1`` document."""
        from runtape.reports.why_json import why_document  # noqa: PLC0415 - it takes a WhyReport

        return why_document(self)

    @property
    def headline(self) -> Cause | None:
        """The cause that answers the question, or None."""
        return self.investigation.headline

    def causes_of(self, *roles: Role) -> list[Cause]:
        """Claimed causes with one of `roles` that are not the headline."""
        return [c for c in self.investigation.causes if c.role in roles and not c.headline]
