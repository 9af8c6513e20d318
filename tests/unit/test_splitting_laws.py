"""What holds for every text, however it is split."""

from __future__ import annotations

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.context.splitting import Shape, split
from runtape.context.splitting.parts import bears
from runtape.context.splitting.views import View

_MARKS = re.compile(r"<!--|-->|<!\[CDATA\[|<[^<>]*>|Doc\(")
_FRAGMENTS = [
    "Pay the bill.", "pay it now!", "Really?! yes", "Dr. Smith", "e.g. this", "3.14", "a@b.com",
    "https://x.org/a.b",
    "彼は行った。", "なぜ？", "é", "😀", "word", "IMPORTANT:", "key: value", "Subject: hello there",
    " ", " ", "\n", "\n", "\n\n", "\r\n", "\t", "\u2028", "\xa0",
    "- ", "* ", "1. ", "(a) ", "> ", "# ", "## ", "```", "```py\n", "~~~", "---",
    "| a | b |", "|---|---|",
    "<p>", "</p>", "<b>", "</b>", "<br>", "<!-- ", " -->", "<INFORMATION>", "</INFORMATION>",
    '<img alt="do this now">', "<", ">", "&amp;",
    '{"a": "b. c", "d": null}', '["x", "y. z", 1]', "{'k': 'v. w'}", "Doc(text='a. b', n=1)",
    "# note",
    "[", "]", "{", "}",
    '"', "'", ",", ":", "\\n", "\\",
    "2024-01-01 10:00:00 INFO started", "[WARN] disk", "a,b,c", "1,2,3", "def f(x):",
    "    return x", "  ",
    "name: x\n", "- id: 1\n  text: foo. bar\n", "''", "\ud800",
]  # fmt: skip

texts = st.lists(st.sampled_from(_FRAGMENTS), max_size=14).map("".join) | st.text(max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
documents = (
    texts | values.map(json.dumps) | values.map(repr) | texts.map(json.dumps).map(json.dumps)
)


def levels(text):
    """Every view of the text with its split, from the outside in."""
    waiting = [(View(text), Shape.TEXT, 0)]
    while waiting:
        view, shape, depth = waiting.pop()
        found = split(view.text, shape)
        if found is None:
            continue
        yield view, found
        for part in found.parts:
            same = part.inner == (0, len(view.text)) and part.shape is shape and not part.codec
            if part.step is not None and not same and depth < 12:
                waiting.append((view.opened(*part.inner, part.codec), part.shape, depth + 1))


@settings(max_examples=400, deadline=None)
@given(documents)
def test_parts_are_ordered_disjoint_and_inside(text):
    """Parts follow one another and stay inside the text; what is read of a part lies in it."""
    for view, found in levels(text):
        done = 0
        for part in found.parts:
            assert done <= part.start < part.end <= len(view.text)
            assert part.start <= part.inner[0] <= part.inner[1] <= part.end
            done = part.end


@settings(max_examples=400, deadline=None)
@given(documents)
def test_parts_cover_every_word(text):
    """Between the parts stands nothing but space, punctuation, tags and class names."""
    for view, found in levels(text):
        rest, done = [], 0
        for part in found.parts:
            rest.append(view.text[done : part.start])
            done = part.end
        rest.append(view.text[done:])
        assert not bears(_MARKS.sub(" ", "\n".join(rest))), (view.text, found)


@settings(max_examples=400, deadline=None)
@given(documents)
def test_cutting_all_parts_leaves_no_word(text):
    """Nothing but places of empty values, space, punctuation and tags is left."""
    for view, found in levels(text):
        left, done = [], 0
        live = [at for at, part in enumerate(found.parts) if part.step is not None]
        kept = [part for part in found.parts if part.step is None]
        for start, end in found.cuts(view.text, live):
            left.append(view.text[done:start])
            done = end
        left.append(view.text[done:])
        result = "".join(left)
        for part in kept:
            result = result.replace(view.text[part.start : part.end], "", 1)
        assert not bears(_MARKS.sub(" ", result)), (view.text, found)


@settings(max_examples=400, deadline=None)
@given(documents)
def test_steps_are_unique(text):
    """No two parts of a text have the same address."""
    for _, found in levels(text):
        steps = [part.step for part in found.parts if part.step is not None]
        assert len(steps) == len(set(steps))


@settings(max_examples=400, deadline=None)
@given(documents)
def test_views_map_to_where_they_stand(text):
    """What stands at a view's place in its surroundings, decoded, is the view's text."""
    for view, found in levels(text):
        for part in found.parts:
            inner = view.opened(*part.inner, part.codec)
            source = text[inner.source(0) : inner.source(len(inner.text))]
            assert len(source) >= len(inner.text.replace("\n", "")) or part.codec is not None
            outer = view.text[slice(*part.inner)]
            again = View(outer).opened(0, len(outer), part.codec)
            assert again.text == inner.text


@settings(max_examples=200, deadline=None)
@given(texts)
def test_json_strings_decode_as_the_standard_library_does(text):
    """What a JSON string spells is what json.loads says, and its positions lead back to it."""
    for source in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
        found = split(source, Shape.DOCUMENT)
        if found is None or not found.parts or found.parts[0].codec is None:
            continue
        view = View(source).opened(*found.parts[0].inner, found.parts[0].codec)
        assert view.text == text
        for at in range(len(text)):
            spelled = source[view.source(at) : view.source(at + 1)]
            assert json.loads(f'"{spelled}"') == text[at]
