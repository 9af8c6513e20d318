"""Printed values, YAML and tables, measured against the libraries that write and read them."""

from __future__ import annotations

import ast
import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.context.refs import Counted, Index, Key, Word
from runtape.context.splitting import Shape, split
from runtape.context.splitting.parts import bears
from runtape.context.splitting.views import View

_WORDS = st.lists(
    st.sampled_from(
        [
            *("Hello", "it's", '"so"', "key: v", "#x", "- dash", "Pay the invoice.", "<!-- x -->"),
            *("é", "😀", "line\nbreak", "para\n\nbreak", "\ttab", "end ", "100", "true", "[a]"),
            *("{b}", "\\", "\\n", "%", "&amp", "*", "|", ">", "!", "   spaces", "x: 'y'", "'", "$"),
        ]
    ),
    min_size=1,
    max_size=8,
).map(" ".join)
_TEXTS = _WORDS.filter(bears)
_RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.integers(),
            "subject": _TEXTS,
            "to": st.lists(_TEXTS, max_size=3),
            "meta": st.fixed_dictionaries({"a": _TEXTS, "b": st.none()}),
        }
    ),
    min_size=1,
    max_size=3,
)


def parts_of(value, view, shape=Shape.TEXT, path=()):
    """Every part of a printed value: its path, itself, its split and view, its text."""
    found = split(view.text, shape)
    for part in found.parts if found else ():
        if isinstance(part.step, Key | Index):
            key = part.step.name if isinstance(part.step, Key) else part.step.first
            inner = view.opened(*part.inner, part.codec)
            yield (*path, key), part, found, view, inner.text
            if isinstance(value[key], dict | list):
                yield from parts_of(value[key], inner, part.shape, (*path, key))


def texts_in(value, path=()):
    """Every text of a value with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts_in(inner, (*path, key))


def without(value, path):
    """The value without what stands at a path."""
    key, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copy[key] = without(copy[key], rest)
    else:
        del copy[key]
    return copy


def cut(source, view, found, part):
    """The outermost source with one part cut."""
    for start, end in reversed(found.cuts(view.text, [found.parts.index(part)])):
        source = source[: view.source(start)] + source[view.source(end) :]
    return source


def check(value, source, read):
    """All texts are found with what they say, and whatever is cut is all that is gone."""
    found = list(parts_of(value, View(source)))
    read_texts = {path: text for path, *_, text in found}
    for path, text in texts_in(value):
        assert read_texts[path].strip() == text.strip()
    for path, part, divided, view, _ in found:
        if sum(other.step is not None for other in divided.parts) > 1:
            assert read(cut(source, view, divided, part)) == without(value, path)


@settings(max_examples=120, deadline=None)
@given(_RECORDS)
def test_printed_values_are_divided_as_python_reads_them(value):
    """repr() of nested values: every string is found; a cut leaves the value without the part."""
    check(value, repr(value), ast.literal_eval)


@settings(max_examples=120, deadline=None)
@given(_RECORDS, st.booleans(), st.sampled_from([40, 80, 1000]))
def test_yaml_is_divided_as_yaml_reads_it(value, readable, width):
    """Dumped YAML, folded and quoted as its library likes: strings are found, cuts leave YAML."""
    yaml = pytest.importorskip("yaml")
    source = yaml.safe_dump(value, allow_unicode=readable, width=width, sort_keys=False)
    check(value, source, yaml.safe_load)


_CELLS = st.sampled_from(["Pay it.", 'so "x", y', "a\nb", "1", "", "é. ü", "it's;", "x|y"])


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(_CELLS, _CELLS, _CELLS), min_size=3, max_size=6))
def test_csv_is_divided_as_csv_reads_it(rows):
    """Rows and cells are those of the csv module; a cut cell is empty, a cut row is gone."""
    rows = [("id", *row) for row in rows]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    source = out.getvalue()
    found = split(source)
    assert [part.step for part in found.parts] == [
        Counted(Word.ROW, number + 1) for number in range(len(rows))
    ]
    for number, part in enumerate(found.parts):
        left = cut(source, View(source), found, part)
        assert read_csv(left) == [row for at, row in enumerate(rows) if at != number]
        view = View(source).opened(*part.inner, part.codec)
        cells = split(view.text, part.shape)
        for cell in cells.parts:
            column = cell.step.first - 1
            inner = view.opened(*cell.inner, cell.codec)
            assert inner.text.strip() == rows[number][column].strip()
            changed = read_csv(cut(source, view, cells, cell))[number]
            assert changed == (*rows[number][:column], "", *rows[number][column + 1 :])


def read_csv(source):
    """The rows of a CSV text."""
    return [tuple(row) for row in csv.reader(io.StringIO(source)) if row]
