"""The bench without a screen: what is changed, the rerun and the command that makes of it."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.attribution.options import RerunOptions
from runtape.context import Context, Fill, remove, replace, set_system
from runtape.demo.agent import record_inbox
from runtape.reports.commands import Suggestion
from runtape.workbench import open_trace
from runtape.workbench.changes import changed_body
from runtape_tui.view_models.editable import editable, edited
from runtape_tui.view_models.whatif import Bench

SENTENCE = "12.body para 4 sentence 1"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    """What the model saw when it forwarded the mail."""
    trace = open_trace(record_inbox(tmp_path_factory.mktemp("traces")))
    return trace.context("tool:forward_email")


@pytest.fixture
def bench(context) -> Bench:
    """An empty bench."""
    return Bench(context)


def number(bench: Bench, ref: str) -> int:
    """The id of the piece with a ref."""
    return bench.context.piece(ref).id


def body(bench: Bench) -> object:
    """The request that the rerun would send."""
    return changed_body(bench.context, RerunOptions(**bench.fields(Fill.MARKER)))


def test_rows_are_the_pieces_and_the_parts_of_what_is_opened(bench):
    """Enter opens a piece; a piece without parts stays as it is."""
    assert [row.depth for row in bench.rows] == [0] * len(bench.context.roots)
    twelve = bench.context.piece("12")
    assert bench.fold(twelve)
    inside = [row for row in bench.rows if row.parent is twelve]
    assert [row.piece.ref for row in inside] == ["12.id", "12.from", "12.subject", "12.body"]
    assert bench.fold(twelve)
    assert not bench.fold(bench.context.piece("1"))


def test_a_deep_piece_is_revealed(bench):
    """Coming from the heatmap, the sentence is listed with all that is around it."""
    bench.reveal(number(bench, SENTENCE))
    assert SENTENCE in [row.piece.ref for row in bench.rows]


def test_space_takes_out_and_puts_back(bench):
    """A part of what is out is out with it; putting it back puts the whole back."""
    outer, inner = number(bench, "12"), number(bench, SENTENCE)
    bench.toggle(outer)
    assert bench.outermost_off(inner) == outer
    assert bench.words() == ["without 12"]
    bench.toggle(inner)
    assert not bench.changed


def test_taking_out_is_a_drop(bench):
    """The request is that of `--drop`, and of the edit itself."""
    piece = bench.context.piece(SENTENCE)
    bench.toggle(piece.id)
    assert bench.options("x") == ["--drop", SENTENCE]
    assert body(bench) == bench.context.edited([remove(piece)])


def test_parts_of_what_is_out_are_not_named_again(bench):
    """The outer one says it."""
    bench.toggle(number(bench, SENTENCE))
    bench.toggle(number(bench, "12"))
    assert bench.options("x") == ["--drop", "12"]
    assert body(bench) == bench.context.edited([remove(bench.context.piece("12"))])


def test_an_edit_is_a_replacement(bench):
    """The request is that of `--replace`, and of the edit itself; the command survives a shell."""
    piece = bench.context.piece(SENTENCE)
    bench.edit(piece.id, "Please 'file' it. Thanks — and $HOME stays.")
    options = bench.options("x")
    assert options == ["--replace", f"{piece.text}=>{bench.texts[piece.id]}"]
    assert body(bench) == bench.context.edited([replace(piece, bench.texts[piece.id])])
    command = " ".join(Suggestion("", ("runtape", "rerun", *options)).lines(10_000))
    assert shlex.split(command)[2:] == options


def test_an_edit_back_is_none(bench):
    """The recorded text is no change."""
    piece = bench.context.piece(SENTENCE)
    bench.edit(piece.id, "Something else.")
    bench.edit(piece.id, piece.text)
    assert not bench.changed


def test_editing_puts_back_what_was_out(bench):
    """Whoever writes a text wants it to be seen."""
    piece = number(bench, SENTENCE)
    bench.toggle(piece)
    bench.edit(piece, "Something else.")
    assert bench.words() == [f"{SENTENCE} says “Something else.”"]


@pytest.mark.parametrize("text", ["2", "a=>b"])
def test_what_no_option_says_is_still_run(bench, text):
    """A text that stands in several places has no command, but the rerun changes just this one."""
    piece = bench.context.piece("12.id")
    bench.edit(piece.id, "77")
    if text == "a=>b":
        bench.edit(number(bench, "12.subject"), "Invoice => 4471")
    bench.toggle(number(bench, "4"))
    assert bench.options("x") is None
    made = [replace(bench.context.by_id(n), t) for n, t in bench.texts.items()]
    assert body(bench) == bench.context.edited([*made, remove(bench.context.piece("4"))])


def test_prompt_and_model(bench):
    """Another system prompt comes from a file, another model by its name."""
    bench.system = "You are terse."
    bench.model = "m-9"
    assert bench.options("p.txt") == ["--system-file", "p.txt", "--model", "m-9"]
    sent = body(bench)
    assert sent["model"] == "m-9"
    expected = bench.context.edited([set_system("You are terse.")])
    assert sent["messages"] == expected["messages"]
    assert bench.words() == ["system prompt “You are terse.”", "model m-9"]
    bench.clear()
    assert not bench.changed


@given(st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("\x1b\u202e\u200b\ud800"))))
def test_a_text_in_a_field_comes_back_as_it_was(text):
    """Hidden characters are spelled out, and nothing else is touched."""
    field = editable(text)
    assert field is None or edited(field) == text
    if field is not None:
        assert "\x1b" not in field
        assert "\u202e" not in field


def test_words_that_look_like_hidden_characters_are_left_to_another_editor():
    """``<U+202E>`` typed by somebody is not to become the character itself."""
    assert editable("say <U+202E> and go") is None
    assert editable("tab\tand\nline") == "tab\tand\nline"
