"""The heatmap without a screen: facts in; rows, their order and what changed of them out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.attribution.facts import (
    BaselineChanged,
    Calls,
    CallsChanged,
    Cause,
    CauseConfirmed,
    Finished,
    Investigation,
    Mode,
    Phase,
    PhaseChanged,
    PieceAsked,
    PieceChanged,
    PieceResult,
    PieceState,
    Role,
    Started,
    TallyChanged,
    Unfolded,
    Verdict,
)
from runtape.context.pieces import Piece, PieceKind
from runtape.decision import Decision, DecisionKind
from runtape.evidence import fisher_less
from runtape.trials import Tally
from runtape_tui.view_models.columns import Columns, place_cell, verdict
from runtape_tui.view_models.document import Tint
from runtape_tui.view_models.heatmap import Heatmap, Order
from runtape_tui.view_models.tints import tint_of

DECISION = Decision(event=9, request=8, kind=DecisionKind.TOOL, tool="order")
SETTLED = BaselineChanged(Tally(18, 18), settled=True, mode=Mode.CONSISTENT, level=8e-4, slots=40)


def piece(number: int, ref: str = "", parent: int | None = None) -> Piece:
    """A piece with that number."""
    return Piece(
        id=number,
        ref=ref or str(number),
        kind=PieceKind.TOOL_RESULT if parent is None else PieceKind.PARAGRAPH,
        event=number,
        parent=parent,
        text=f"text of {number}",
        given=False,
        divisible=True,
    )


def started(*numbers: int) -> Heatmap:
    """A heatmap of pieces with these numbers, its baseline settled at 18 of 18."""
    heat = Heatmap()
    for fact in (Started(DECISION, tuple(map(piece, numbers)), 400), SETTLED):
        heat.take(fact)
    heat.flush()
    return heat


def refs(heat: Heatmap) -> list[str]:
    """The refs of the rows, in order."""
    heat.flush()
    return [row.piece.ref for row in heat.rows]


def run(heat: Heatmap, number: int, same: int, runs: int) -> None:
    """So many runs without a piece."""
    heat.take(TallyChanged(number, Tally(same, runs), fisher_less(same, runs, 18, 18)))


def test_pieces_stand_in_reading_order_until_something_is_known():
    """Nothing is hot yet: no reason to reorder."""
    assert refs(started(1, 2, 3)) == ["1", "2", "3"]


def test_only_what_changed_is_painted_again():
    """One reply about one piece: one row, and nothing moves as long as it stays calm."""
    heat = started(1, 2, 3)
    run(heat, 2, 2, 2)
    changes = heat.flush()

    assert changes.rows == (1,)
    assert changes.pieces == (2,)
    assert not changes.moved
    assert heat.flush().rows == ()


def test_what_falls_rises_to_the_top():
    """A piece without which the decision vanishes is hotter than one without which it stays."""
    heat = started(1, 2, 3)
    run(heat, 1, 2, 2)
    run(heat, 3, 0, 2)
    changes = heat.flush()

    assert changes.moved
    assert [row.piece.ref for row in heat.rows] == ["3", "1", "2"]
    assert heat.place(3) == 0


def test_a_claim_outranks_a_suspect_and_a_cause_what_is_only_needed():
    """Cause, needed, suspected, calm."""
    heat = started(1, 2, 3, 4)
    for number in (2, 3, 4):
        run(heat, number, 0, 3)
    heat.take(PieceChanged(4, PieceState.CAUSE))
    heat.take(PieceChanged(3, PieceState.REQUIRED))
    assert refs(heat) == ["4", "3", "2", "1"]


def test_parts_stand_below_the_whole_wherever_it_goes():
    """A whole is as hot as its hottest part, and parts are sorted among themselves."""
    heat = started(10, 20)
    parts = (piece(21, "20 para 1", 20), piece(22, "20 para 2", 20))
    heat.take(Unfolded(20, parts))
    run(heat, 22, 0, 1)
    assert refs(heat) == ["20", "20 para 2", "20 para 1", "10"]
    assert [row.depth for row in heat.rows] == [0, 1, 1, 0]
    assert place_cell(heat.rows[1]) == "  para 2"


def test_orders():
    """By p the smallest first, in reading order whatever was found."""
    heat = started(1, 2, 3)
    run(heat, 1, 2, 2)
    run(heat, 2, 1, 3)
    run(heat, 3, 0, 3)
    heat.order = Order.P
    assert refs(heat) == ["3", "2", "1"]
    heat.order = Order.READING
    assert refs(heat) == ["1", "2", "3"]


def test_rows_in_flight_are_marked_until_their_replies_came():
    """Two runs asked for, two replies: in flight in between."""
    heat = started(1, 2)
    heat.take(PieceAsked((1,), 2))
    row = heat.row(1)
    assert heat.standing(row) is PieceState.RUNNING
    run(heat, 1, 1, 1)
    assert row.in_flight
    run(heat, 1, 2, 2)
    assert not row.in_flight
    assert heat.standing(row) is PieceState.NO_EFFECT


def test_a_group_is_in_flight_until_the_round_is_over():
    """No tally tells about groups: the next thing the search says ends their flight."""
    heat = started(1, 2, 3)
    heat.take(PieceAsked((1, 2), 2))
    heat.take(CallsChanged(Calls(made=20, budget=400)))
    assert {row.piece.id for row in heat.in_flight} == {1, 2}
    heat.take(PieceChanged(1, PieceState.IN_GROUP))
    assert not heat.in_flight
    assert set(heat.flush().pieces) >= {1, 2}


def test_one_round_marks_all_that_it_asks():
    """Questions of one round come one after the other: the second does not end the first."""
    heat = started(1, 2)
    heat.take(PieceAsked((1,), 1))
    heat.take(PieceAsked((2,), 1))
    assert len(heat.in_flight) == 2


def test_p_follows_a_baseline_that_still_grows():
    """The p that was told may be against an older baseline than the one that is shown."""
    heat = Heatmap([piece(1)])
    heat.take(BaselineChanged(Tally(6, 6)))
    heat.take(TallyChanged(1, Tally(0, 2), fisher_less(0, 2, 6, 6)))
    heat.take(BaselineChanged(Tally(18, 18)))
    assert heat.row(1).p == pytest.approx(fisher_less(0, 2, 18, 18))


def test_temperature_zero_has_no_p():
    """Runs at temperature 0 are no sample."""
    heat = Heatmap([piece(1)])
    heat.take(TallyChanged(1, Tally(0, 1), None))
    heat.take(BaselineChanged(Tally(2, 2), settled=True, mode=Mode.DETERMINISTIC))
    assert heat.row(1).p is None


def test_the_fall_and_its_interval():
    """18/18 with, 0/10 without: a fall of 1, at least two thirds; nothing before the first run."""
    heat = started(1)
    row = heat.row(1)
    assert heat.fall(row) is None
    run(heat, 1, 0, 10)
    fall = heat.fall(row)
    assert fall.drop == 1
    assert 0.65 < fall.low < 0.7
    assert fall.high == 1


def test_the_lead_goes_where_something_happens():
    """First the hottest, then what is being looked into, then the claim."""
    heat = started(10, 20)
    assert heat.lead is None
    run(heat, 10, 0, 2)
    heat.flush()
    assert heat.lead.piece.ref == "10"
    heat.take(Unfolded(20, (piece(21, "20 para 1", 20), piece(22, "20 para 2", 20))))
    heat.flush()
    assert heat.lead.piece.ref == "20"
    run(heat, 22, 0, 1)
    heat.flush()
    assert heat.lead.piece.ref == "20 para 2"
    heat.take(CauseConfirmed(cause(heat.row(22).piece)))
    heat.flush()
    assert heat.lead.piece.ref == "20 para 2"


def cause(found: Piece, role: Role = Role.CAUSE) -> Cause:
    """A claim of one piece at 0 of 3."""
    return Cause(
        (found,),
        role,
        headline=True,
        without=Tally(0, 3),
        p=7e-4,
        level=8e-4,
        claimed_at=Tally(0, 3),
        claimed_p=7e-4,
    )


def test_what_holds_a_claim_says_so_and_is_not_tinted():
    """Parts take on the tint of what is looked into; in the end only the sentence is lit."""
    heat = started(20)
    run(heat, 20, 0, 2)
    assert tint_of(heat, 20) is Tint.SUSPECTED
    heat.take(Unfolded(20, (piece(21, "20 para 1", 20), piece(22, "20 para 2", 20))))
    assert tint_of(heat, 20) is Tint.NONE
    assert tint_of(heat, 22) is Tint.SUSPECTED
    run(heat, 21, 0, 3)
    heat.take(PieceChanged(21, PieceState.CAUSE))
    heat.take(CauseConfirmed(cause(heat.row(21).piece)))
    assert heat.row(20).holds
    assert verdict(heat.row(20), heat.standing(heat.row(20))).strip() == "▾ holds it"
    assert tint_of(heat, 20) is Tint.NONE
    assert tint_of(heat, 21) is Tint.CAUSE
    assert tint_of(heat, 22) is Tint.NONE


def test_parts_on_the_way_are_told_by_their_runs():
    """The search gives no verdict on levels it only passes: the report does the same."""
    heat = started(20)
    heat.take(Unfolded(20, (piece(21, "20 para 1", 20), piece(22, "20 para 2", 20))))
    run(heat, 21, 0, 1)
    run(heat, 22, 1, 1)
    assert heat.standing(heat.row(21)) is PieceState.SUSPECTED
    assert heat.standing(heat.row(22)) is PieceState.NO_EFFECT


def test_a_claim_of_unknown_pieces_gets_rows():
    """A member of a set may never have been announced."""
    heat = started(20)
    heat.take(CauseConfirmed(cause(piece(25, "20 para 5", 20))))
    assert refs(heat) == ["20", "20 para 5"]
    assert heat.row(20).holds


def test_the_report_has_the_last_word():
    """States, tallies and claims of the result replace what was told on the way."""
    heat = started(1, 2)
    heat.take(PieceAsked((2,), 3))
    found = cause(piece(1))
    results = (
        PieceResult(piece(1), Tally(0, 10), PieceState.CAUSE, 7e-8),
        PieceResult(piece(2), Tally(3, 3), PieceState.NO_EFFECT, 1.0),
    )
    heat.take(Finished(investigation(causes=(found,), pieces=results)))
    heat.flush()
    assert heat.row(1).tally == Tally(0, 10)
    assert heat.row(1).cause is found
    assert not heat.in_flight
    assert heat.report is not None
    assert heat.lead is heat.row(1)


def investigation(**fields: object) -> Investigation:
    """A result."""
    blank = {
        "decision": DECISION, "verdict": Verdict.ATTRIBUTED, "mode": Mode.CONSISTENT,
        "baseline": Tally(18, 18), "outcomes": (), "causes": (), "pieces": (), "untested": (),
        "calls": Calls(), "warnings": (),
    }  # fmt: skip
    return Investigation(**{**blank, **fields})


def test_facts_about_pieces_nobody_knows_are_borne():
    """A newer engine may tell about things this app has no row for."""
    heat = started(1)
    heat.take(PieceAsked((77,), 1))
    heat.take(TallyChanged(77, Tally(0, 1), 0.5))
    heat.take(PieceChanged(77, PieceState.CAUSE))
    heat.take(PhaseChanged(Phase.NARROW))
    assert refs(heat) == ["1"]


numbers = st.sampled_from([1, 2, 3, 4, 31, 32, 33])
tallies = st.integers(1, 9).flatmap(lambda n: st.builds(Tally, st.integers(0, n), st.just(n)))
facts = st.one_of(
    st.builds(PieceAsked, st.lists(numbers, min_size=1, max_size=3).map(tuple), st.integers(1, 3)),
    st.builds(TallyChanged, numbers, tallies, st.floats(0, 1)),
    st.builds(PieceChanged, numbers, st.sampled_from(PieceState)),
    st.just(Unfolded(3, tuple(piece(n, f"3 para {n}", 3) for n in (31, 32, 33)))),
    st.builds(BaselineChanged, tallies),
    st.builds(PhaseChanged, st.sampled_from(Phase)),
)


@given(st.lists(facts, max_size=40), st.sampled_from(Order))
@settings(max_examples=150, deadline=None)
def test_whatever_happens_the_rows_are_a_tree_and_changes_are_not_lost(told, order):
    """Every row once, wholes before their parts, and each row that looks different is named."""
    heat = started(1, 2, 3, 4)
    heat.order = order
    heat.flush()
    seen = {number: look(heat, number) for number in (1, 2, 3, 4)}
    for fact in told:
        heat.take(fact)
    base, changes = heat.baseline, heat.flush()

    ids = [row.piece.id for row in heat.rows]
    assert len(set(ids)) == len(ids)
    for at, row in enumerate(heat.rows):
        assert heat.place(row.piece.id) == at
        assert row.parent is None or ids.index(row.parent.piece.id) < at
        assert verdict(row, heat.standing(row))
    different = {number for number, before in seen.items() if look(heat, number) != before}
    assert changes.moved or base != Tally(18, 18) or different <= set(changes.pieces)


def look(heat: Heatmap, number: int) -> object:
    """What is drawn of a row."""
    row = heat.row(number)
    return (heat.standing(row), row.tally, row.p, row.in_flight, row.holds)


@given(st.integers(40, 200))
def test_columns_leave_room_for_the_text(width):
    """Numbers and bar take their width, the heading stands above them, a text has the rest."""
    columns = Columns.fitting(width)
    assert columns.heading().index("piece") == columns.fixed
    assert width - columns.fixed >= 1 or width < 50
