"""What stands around rows and bars, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runtape.attribution.distribution import Distribution
from runtape.attribution.facts import (
    BaselineChanged,
    Calls,
    Mode,
    Phase,
    PhaseChanged,
    PieceAsked,
    PieceState,
    Started,
    Unfolded,
)
from runtape.attribution.sampling import Sample
from runtape.context.pieces import Piece, PieceKind
from runtape.decision import Decision, DecisionKind, Outcome, OutcomeKind
from runtape.dialects.base import Reply
from runtape.trials import Tally
from runtape_tui.view_models.distribution import distribution_lines
from runtape_tui.view_models.findings import (
    activity_line,
    baseline_line,
    detail_sheet,
    spending_words,
)
from runtape_tui.view_models.heatmap import Heatmap

DECISION = Decision(event=9, request=8, kind=DecisionKind.TOOL, tool="order")


def piece(number: int, parent: int | None = None) -> Piece:
    """A tool result, or a paragraph of one."""
    kind = PieceKind.TOOL_RESULT if parent is None else PieceKind.PARAGRAPH
    ref = str(number) if parent is None else f"{parent} para 1"
    return Piece(number, ref, kind, number, parent, "Some text.", given=False, tool="read")


def begun() -> Heatmap:
    """A heatmap of three pieces."""
    heat = Heatmap()
    heat.take(Started(DECISION, (piece(1), piece(2), piece(3)), 400))
    return heat


def plain(lines) -> str:
    """The lines as text."""
    return "\n".join(line.plain for line in lines)


def test_the_bill_names_what_is_known():
    """Calls, cache, failures, tokens, money, rounds, time; what is unknown is left out."""
    assert spending_words(Calls(made=3, budget=400), 2.0) == "3/400 calls · 2.0 s"
    full = Calls(52, 7, 400, 31, 1, 2, 11_000, 400, 0.031)
    assert spending_words(full, 65) == (
        "52/400 calls · 7 cached · 2 failed · 11k tokens · $0.03 · 1 round · 1 min 5 s"
    )


def test_the_time_left_is_guessed_only_while_there_is_reason_to():
    """After a few calls, while it runs, and never below zero."""
    calls = Calls(made=20, budget=400, rounds=3)
    assert spending_words(calls, 10.0, expected=60, running=True).endswith("about 20.0 s left")
    assert "left" not in spending_words(calls, 10.0, expected=20, running=True)
    assert "left" not in spending_words(calls, 10.0, expected=60)
    assert "left" not in spending_words(Calls(made=2), 1.0, expected=60, running=True)


def test_the_baseline_says_what_a_claim_needs_as_far_as_there_is_room():
    """Level, behaviour, correction: what does not fit is left out, never cut."""
    heat = begun()
    assert baseline_line(heat, 80).plain.endswith("not asked yet")
    heat.take(BaselineChanged(Tally(5, 6)))
    assert "5/6" in baseline_line(heat, 80).plain
    heat.take(BaselineChanged(Tally(18, 18), True, Mode.CONSISTENT, 8e-4, 40))
    wide, narrow = (baseline_line(heat, columns).plain for columns in (120, 70))
    assert wide.endswith("claim: p ≤ 8.0e-4 · consistent · corrected for 40 variants")
    assert narrow.endswith("claim: p ≤ 8.0e-4")
    heat.take(BaselineChanged(Tally(2, 2), True, Mode.DETERMINISTIC))
    assert "claim" not in baseline_line(heat, 120).plain


def test_what_happens_now_names_the_pieces_in_flight():
    """The phase, and what is taken out in it."""
    heat = begun()
    heat.take(PhaseChanged(Phase.SCREEN))
    heat.take(PieceAsked((2,), 1))
    heat.take(PieceAsked((3,), 1))
    assert activity_line(heat, 80).plain == "now         removing pieces: 2, 3"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (PieceState.UNTESTED, "not tested on its own"),
        (PieceState.IN_GROUP, "that is no evidence of it"),
    ],
)
def test_what_was_not_tested_alone_says_so(state, words):
    """A piece without runs of its own has no numbers."""
    heat = begun()
    heat.row(1).state = state
    assert words in detail_sheet(heat, heat.row(1), 100).plain()


def test_a_part_says_where_it_stands_and_shows_its_text_on_request():
    """For whoever sees no context beside it."""
    heat = begun()
    heat.take(Unfolded(1, (piece(11, 1),)))
    text = detail_sheet(heat, heat.row(11), 100, with_text=True).plain()
    assert "paragraph in the result of read: not tested" in text
    assert "Narrowed  1 › para 1" in text
    assert "Text      Some text." in text


def sample(kind: OutcomeKind) -> Sample:
    """A run that ended so."""
    calls = (("order", "{}"),) if kind is OutcomeKind.SAME else ()
    text = None if calls else "No."
    return Sample(Reply(text=text), Outcome(kind, calls, text))


def distribution(same: int, other: int, asked: int = 10) -> Distribution:
    """So many runs of each kind."""
    runs = [sample(OutcomeKind.SAME)] * same + [sample(OutcomeKind.TEXT)] * other
    return Distribution(DECISION, tuple(runs), asked)


def test_odds_are_one_column_of_bars():
    """The recorded decision first, marked."""
    lines = distribution_lines(distribution(8, 2), 80, running=False)
    assert lines[0].plain.startswith("█████▓▓▓─")
    assert "8/10" in lines[0].plain
    assert "● calls order()" in lines[0].plain
    assert "it comes in 8/10 (likely 49–94%)" in plain(lines)


def test_two_columns_have_a_test_between_them():
    """Changed and unchanged, with the p of Fisher's test."""
    both = replace(distribution(0, 10), baseline=distribution(10, 0))
    text = plain(distribution_lines(both, 100, running=False))
    assert text.splitlines()[0].split() == ["changed", "unchanged", "does"]
    assert "p = 5.4e-6" in text


def test_runs_under_way_are_counted_and_a_failure_is_told():
    """A bar of what is done; stopped or failed, what is missing stays visible."""
    growing = distribution(3, 1)
    assert plain(distribution_lines(growing, 80, running=True)).endswith(" 4 of 10 runs")
    assert plain(distribution_lines(growing, 80, running=False)).endswith("4 of 10 runs, stopped")
    failed = plain(distribution_lines(replace(growing, failure="no credit"), 80, running=False))
    assert "no credit." in failed
    assert failed.endswith("4 of 10 runs")
    nothing = distribution(0, 0)
    assert "no answer yet" in plain(distribution_lines(nothing, 80, running=True))
    assert "no answer came" in plain(distribution_lines(nothing, 80, running=False))
