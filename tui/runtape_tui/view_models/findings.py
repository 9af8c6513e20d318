"""What stands around the heatmap, as lines: question, answer, one row in detail, the bill."""

from __future__ import annotations

from collections.abc import Iterator

from runtape.attribution.facts import (
    BaselineChanged,
    Calls,
    Cause,
    Mode,
    PieceState,
    Verdict,
)
from runtape.decision import Decision
from runtape.evidence import wilson
from runtape.reports.causes import check_rows, evidence_words
from runtape.reports.cells import cut
from runtape.reports.codes import PHASE_WORDS, ROLE_WORDS, STATE_WORDS
from runtape.reports.counts import add_counts, add_happenings
from runtape.reports.decisions import decision_words
from runtape.reports.endings import ending_of
from runtape.reports.excerpt import add_excerpt, excerpt
from runtape.reports.sheet import Line, Part, Sheet, Span, Tone, line
from runtape.reports.warnings import warning_text
from runtape.reports.why_report import WhyReport
from runtape.reports.words import (
    dollars,
    duration,
    p_value,
    piece_words,
    plural,
    quoted,
    rated,
    tally,
    tokens,
)
from runtape_tui.view_models.bars import interval_bar
from runtape_tui.view_models.columns import short_ref
from runtape_tui.view_models.heat_rows import HeatRow
from runtape_tui.view_models.heatmap import Heatmap

_BAR = 10
_MARGIN = 10
_WORD = 11
"""Cells of the first words of the lines at the top."""
_LONGEST = 2_000
"""Characters of a text that are shown beside its numbers."""
_SURE = 6
"""Calls after which the rest of the time can be guessed."""
_MODES = {
    Mode.CONSISTENT: "consistent",
    Mode.INTERMITTENT: "comes and goes",
    Mode.DETERMINISTIC: "temperature 0",
}


def question_line(decision: Decision, columns: int, asked: str = "why") -> Line:
    """Which decision it is about."""
    head = f"{f'{asked} #{decision.event}':<{_WORD}} "
    words = cut(decision_words(decision), columns - len(head))
    return line(Span(head, Tone.QUIET), Span(words, Tone.STRONG))


def baseline_line(heat: Heatmap, columns: int) -> Line:
    """How often the unchanged context gives the decision, and what a claim has to reach."""
    counts = heat.baseline
    head = Span(f"{'unchanged':<{_WORD}} ", Tone.QUIET)
    if not counts.runs:
        return line(head, Span("not asked yet", Tone.QUIET))
    bar = interval_bar(counts.same / counts.runs, *wilson(counts.same, counts.runs), _BAR)
    parts: list[Part] = [
        head,
        Span(f"{bar.sure}{bar.likely}", Tone.NAME),
        Span(f"{bar.possible}{bar.rest} ", Tone.QUIET),
        rated(counts),
    ]
    room = columns - _WORD - 1 - _BAR - 1 - len(rated(counts))
    for words in _terms(heat.progress.baseline):
        room -= len(words) + 3
        if room >= 0:
            parts.append(Span(f" · {words}", Tone.QUIET))
    return line(*parts)


def _terms(told: BaselineChanged) -> Iterator[str]:
    """What holds for every test, the most important first."""
    if told.level is not None and told.mode is not Mode.DETERMINISTIC:
        yield f"claim: p ≤ {p_value(told.level)}"
    if told.mode is not None:
        yield _MODES[told.mode]
    if told.slots is not None and told.mode is not Mode.DETERMINISTIC:
        yield f"corrected for {told.slots} variants"


def activity_line(heat: Heatmap, columns: int) -> Line:
    """What the search is doing."""
    phase = PHASE_WORDS[heat.progress.phase]
    flying = sorted(heat.in_flight, key=lambda row: row.number)
    refs = ", ".join(row.piece.ref for row in flying[:4])
    more = f" and {len(flying) - 4} more" if len(flying) > 4 else ""  # noqa: PLR2004 - those named
    head = f"{'now':<{_WORD}} "
    words = f"{phase}{f': {refs}{more}' if refs else ''}"
    return line(Span(head, Tone.QUIET), Span(cut(words, columns - len(head)), Tone.GOOD))


def answer_line(report: WhyReport, columns: int) -> Line:
    """The verdict in one line."""
    cause = report.headline
    if cause is None:
        ending = ending_of(report)
        head = f"{ending.label.lower():<{_WORD}} "
        return line(
            Span(head, Tone.WARN), Span(cut(ending.title, columns - len(head)), Tone.STRONG)
        )
    first = cause.pieces[0]
    head = f"{'● cause':<{_WORD}} "
    more = f" and {len(cause.pieces) - 1} more" if len(cause.pieces) > 1 else ""
    place = f"{first.ref}{more}  "
    return line(
        Span(head, Tone.BAD),
        Span(place, Tone.NAME),
        Span(quoted(first.text, columns - len(head) - len(place) - 2), Tone.STRONG),
    )


def waiting_line(text: str) -> Line:
    """Why nothing happens."""
    return line(Span(f"{'now':<{_WORD}} ", Tone.QUIET), Span(text, Tone.QUIET))


