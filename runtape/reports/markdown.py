"""A finished ``why`` as Markdown for a bug tracker: safe to paste, whatever the trace says.

All that comes from a trace stands in code, where CommonMark reads no markup: fences longer than any
run of backticks inside, or code spans on one line. So it can neither break out, nor mention people,
link, or hide in a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from runtape.attribution.facts import Cause, Investigation, Verdict
from runtape.remedies.facts import Trial
from runtape.reports.causes import cause_words, check_rows, evidence_words
from runtape.reports.cells import cut, one_line, wrap
from runtape.reports.chain_text import add_chain
from runtape.reports.commands import fix_suggestions, suggestions
from runtape.reports.costs import cost_words
from runtape.reports.decisions import decided_tools, decision_words
from runtape.reports.endings import ending_of
from runtape.reports.excerpt import excerpt
from runtape.reports.fix_report import FixReport
from runtape.reports.leftovers import SECTIONS, claim_ref, glimpse
from runtape.reports.remedies_text import kept_words, stop_words
from runtape.reports.remedy_words import remedy_names, remedy_words
from runtape.reports.sheet import Sheet
from runtape.reports.warnings import warning_text
from runtape.reports.why_report import WhyReport
from runtape.reports.words import (
    duration,
    happenings,
    of_runs,
    outcome_detail,
    p_value,
    tally,
)
from runtape.visible import visible

_TICKS = re.compile(r"`+")
_NEAR = 200
_LONGEST = 3_000
_COLUMNS = 96
_WAYS = 4
_CLAIMS = 12


def why_markdown(report: WhyReport, fix: FixReport | None = None) -> str:
    """The report in GitHub-flavoured Markdown, with the remedies of `fix` if there are any."""
    return "\n\n".join(block for block in _blocks(report, fix) if block) + "\n"


def _blocks(report: WhyReport, fix: FixReport | None) -> Iterator[str]:
    found = report.investigation
    yield f"### Why {code(decision_words(found.decision))}?"
    yield _whose(report)
    if report.headline is not None:
        yield from _cause(report.headline, found)
    if report.headline is None or found.verdict is not Verdict.ATTRIBUTED:
        ending = ending_of(report)
        yield f"**{ending.label}.**"
        yield fenced(f"{ending.title}\n{ending.meaning}".strip())
    yield from _chain(report)
    if fix is not None:
        yield from _remedies(fix)
    yield from _claims(report)
    warned = [warning_text(w) for w in (fix.fix.warnings if fix else found.warnings)]
    if warned:
        yield "**Caution**\n\n" + "\n".join(f"- {code(text)}" for text in warned)
    calls, seconds = (fix.fix.calls, fix.fix.seconds) if fix else (found.calls, found.seconds)
    yield " · ".join([*cost_words(calls), duration(seconds)])
    ideas = fix_suggestions(fix) if fix else suggestions(report)
    if ideas:
        yield "<details><summary>Next</summary>"
        yield fenced("\n".join(line for idea in ideas for line in idea.lines(_COLUMNS)), "sh")
        yield "</details>"


def _whose(report: WhyReport) -> str:
    subject, found = report.subject, report.investigation
    asked = report.settings.get("model_fn") or subject.model or "the model"
    place = f"{code(subject.name or subject.path)}, event {found.decision.event}"
    if not found.baseline.runs:
        return f"{place}, model {code(str(asked))}"
    return f"{place}. Unchanged, {code(str(asked))} does it in {of_runs(found.baseline)}."


def _cause(cause: Cause, found: Investigation) -> Iterator[str]:
    refs = ", ".join(code(piece.ref) for piece in cause.pieces)
    yield f"**Cause:** {code(cause_words(cause))}, between `>>>` and `<<<` ({refs})"
    for piece in cause.pieces[:_WAYS]:
        shown = excerpt(cause, piece)
        text = shown.text
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]} … {len(text) - _LONGEST:,} more characters"
        yield fenced(f"{shown.before[-_NEAR:]}>>> {text} <<<{shown.after[:_NEAR]}")
    lines = [f"- {words}" for words in evidence_words(cause, found)]
    runs, ways = cause.without.runs, happenings(cause.instead, decided_tools(found.decision))
    lines += [f"- {way.count}/{runs} {code(outcome_detail(way.sample))}" for way in ways[:_WAYS]]
    lines += [f"- {counts} {words}" for counts, words in _checks(cause)]
    if len(cause.narrowed) > 1:
        steps = (f"{code(step.piece.ref)} {tally(step.tally)}" for step in cause.narrowed)
        lines.append(f"- narrowed: {' › '.join(steps)}")
    yield "\n".join(lines)


def _checks(cause: Cause) -> Iterator[tuple[str, str]]:
    """Other ways to remove it; a fill may be a text of the user's, so it stands in code."""
    return ((counts, code(words)) for counts, words in check_rows(cause))


def _chain(report: WhyReport) -> Iterator[str]:
    sheet = Sheet(_COLUMNS)
    add_chain(sheet, report)
    if sheet.lines:
        yield "**Chain**"
        yield fenced(sheet.plain().rstrip())


def _remedies(report: FixReport) -> Iterator[str]:
    fix = report.fix
    names = remedy_names([trial.remedy for trial in fix.trials])
    lines = [_remedy(name, trial) for name, trial in zip(names, fix.trials, strict=True)]
    if stopped := stop_words(fix):
        lines.append(f"- {stopped}")
    if lines:
        yield "**What helps** (still happens, corrected p, other decisions kept)"
        yield "\n".join(lines)
    if report.best is not None and report.best.remedy.system:
        yield f"The first that passes: {remedy_words(report.best.remedy)}"
        yield fenced(report.best.remedy.system)


def _remedy(name: str, trial: Trial) -> str:
    grade = trial.grade.value if trial.grade else "not measured"
    p = f", p {p_value(trial.adjusted)}" if trial.adjusted is not None else ""
    return f"- **{grade}** {code(name)} {tally(trial.remains)}{p}, keeps {kept_words(trial)}"


def _claims(report: WhyReport) -> Iterator[str]:
    for label, text, roles in SECTIONS:
        causes = report.causes_of(*roles)
        if causes:
            rows = map(_claim, causes[:_CLAIMS])
            yield f"**{label}:** {text}\n\n" + "\n".join(rows)


def _claim(cause: Cause) -> str:
    words = cut(glimpse(cause.pieces[0]), 80)
    return f"- {tally(cause.without)} {code(claim_ref(cause))} {code(words)}"


def code(text: str) -> str:
    """`text` as a code span on one line (CommonMark 0.31, section 6.1)."""
    inside = one_line(visible(text).text, 1_000) or " "
    ticks = "`" * (_longest_run(inside) + 1)
    padded = f" {inside} " if inside[0] == "`" or inside[-1] == "`" else inside
    return f"{ticks}{padded}{ticks}"


def fenced(text: str, language: str = "text") -> str:
    """`text` as a fenced code block that nothing in it can close (CommonMark 0.31, section 4.5)."""
    shown = "\n".join(wrap(visible(text).text, _COLUMNS))
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
