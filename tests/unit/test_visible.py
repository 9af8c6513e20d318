"""visible(): nothing a terminal obeys or hides gets through."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.visible import visible

ANYTHING = st.text(
    st.characters(codec=None)
    | st.sampled_from("\x00\x1b\x07\x7f\x9b\u202e\u200d\u200b\ufe0f\U000e0041\ud800\n\t👩🚒❤a")
)


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x1b[2J", "␛[2J"),
        ("\x9b2J", "<U+009B>2J"),
        ("a\x00b\x7f", "a␀b␡"),
        ("x\r\ny", "x␍\ny"),
        ("abc\u202edef\u202c", "abc<U+202E>def<U+202C>"),
        ("a\u200bb\u200dc\ufeff", "a<U+200B>b<U+200D>c<U+FEFF>"),
        ("\U000e0041\U000e0042", "<U+E0041><U+E0042>"),
        ("é\ud800", "é<U+D800>"),
        ("line\u2028line", "line<U+2028>line"),
        ("a\ufe0f\U000e0101", "a<U+FE0F><U+E0101>"),
    ],
)
def test_hidden_characters_are_shown(hidden, shown):
    """Escapes, bidi controls, zero-width, tags, selectors and surrogates become pictures."""
    assert visible(hidden).text == shown


@pytest.mark.parametrize(
    "text", ["", "plain\n\ttext", "Grüße, 世界", "👩‍🚒 and ❤️ and 👨‍👩‍👧 and 1️⃣", "e\u0301"]
)
def test_harmless_text_is_left_alone(text):
    """Ordinary text and whole emoji come back as they are, with nothing marked."""
    assert visible(text).text == text
    assert visible(text).marks == ()


@settings(deadline=None)
@given(ANYTHING)
def test_nothing_a_terminal_obeys_is_left(text):
    """No control, no surrogate and no format character but an emoji's joiner survives."""
    for character in visible(text).text:
        category = unicodedata.category(character)
        assert category not in {"Cc", "Cs", "Zl", "Zp"} or character in "\n\t"
        assert category != "Cf" or character == "\u200d" or not _hides(character)


def _hides(character):
    # Visible format characters: Arabic number signs and their like.
    return unicodedata.bidirectional(character) not in {"AN", "AL", "L", "NSM"}


@settings(deadline=None)
@given(ANYTHING)
def test_positions_map_back(text):
    """Unmarked characters map to themselves; marks cover exactly what was replaced."""
    shown = visible(text)
    marked = {i for start, end in shown.marks for i in range(start, end)}
    for position, character in enumerate(shown.text):
        origin = shown.origins.source(position)
        if position not in marked:
            assert text[origin] == character
            assert shown.origins.derived(origin) == position
    for start, end in shown.marks:
        assert (
            visible(text[shown.origins.source(start) : shown.origins.source(end)]).text
            == (shown.text[start:end])
        )


@settings(deadline=None)
@given(ANYTHING)
def test_what_is_visible_stays_as_it_is(text):
    """Making visible twice is making visible once."""
    once = visible(text).text
    assert visible(once).text == once
