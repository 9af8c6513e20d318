"""Hostile texts: nothing a stranger writes may hang, crash or hide words from the splitters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.context.nodes import grow
from runtape.context.splitting import Shape, split
from runtape.context.splitting.sentences import sentences
from runtape.context.splitting.views import View

_REPEATED = [
    "[", "{", "(", "<", "<a ", "<div>", "</div>", "<!--", "<a x='", '="a b" ', '"', "'", "`", "‘",
    "```\n", "# a\n", "> ", "- ", "-- ", "- - \n", "- a: b\n", " ", "\t", "\n", "!", "... ", "1. ",
    "(a. ", "|", "a,b\n", "**", '{"a":', "{'a':", "f(", "a = 1\n", "\\", "\\n", "<b> ", "]", "},",
]  # fmt: skip


@pytest.mark.parametrize("unit", _REPEATED)
@pytest.mark.parametrize(("before", "after"), [("", "a"), ("<p>", "</p>"), ("- a: '", "'\n  b: c")])
def test_repetition_takes_linear_time(unit, before, after):
    """A short text repeated to 60 kB is divided at once: quadratic work would be felt here."""
    grow(View(before + unit * (60_000 // len(unit)) + after), Shape.TEXT)


def test_nested_documents_end_somewhere():
    """Nesting beyond what the parser takes is left undivided; JSON in JSON in JSON is not."""
    assert split("[" * 100_000 + "]" * 100_000) is None
    deep = "[" * 60 + '"One here. Two here."' + "]" * 60
    levels, view, shape = 0, View(deep), Shape.TEXT
    while inside := grow(view, shape).inside:
        part = inside.split.parts[0]
        view, shape = inside.view.opened(*part.inner, part.codec), part.shape
        levels += 1
    assert view.text == "One here."
    assert levels < 10


_ANY = st.text(
    st.characters(codec=None) | st.sampled_from(" .!?\n\r\t\"'()«»`。：\u2028\u3000\x85\ud800é1")
)


@settings(max_examples=300, deadline=None)
@given(_ANY, st.integers(0, 5))
def test_sentences_take_any_text(text, start):
    """The segmenter's own failures (space of several bytes, lone surrogates) never come through."""
    done = start = min(start, len(text))
    for first, last in sentences(text, start, len(text)):
        assert done <= first < last <= len(text)
        assert not text[done:first].strip()
        done = last
    assert not text[done:].strip()
