"""Any value becomes JSON without harm, and most become themselves again."""

from __future__ import annotations

import collections
import datetime as dt
import enum
import math
import subprocess
import threading
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from runtape.jsonio import dumps, loads
from runtape.recording.values import Inexact, describe_error, encode, restored


@dataclass(frozen=True)
class Pot:
    """A dataclass with values JSON does not know."""

    name: str
    price: Decimal
    marks: tuple[int, ...] = ()
    parts: list[Any] = field(default_factory=list)


class Glaze(NamedTuple):
    """A named tuple."""

    colour: str
    heat: float


class Stage(enum.Enum):
    """An enum."""

    RAW = "raw"
    FIRED = ("fired", 1200)


class Order(BaseModel):
    """A pydantic model."""

    id: int
    due: dt.date


keys = st.text(max_size=5) | st.integers() | st.booleans() | st.none() | st.tuples(st.integers())
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=8)
    | st.decimals(allow_nan=False)
    | st.datetimes()
    | st.dates()
    | st.times()
    | st.timedeltas()
    | st.uuids()
    | st.complex_numbers(allow_nan=False)
    | st.builds(bytearray, st.binary(max_size=4))
    | st.sampled_from(Stage)
    | st.builds(Glaze, st.text(max_size=3), st.floats(allow_nan=False))
    | st.frozensets(st.integers(), max_size=3)
    | st.builds(PurePosixPath, st.sampled_from(["/a/b", "c"]))
    | st.builds(Order, id=st.integers(0, 9), due=st.dates())
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(keys, inner, max_size=3)
        | st.builds(Pot, st.text(max_size=3), st.decimals(allow_nan=False), parts=st.lists(inner))
    ),
    max_leaves=8,
)


@given(values)
def test_values_survive_the_tape(value):
    """Encoded, written, read and restored, a value equals itself, types included."""
    encoded, tags = loads(dumps(list(encode(value))))
    again = restored(encoded, tags)
    assert again == value
    assert type(again) is type(value)


@given(st.recursive(st.none() | st.booleans() | st.text(), st.lists, max_leaves=6))
def test_plain_json_needs_no_tags(value):
    """What JSON can say by itself is said without tags."""
    assert encode(value) == (value, [])


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none(number):
    """NaN and the infinities are recorded as what they are, not as null."""
    encoded, tags = encode([number])
    assert isinstance(encoded[0], str)
    assert repr(restored(encoded, tags)) == repr([number])


@pytest.mark.parametrize("number", [2**64, -(2**70), 10**5000], ids=["64", "70", "16610"])
def test_huge_integers(number):
    """Integers beyond 64 bits, and beyond what Python prints, survive."""
    encoded, tags = loads(dumps(list(encode({"n": number}))))
    assert restored(encoded, tags) == {"n": number}


def test_lone_surrogates():
    """Half a character is kept."""
    encoded, tags = loads(dumps(list(encode({"\ud800": "a\udfff"}))))
    assert restored(encoded, tags) == {"\ud800": "a\udfff"}


def test_nothing_is_consumed():
    """Generators, iterators and files are described, not read."""
    items = (n for n in range(3))
    encoded, tags = encode({"items": items, "more": iter([1])})
    assert "generator" in encoded["items"]
    assert list(items) == [0, 1, 2]
    assert {tag["as"] for tag in tags} == {"repr"}


def test_cycles_and_depth():
    """A value that contains itself, or nests without end, has an end on the tape."""
    loop: list[Any] = [1]
    loop.append({"self": loop})
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for value in (loop, deep):
        loads(dumps(encode(value).value))


def test_very_many_nodes():
    """A value that shares its parts a billion times over does not blow up."""
    value: list[Any] = [1]
    for _ in range(40):
        value = [value, value]
    assert len(dumps(encode(value).value)) < 50_000_000


class Hostile:
    """Raises at everything."""

    def __repr__(self):
        raise RuntimeError("no repr")

    def __getattr__(self, name):
        raise RuntimeError("no attributes")

    def __eq__(self, other):
        raise RuntimeError("no comparing")

    __hash__ = None


class Meddling(dict):
    """A dict whose items raise."""

    def items(self):
        raise RuntimeError("no items")

    def keys(self):
        raise RuntimeError("no keys")


class Liar(BaseModel):
    """A model that cannot be dumped."""

    def model_dump(self, **_):
        raise RuntimeError("no dump")


@pytest.mark.parametrize(
    "value",
    [
        Hostile(),
        Meddling(a=1),
        Liar(),
        threading.Lock(),
        Hostile,
        object,
        len,
        ...,
        type("T", (), {})(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_objects_that_resist(value):
    """Whatever an object does when looked at, it is written as something."""
    encoded, tags = encode([1, value, {"k": value}])
    dumps(encoded)
    assert encoded[0] == 1
    with pytest.raises(Inexact):
        restored(encoded, tags)


def test_likenesses_are_marked():
    """Subclasses of JSON's types are recorded as these, and known to be only alike."""
    encoded, tags = encode(collections.OrderedDict(b=1, a=2))
    assert encoded == {"b": 1, "a": 2}
    assert [tag["as"] for tag in tags] == ["inexact"]


def test_no_class_is_imported_for_a_tape():
    """A class is taken from what is loaded; a tape cannot make a process import something."""
    with pytest.raises(Inexact, match="not loaded"):
        restored({}, [{"at": [], "as": "dataclass", "class": "antigravity:Thing"}])


def test_tags_can_be_made_for_a_place_in_a_larger_value():
    """Items of a list encoded one by one restore as the list of them."""
    items, tags = [], []
    for n, item in enumerate([(1, 2), Decimal(3), "x"]):
        value, found = encode(item, (n,))
        items.append(value)
        tags += found
    assert restored(items, tags) == [(1, 2), Decimal(3), "x"]


def test_errors_are_described():
    """Type, message and class; a message that cannot be had is empty."""

    class Mute(Exception):  # noqa: N818 - a name for a test
        def __str__(self):
            raise RuntimeError

    assert describe_error(KeyError("pot")) == {
        "type": "KeyError",
        "message": "'pot'",
        "class": "builtins:KeyError",
    }
    assert describe_error(Mute())["message"] == ""


def test_a_readable_form():
    """The JSON form is what a person would write."""
    pot = Pot("mug", Decimal("7.50"), (1, 2))
    assert encode(pot).value == {"name": "mug", "price": "7.50", "marks": [1, 2], "parts": []}
    assert encode(UUID(int=7)).value == "00000000-0000-0000-0000-000000000007"


@pytest.mark.parametrize("name", ["enum", "path", "dataclass", "namedtuple", "pydantic", "odd"])
def test_a_tape_cannot_have_any_class_called(name):
    """A tag that names a class of another sort, such as one that starts processes, is refused."""
    tags = [{"at": [], "as": name, "class": "subprocess:Popen"}]
    with pytest.raises(Inexact):
        restored(["true"], tags, find_class=lambda _: subprocess.Popen)
