"""Numbers in words, and text in cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.decision import Outcome, OutcomeKind
from runtape.reports import words
from runtape.reports.cells import cut, cut_start, one_line, pad, width, wrap
from runtape.reports.sheet import Sheet, Span, Tone, line
from tests.support.hostile import PAYLOADS, smuggled

WIDE = "日本語のテキスト"


@pytest.mark.parametrize(
    ("p", "said"), [(7.6e-8, "7.6e-8"), (0.00075, "7.5e-4"), (0.053, "0.053"), (1.0, "1")]
)
def test_p_values_keep_two_digits(p, said):
    """Small ones as a power, others plain."""
    assert words.p_value(p) == said


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0.0, 0.28, "under 28%"), (0.82, 1.0, "over 82%"), (0.12, 0.45, "12–45%"), (0, 1, "anything")],
)
def test_intervals_are_plain_words(low, high, said):
    """An interval that touches an end says the one bound that matters."""
    assert words.interval(low, high) == said


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0"),
        (950, "950"),
        (1000, "1.0k"),
        (11_240, "11k"),
        (999_950, "1.0M"),
        (3_400_000, "3.4M"),
    ],
)
def test_tokens_are_short(count, said):
    """Two digits are enough; rounding never gives 1000k."""
    assert words.tokens(count) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.012, "12 ms"),
        (0.9996, "1.0 s"),
        (3.21, "3.2 s"),
        (125, "2 min 5 s"),
        (4320, "1 h 12 min"),
    ],
)
def test_durations_grow_with_their_units(seconds, said):
    """Milliseconds to hours."""
    assert words.duration(seconds) == said


def test_money_below_a_cent_is_not_zero():
    """$0.00 would be a lie."""
    assert words.dollars(0.0024) == "under $0.01"
    assert words.dollars(1234.5) == "$1,234.50"


def test_outcomes_are_counted_by_what_a_reader_calls_the_same():
    """Ten different answers in words are one thing; other arguments are told apart."""
    said = [(Outcome(OutcomeKind.TEXT, text=f"answer {n}"), 1) for n in range(10)]
    other = Outcome(OutcomeKind.OTHER_CALL, calls=(("f", '{"x":2}'),))
    found = words.happenings([*said, (other, 2)], {"f"})
    assert [(way.phrase, way.count) for way in found] == [
        ("answers in words", 10),
        ("calls f with other arguments", 2),
    ]
    assert len(found[0].of) == 10


def test_every_kind_of_outcome_has_words():
    """No outcome is without a phrase."""
    for kind in OutcomeKind:
        assert words.outcome_phrase(Outcome(kind))
        assert words.outcome_detail(Outcome(kind, text="x"))


def test_arguments_that_are_no_object_stand_as_they_are():
    """A broken call is shown broken."""
    assert words.call("f", '{"x": ') == 'f({"x":)'
    assert words.recorded_call("f", '{"x":1}') == "f(x=1)"
    assert words.call("f", None) == "f()"


def test_wide_characters_take_two_cells():
    """CJK counts double, combining marks nothing."""
    assert width(WIDE) == 16
    assert width("e\u0301") == 1
    assert cut(WIDE, 7) == "日本語…"
    assert cut_start("path/to/file", 6) == "…/file"
    assert pad("日", 4) == "日  "


@given(st.text(alphabet=st.characters(exclude_characters="\n\t"), max_size=200), st.integers(2, 60))
def test_wrapped_lines_fit_and_lose_no_word(text, cells):
    """Every line fits, and the words together are the text."""
    lines = list(wrap(text, cells))
    assert all(width(part) <= max(cells, 2) for part in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@given(st.text(max_size=100), st.integers(1, 40))
def test_cut_text_fits(text, cells):
    """A cut text never takes more cells than it may."""
    assert width(cut(one_line(text), cells)) <= cells


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_sheet_shows_what_it_is_given(name):
    """Whichever way a text gets on a sheet, it is made visible there."""
    evil = PAYLOADS[name]
    sheet = Sheet(60)
    sheet.prose(evil, f"{evil}\nsecond {evil}")
    sheet.row(evil, evil, Span(evil, Tone.BAD))
    sheet.joined("x", [evil, evil])
    sheet.raw(evil)
    assert smuggled(sheet.plain().replace("\n", "")) == []


def test_colour_is_only_ours():
    """Tones become SGR codes; text that looks like one stays a picture."""
    entry = line(Span("red", Tone.BAD), " \x1b[31mfake")
    assert entry.coloured == "\x1b[31mred\x1b[0m ␛[31mfake"
    assert entry.plain == "red ␛[31mfake"


def test_a_very_long_line_is_wrapped_in_linear_time():
    """Five megabytes on one line: a second or two at most, not hours."""
    lines = sum(1 for _ in wrap("word " * 1_000_000, 80))
    assert lines == 62_500
