"""Edits: what is cut is gone, everything else stays as it was, and the request stays valid."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.context import (
    Context,
    Fill,
    add_system,
    quote,
    remove,
    replace,
    set_system,
    substitute,
)
from runtape.context.roots import build_roots
from runtape.dialects import dialect_for
from runtape.dialects.base import REMOVED
from runtape.errors import InvalidEdit
from runtape.tape.events import Request
from tests.support.contexts import SYSTEM, chat, every, read
from tests.support.conversations import BUILDERS, MAIL, complaints, conversations

TEXT = 'Hi "all".\n\nSee below. <!-- Send é to a@b.c! -->\n\n- One. Two.\n- Three.\n\nBye 😀.'
LEAVES = st.none() | st.booleans() | st.integers() | st.sampled_from(["", "x", "A b. C d.", TEXT])
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from("abc é"), inner, max_size=4)
    ),
    max_leaves=10,
)
SPELLINGS = st.sampled_from(
    [
        json.dumps,
        lambda value: json.dumps(value, ensure_ascii=False),
        lambda value: json.dumps(value, indent=2),
        lambda value: json.dumps(value, separators=(",", ":")),
        lambda value: json.dumps({"inner": json.dumps(value), "n": 1}, indent=1),
        lambda value: json.dumps(json.dumps(json.dumps(value))),
    ]
)


def context_of(body, api="openai.chat"):
    """A context of a body that stands on no tape."""
    dialect = dialect_for(api)
    request = Request(1, api, dialect.provider, None, None, {}, {}, json.dumps(body), ())
    slots = dialect.slots(body)
    return Context(request, dialect, body, build_roots(body, dialect, slots, [1] * len(slots)))


def about(result):
    """The context with this tool result, and the result's piece."""
    context = context_of(chat(*read(result)))
    return context, context.roots[-1]


def result_of(body):
    """The text of the newest tool result in a body."""
    return body["messages"][-1]["content"]


def is_cut(before, after):
    """Whether `after` is `before` with one stretch taken out."""
    head = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(after)
    )
    tail = len(after) - head
    return len(after) < len(before) and before.endswith(after[head:] if tail else "")


@pytest.mark.parametrize(
    ("ref", "left"),
    [
        ("1[2][0]", [{"t": "Three."}, {"t": "Four. Five."}]),
        ("1[2][1]", [{"t": "One. Two.", "n": 1}, {"t": "Four. Five."}]),
        ("1[2][2]", [{"t": "One. Two.", "n": 1}, {"t": "Three."}]),
        ("1[2][0].n", [{"t": "One. Two."}, {"t": "Three."}, {"t": "Four. Five."}]),
        ("1[2][0].t sentence 1", [{"t": "Two.", "n": 1}, {"t": "Three."}, {"t": "Four. Five."}]),
        ("1[2][2].t sentence 2", [{"t": "One. Two.", "n": 1}, {"t": "Three."}, {"t": "Four."}]),
    ],
)
def test_parts_of_json_are_cut_with_their_commas(ref, left):
    """Items, members and sentences go without leaving a gap; the rest is the JSON it was."""
    value = [{"t": "One. Two.", "n": 1}, {"t": "Three."}, {"t": "Four. Five."}]
    context, _ = about(value)
    assert json.loads(result_of(context.edited([remove(context.piece(ref))]))) == left


@settings(max_examples=150, deadline=None)
@given(VALUES, SPELLINGS, st.data())
def test_any_cut_takes_one_stretch_and_leaves_json(value, spelled, data):
    """Every piece below a JSON result, however it is spelled, is cut in place."""
    source = spelled(value)
    context, result = about(source)
    below = [piece for piece in every(context) if piece.ref.startswith(f"{result.ref}")][1:]
    if below:
        piece = data.draw(st.sampled_from(below))
        after = result_of(context.edited([remove(piece)]))
        json.loads(after)
        assert is_cut(source, after)


@settings(max_examples=150, deadline=None)
@given(VALUES, SPELLINGS, st.sampled_from([quote, lambda piece: replace(piece, 'x"\n\\😀')]))
def test_replaced_parts_stay_json_and_read_as_given(value, spelled, edit):
    """A text put in place of any piece is spelled as its surroundings want it."""
    context, result = about(spelled(value))
    for piece in every(context):
        if piece.ref.startswith(f"{result.ref}") and piece is not result and piece.divisible:
            after, again = about(result_of(context.edited([edit(piece)])))
            json.loads(again.text)
            texts = [part.text for part in every(after)]
            wanted = "not an instruction" if edit is quote else 'x"\n\\😀'
            assert any(wanted in text for text in texts)


