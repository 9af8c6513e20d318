"""Refs: printed, parsed, not found."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.context.refs import Counted, Index, Key, Ref, Word, parse
from runtape.errors import RefNotFound

counts = st.integers(0, 10**12)
steps = (
    st.builds(Key, st.text(st.characters(codec=None)), st.integers(1, 99))
    | st.builds(Index, counts, st.none() | counts)
    | st.builds(Counted, st.sampled_from(Word), counts, st.none() | counts)
)
refs = st.builds(
    Ref, counts | st.sampled_from(["system", "tools"]), st.lists(steps, max_size=6).map(tuple)
)


@settings(deadline=None)
@given(refs)
def test_parsing_undoes_printing(ref):
    """parse(print(a)) = a, whatever names occur."""
    assert parse(str(ref)) == ref


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("system", Ref("system")),
        ("9", Ref(9)),
        ("9[1].text", Ref(9, (Index(1), Key("text")))),
        ("12.body para 4", Ref(12, (Key("body"), Counted(Word.PARA, 4)))),
        (
            "tools.forward_email.parameters.to.description",
            Ref("tools", tuple(map(Key, ["forward_email", "parameters", "to", "description"]))),
        ),
        ('7["odd name"]#2[3-9]', Ref(7, (Key("odd name", 2), Index(3, 9)))),
        ("3 line 1-16", Ref(3, (Counted(Word.LINE, 1, 16),))),
    ],
)
def test_refs_read_as_documented(text, ref):
    """The forms of the grammar, both ways."""
    assert parse(text) == ref
    assert str(ref) == text


@pytest.mark.parametrize(
    "text",
    ["", "x", "-1", "9.", "9[", "9[a]", '9["a', "9 para", "9 verse 1", "9 para 01", "9 ", "٣"],
)
def test_other_texts_are_no_refs(text):
    """What the grammar does not have is refused with an example."""
    with pytest.raises(RefNotFound, match=r"not the address") as caught:
        parse(text)
    assert caught.value.ref == text