def problem_line(text: str, columns: int) -> Line:
    """What keeps it from an answer."""
    head = f"{'failed':<{_WORD}} "
    return line(Span(head, Tone.BAD), cut(text, columns - len(head)))


def hint_line(text: str, columns: int) -> Line:
    """What to do about it."""
    return line(" " * (_WORD + 1), Span(cut(text, columns - _WORD - 1), Tone.QUIET))


def spending_words(
    calls: Calls, seconds: float, *, expected: int | None = None, running: bool = False
) -> str:
    """The bill, and while it runs how long it may still take; `expected` calls in all."""
    words = [f"{calls.made}/{calls.budget} calls"]
    if calls.cached:
        words.append(f"{calls.cached} cached")
    if calls.errors:
        words.append(f"{calls.errors} failed")
    if calls.input_tokens is not None:
        words.append(f"{tokens(calls.input_tokens + (calls.output_tokens or 0))} tokens")
    if calls.cost_usd is not None:
        words.append(dollars(calls.cost_usd))
    if calls.rounds:
        words.append(f"round {calls.rounds}" if running else plural(calls.rounds, "round"))
    words.append(duration(seconds))
    left = None if expected is None else expected - calls.made - calls.cached
    if running and left is not None and left > 0 and calls.made >= _SURE:
        words.append(f"about {duration(max(1, round(left * seconds / calls.made)))} left")
    return " · ".join(words)


def detail_sheet(
    heat: Heatmap,
    row: HeatRow,
    columns: int,
    report: WhyReport | None = None,
    *,
    with_text: bool = False,
) -> Sheet:
    """One row: the way to it, its test, what the model does without it, what was checked."""
    sheet = Sheet(columns, _MARGIN)
    sheet.row("Piece", Span(f"{row.piece.ref}  ", Tone.NAME), _standing_words(heat, row))
    chain = [row, *row.around()][::-1]
    if len(chain) > 1:
        sheet.prose("Narrowed", _chain_words(chain))
    found = report.investigation if report is not None else None
    if row.cause is not None and found is not None:
        sheet.prose("Evidence", "\n".join(evidence_words(row.cause, found)))
    else:
        sheet.prose("Evidence", _evidence(heat, row))
    if row.cause is not None:
        _add_claim(sheet, heat, row.cause)
    if with_text:
        _add_text(sheet, row)
    return sheet


def _add_text(sheet: Sheet, row: HeatRow) -> None:
    """The text where it stands, for whoever sees no context beside it."""
    sheet.blank()
    if row.cause is not None and any(row.piece.id == piece.id for piece in row.cause.pieces):
        add_excerpt(sheet, excerpt(row.cause, row.piece))
    else:
        sheet.prose("Text", row.piece.text[:_LONGEST])


def _add_claim(sheet: Sheet, heat: Heatmap, cause: Cause) -> None:
    decision = heat.progress.decision
    if decision is not None and cause.instead:
        add_happenings(sheet, "Instead", cause.instead, cause.without.runs, decision)
    add_counts(sheet, "Checked", check_rows(cause))
    if len(cause.pieces) > 1:
        sheet.prose("Together", ", ".join(piece.ref for piece in cause.pieces))


def _standing_words(heat: Heatmap, row: HeatRow) -> str:
    state = heat.standing(row)
    kind = piece_words(row.piece)
    *_, whole = [row, *row.around()]
    if whole is not row:
        kind = f"{kind} in the {piece_words(whole.piece)}"
    if row.cause is not None:
        return f"{kind}: {ROLE_WORDS[row.cause.role]}"
    if row.holds:
        return f"{kind}: what was claimed is a part of it"
    words = "being asked about" if state is PieceState.RUNNING else STATE_WORDS[state]
    return f"{kind}: {words}"


def _evidence(heat: Heatmap, row: HeatRow) -> str:
    if not row.tally.runs:
        if heat.standing(row) is PieceState.IN_GROUP:
            return "removed together with others it made no difference: that is no evidence of it"
        return "not tested on its own"
    p = "" if row.p is None else f"; p = {p_value(row.p)}"
    return f"without {rated(row.tally)}, with {rated(heat.baseline)}{p}"


def _chain_words(chain: list[HeatRow]) -> str:
    """The levels from the whole to the part, each with its runs."""
    return " › ".join(
        f"{short_ref(row)} {tally(row.tally)}" if row.tally.runs else short_ref(row)
        for row in chain
    )


def overview_sheet(report: WhyReport, columns: int) -> Sheet:
    """What is known beyond single rows: the ending in words, and warnings."""
    sheet = Sheet(columns, _MARGIN)
    if report.headline is None or report.investigation.verdict is not Verdict.ATTRIBUTED:
        ending = ending_of(report)
        sheet.prose(ending.label, ending.title, Tone.STRONG)
        sheet.prose("", ending.meaning)
    for label, text in _cautions(report):
        sheet.prose(label, text, Tone.WARN)
    return sheet


def _cautions(report: WhyReport) -> Iterator[tuple[str, str]]:
    label = "Caution"
    for warned in report.investigation.warnings:
        yield label, warning_text(warned)
        label = ""