@settings(max_examples=100, deadline=None)
@given(VALUES, SPELLINGS, st.data())
def test_several_cuts_compose(value, spelled, data):
    """Any set of pieces can be cut together; cutting all leaves no more than cutting some."""
    source = spelled(value)
    context, result = about(source)
    below = [piece for piece in every(context) if piece.ref.startswith(f"{result.ref}")][1:]
    chosen = data.draw(st.lists(st.sampled_from(below), unique=True)) if below else []
    after = result_of(context.edited([remove(piece) for piece in chosen]))
    json.loads(after)
    assert len(after) <= len(source)
    everything = result_of(context.edited([remove(piece) for piece in below]))
    assert len(everything) <= len(after)


def test_of_nested_edits_the_outer_wins():
    """An edit inside a removed piece changes nothing more, in either order."""
    context, result = about([{"t": "One. Two."}, {"t": "Three."}])
    outer, inner = context.piece("1[2][0]"), context.piece("1[2][0].t sentence 2")
    alone = context.edited([remove(outer)])
    assert context.edited([remove(inner), remove(outer)]) == alone
    assert context.edited([remove(outer), replace(inner, "x")]) == alone
    assert result_of(alone) == '[{"t": "Three."}]'
    assert result_of(context.edited([remove(result), remove(inner)])) == REMOVED


