"""What a report says when there is no headline: each ending in its own honest words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runtape.attribution.facts import Mode, PieceState, Verdict
from runtape.reports.counts import add_happenings
from runtape.reports.sheet import Sheet, Tone
from runtape.reports.why_report import WhyReport
from runtape.reports.words import likely, listed, of_runs, plural, sentence


@dataclass(frozen=True, slots=True)
class Ending:
    """How a ``why`` without a headline is told: a label, what happened, what it means."""

    label: str
    title: str
    meaning: str = ""


def add_ending(sheet: Sheet, report: WhyReport) -> None:
    """The verdict without a cause, what it means and what it does not mean."""
    found = report.investigation
    ending = ending_of(report)
    sheet.prose(ending.label, ending.title, Tone.STRONG)
    if ending.meaning:
        sheet.prose("", ending.meaning)
    if found.verdict is Verdict.DID_NOT_RECUR:
        sheet.blank()
        add_happenings(sheet, "Instead", found.outcomes, found.baseline.runs, found.decision)
    sheet.blank()


def ending_of(report: WhyReport) -> Ending:
    """The words for the verdict of `report`."""
    return _WORDS[report.investigation.verdict](report)


def _attributed(_: WhyReport) -> Ending:
    return Ending("No cause", "Only smaller effects were found; none of them decides.")


def _only_required(_: WhyReport) -> Ending:
    return Ending(
        "No cause",
        "Nothing here pushes the model to it; it only needs these inputs.",
        "Without them it looks them up again, stops or asks. They are inputs of the decision, not "
        "the reason for it. The reason may be the model itself.",
    )


def _nothing(report: WhyReport) -> Ending:
    found = report.investigation
    untold = {PieceState.UNTESTED, PieceState.RUNNING}
    tested = sum(result.state not in untold for result in found.pieces)
    doubt = "A cause that makes it only a little rarer would not show."
    if found.mode is Mode.INTERMITTENT:
        doubt = "The decision comes and goes, so a weaker cause may stay hidden in these runs."
    return Ending(
        "No cause",
        "No text of the context, and no small set of texts, makes the difference.",
        f"{plural(tested, 'piece')} tested. The model may do this by itself, or many texts say the "
        f"same. {doubt}",
    )


def _did_not_recur(report: WhyReport) -> Ending:
    base = report.investigation.baseline
    return Ending(
        "No cause",
        f"The decision did not recur: {of_runs(base)} ({likely(base)}).",
        "The recorded run may have been a rare one, or the model behind the name has changed.",
    )


def _too_rare(report: WhyReport) -> Ending:
    base = report.investigation.baseline
    return Ending(
        "No cause",
        f"Too rare to explain: {of_runs(base)} ({likely(base)}).",
        "At that rate a cause cannot be told from chance with a sensible number of calls.",
    )


def _budget(report: WhyReport) -> Ending:
    budget = plural(report.investigation.calls.budget, "call")
    return Ending("Stopped", f"The budget of {budget} ended {_when(report)}.", _known(report))


def _failed(report: WhyReport) -> Ending:
    failure = sentence(report.investigation.failure or "the provider failed")
    if not report.investigation.baseline.runs:
        return Ending("Stopped", "The model could not be asked.", failure)
    return Ending("Stopped", f"The model failed {_when(report)}.", f"{failure}\n{_known(report)}")


def _interrupted(report: WhyReport) -> Ending:
    return Ending("Stopped", f"Interrupted {_when(report)}.", _known(report))


def _when(report: WhyReport) -> str:
    return "while the rest was looked at" if report.headline else "before there was an answer"


def _known(report: WhyReport) -> str:
    """What a partial result is worth, and whether its replies were kept."""
    known = "What stands below is what was known by then; nothing of it is a claim."
    if report.headline:
        known = "The cause above holds; what stands beside it may be incomplete."
    if report.settings.get("cache") is False:
        return f"{known} Its replies were not kept."
    return f"{known} All replies are kept: asking again starts from here."


def _incomplete(report: WhyReport) -> Ending:
    missing = [part for part, how in report.subject.fidelity.items() if how == "missing"]
    parts = [sentence(report.investigation.failure or "")]
    if missing:
        parts.append(f"Missing: {listed(missing)}.")
    parts.append("Rerunning another context would explain another decision.")
    return Ending(
        "Stopped",
        "The trace lacks what a rerun of this call needs.",
        "\n".join(part for part in parts if part),
    )


_WORDS: dict[Verdict, Callable[[WhyReport], Ending]] = {
    Verdict.ATTRIBUTED: _attributed,
    Verdict.ONLY_REQUIRED: _only_required,
    Verdict.NOTHING_FOUND: _nothing,
    Verdict.DID_NOT_RECUR: _did_not_recur,
    Verdict.TOO_RARE: _too_rare,
    Verdict.BUDGET_SPENT: _budget,
    Verdict.PROVIDER_FAILED: _failed,
    Verdict.INTERRUPTED: _interrupted,
    Verdict.INCOMPLETE_CONTEXT: _incomplete,
}