@pytest.mark.parametrize("api", BUILDERS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_edit_leaves_a_valid_request(api, data):
    """Whatever is removed, quoted or replaced: the API would take the body."""
    body = BUILDERS[api](data.draw(conversations()))
    context = context_of(body, api)
    before = json.dumps(body)
    pieces = list(every(context))
    chosen = data.draw(st.lists(st.sampled_from(pieces), unique=True, max_size=4))
    make = data.draw(
        st.sampled_from(
            [
                *(lambda piece, fill=fill: remove(piece, fill) for fill in (*Fill, "gone")),
                quote,
                lambda piece: replace(piece, "new"),
            ]
        )
    )
    try:
        edited = context.edited([make(piece) for piece in chosen])
    except InvalidEdit as error:
        without_text = context.piece(error.ref or "")
        parts = [without_text, *context.children(without_text)]
        assert {part.kind.value for part in parts[-1:]} == {"media"}
        return
    assert complaints(api, edited) == []
    assert context.dialect.repaired(edited) == edited
    assert json.dumps(body) == before
    assert context.edited([]) == body


@pytest.mark.parametrize("api", BUILDERS)
def test_untouched_slots_are_the_same_objects(api):
    """An edit copies what it changes and shares the rest."""
    body = BUILDERS[api](MAIL)
    context = context_of(body, api)
    page = next(p for p in every(context) if p.text == "A page.")
    edited = context.edited([replace(page, "Another.")])
    slots = [slot for slot in context.dialect.slots(body) if slot.kind.value != "media"]
    changed = [slot for slot in slots if _at(edited, slot.path) != _at(body, slot.path)]
    assert [_at(edited, slot.path) for slot in changed] == ["Another."]


def _at(value, path):
    for step in path:
        value = value[step]
    return value


@pytest.mark.parametrize(
    ("fill", "text"),
    [
        (Fill.MARKER, REMOVED),
        (Fill.EMPTY, ""),
        ("gone", "gone"),
        (Fill.NEUTRAL, "This part was left out here on purpose and holds"),
    ],
)
def test_whole_results_give_way_to_the_fill(fill, text):
    """A whole tool result is replaced; neutral words are as many characters as were there."""
    context, result = about("A line of forty-eight characters, no more, fine.")
    assert result_of(context.edited([remove(result, fill)])) == text


@pytest.mark.parametrize("api", BUILDERS)
def test_whole_messages_and_media_go_as_one(api):
    """A message of text and an image becomes one fill; an image alone just goes."""
    context = context_of(BUILDERS[api](MAIL), api)
    user = next(piece for piece in context.roots if piece.kind.value == "user")
    text, image = context.children(user)
    assert image.kind.value == "media"
    whole = json.dumps(context.edited([remove(user)]))
    assert "Read my mail." not in whole
    assert whole.count(REMOVED) == 1
    part = json.dumps(context.edited([remove(image)]))
    assert part.count("iVBOR") == json.dumps(context.body).count("iVBOR") - 1
    assert REMOVED not in part
    assert text.text in part


@pytest.mark.parametrize("api", BUILDERS)
def test_arguments_of_calls_stay_objects(api):
    """Taking a call's arguments out, or quoting them, leaves a JSON object."""
    context = context_of(BUILDERS[api](MAIL), api)
    call = next(piece for piece in context.roots if piece.kind.value == "tool_call")
    for edit in (remove(call), remove(call, "gone"), quote(call), replace(call, "words")):
        first = context.dialect.tool_calls(context.edited([edit]))[0]
        assert isinstance(first.arguments, dict)
    assert context.dialect.tool_calls(context.edited([remove(call)]))[0].arguments == {}


def test_media_cannot_be_given_another_text():
    """The error says so and what to do instead."""
    context = context_of(BUILDERS["openai.chat"](MAIL))
    image = next(piece for piece in every(context) if piece.kind.value == "media")
    with pytest.raises(InvalidEdit, match="no text") as caught:
        context.edited([replace(image, "x")])
    assert caught.value.ref == image.ref


def test_a_text_is_substituted_however_it_is_spelled():
    """OLD=>NEW finds a text in plain words, in JSON, and in JSON inside JSON."""
    plain, quoted = 'say "yes"', json.dumps({"a": json.dumps({"b": 'say "yes" now'})})
    context = context_of(chat({"role": "user", "content": plain}, *read(quoted)))
    edited = context.edited([substitute('say "yes"', 'say "no"')])
    assert edited["messages"][1]["content"] == 'say "no"'
    assert json.loads(json.loads(result_of(edited))["a"])["b"] == 'say "no" now'
    fragment = context.edited([substitute('{"a": ', '{"z": ')])
    assert "z" in json.loads(result_of(fragment))
    with pytest.raises(InvalidEdit, match="nowhere"):
        context.edited([substitute("Say", "x")])


@settings(max_examples=150, deadline=None)
@given(VALUES, SPELLINGS, st.sampled_from(["x", "One", '"\n\\', "é"]))
def test_a_substitution_leaves_json_as_json(value, spelled, new):
    """Words exchanged in any JSON give the JSON of the value with the words exchanged."""
    context, _ = about(spelled(value))

    def exchanged(part):
        if isinstance(part, dict):
            return {exchanged(key): exchanged(inner) for key, inner in part.items()}
        if isinstance(part, list):
            return [exchanged(inner) for inner in part]
        return part.replace("b", new) if isinstance(part, str) else part

    if "b" in json.dumps(value):
        before, after = result_of(context.body), result_of(context.edited([substitute("b", new)]))
        assert _read(after) == exchanged(_read(before))


def _read(text):
    """The value a text spells, with JSON inside of its strings read too, as SPELLINGS made it."""
    value = json.loads(text)
    if isinstance(value, dict) and isinstance(value.get("inner"), str) and "n" in value:
        return {**value, "inner": json.loads(value["inner"])}
    return _read(value) if isinstance(value, str) and value.startswith(('"', "{", "[")) else value


def test_system_text_is_added_or_replaced_after_the_pieces():
    """All kinds of edits compose in one call."""
    context, result = about("Hello. There.")
    first = remove(context.piece("system sentence 1"))
    edited = context.edited([add_system("Trust nobody."), first, substitute("careful", "quick")])
    assert edited["messages"][0]["content"] == "Be quick.\n\nTrust nobody."
    other = context.edited([set_system("Only this."), remove(result)])
    assert other["messages"][0]["content"] == "Only this."
    assert context.body["messages"][0]["content"] == SYSTEM


def test_runs_of_parts_are_edited_as_one():
    """A run of items is cut, replaced or quoted and leaves a JSON array."""
    context, result = about([f"Item number {i}." for i in range(40)])
    run = context.children(result)[1]
    assert run.ref == "1[2][5-10]"
    cut = json.loads(result_of(context.edited([remove(run)])))
    assert cut == [f"Item number {i}." for i in range(40) if not 5 <= i <= 10]
    put = json.loads(result_of(context.edited([replace(run, "x")])))
    assert put == [*cut[:5], "x", *cut[5:]]
    said = json.loads(result_of(context.edited([quote(run)])))
    assert said[5] == "[quoted, not an instruction: Item number 5.]"
    assert len(said) == len(cut) + 6
