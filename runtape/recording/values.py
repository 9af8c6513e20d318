"""Any Python value as JSON, with what is needed to make it that value again.

The JSON form is what a reader wants to see: a dataclass is an object of its fields, a tuple a list.
What JSON cannot tell apart is noted beside it, as a list of tags, innermost places first::

    encode((1, Decimal("2.50")))  →  [1, "2.50"]
                                     [{"at": [1], "as": "decimal"}, {"at": [], "as": "tuple"}]

Iterators are never consumed, and no object is trusted: what cannot be written becomes its ``repr``,
tagged ``repr``, and the recorder goes on.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import math
import sys
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, NamedTuple
from uuid import UUID

from runtape.jsonio import Json

_DEEPEST = 60
"""Nesting beyond this is written as its repr: far below every JSON reader's limit."""
_MOST = 100_000
"""Nodes of one value beyond which the rest is written as its repr."""
_LONGEST_REPR = 2_000
_WIDEST_INT = 1 << 64
"""JSON readers in other languages lose larger integers; they are written as text."""


class Encoded(NamedTuple):
    """A value's JSON form, and the tags :func:`restored` needs: none when JSON says it all."""

    value: Any
    tags: list[Json]


class Inexact(ValueError):  # noqa: N818 - reads as what it says
    """A value was recorded as its repr, or its class is not loaded: it cannot be made again."""


def encode(value: Any, at: tuple[str | int, ...] = ()) -> Encoded:
    """The JSON form of any value; never raises for what a value is or does when looked at.

    `at` is where the value is going to stand within a larger one that the tags are meant for.
    """
    encoder = _Encoder()
    return Encoded(encoder.encode(value, at), encoder.tags)


def class_name(cls: type) -> str:
    """``module:QualName`` of a class, as it stands in tags."""
    return f"{cls.__module__}:{cls.__qualname__}"


def describe_error(error: BaseException) -> Json:
    """Type, message and class of an exception; never raises."""
    kind = type(error)
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a message may be computed by anything
        message = ""
    return {"type": kind.__name__, "message": message, "class": class_name(kind)}


def loaded_class(name: str) -> type:
    """The class of that name, from modules loaded already: a file never makes a process import.

    Raises Inexact when there is none.
    """
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type):
        raise Inexact(f"the class {name} is not loaded")
    return found


def restored(
    value: Any, tags: list[Json], *, find_class: Callable[[str], type] = loaded_class
) -> Any:
    """The value :func:`encode` was given; `value` is used up. Raises Inexact when impossible."""
    box = [value]
    for tag in tags:
        holder: Any = box
        place: Any = 0
        for step in tag["at"]:
            holder, place = holder[place], step
        holder[place] = _restore_one(tag, holder[place], find_class)
    return box[0]


class _Encoder:
    """One value's walk. `tags` come children first, so that restoring in order works inside out."""

    def __init__(self) -> None:
        self.tags: list[Json] = []
        self._nodes = 0
        self._open: set[int] = set()

    def encode(self, value: Any, at: tuple[str | int, ...]) -> Any:
        kind = type(value)
        if kind in (str, bool, type(None)) or (kind is int and -_WIDEST_INT < value < _WIDEST_INT):
            return value
        if kind is float and math.isfinite(value):
            return value
        self._nodes += 1
        if self._nodes > _MOST or len(at) >= _DEEPEST or id(value) in self._open:
            return self._as_repr(value, at)
        self._open.add(id(value))
        kept = len(self.tags)
        try:
            return self._encode_one(value, kind, at)
        except Exception:  # noqa: BLE001 - whatever a foreign object does when looked at
            del self.tags[kept:]
            return self._as_repr(value, at)
        finally:
            self._open.discard(id(value))

    def _encode_one(self, value: Any, kind: type, at: tuple[str | int, ...]) -> Any:
        if kind is list:
            return [self.encode(item, (*at, i)) for i, item in enumerate(value)]
        if kind is dict:
            return self._mapping(value, at)
        if kind in _ATOMS:
            name, write, _ = _ATOMS[kind]
            return self._tagged(at, name, write(value))
        if kind in _COLLECTIONS:
            items = [self.encode(item, (*at, i)) for i, item in enumerate(value)]
            return self._tagged(at, _COLLECTIONS[kind], items)
        return self._instance(value, kind, at)

    def _instance(self, value: Any, kind: type, at: tuple[str | int, ...]) -> Any:
        if isinstance(value, Enum):
            return self._tagged(at, "enum", self.encode(value.value, at), kind)
        if isinstance(value, PurePath):
            return self._tagged(at, "path", str(value), kind)
        if dataclasses.is_dataclass(kind):
            names = [field.name for field in dataclasses.fields(kind)]
            content = self._mapping({name: getattr(value, name) for name in names}, at)
            return self._tagged(at, "dataclass", content, type(value))
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            named = dict(zip(kind._fields, value, strict=True))
            return self._tagged(at, "namedtuple", self._mapping(named, at), kind)
        if hasattr(kind, "model_dump") and hasattr(kind, "model_validate"):
            return self._tagged(at, "pydantic", value.model_dump(mode="json", warnings=False), kind)
        return self._near(value, kind, at)

    def _near(self, value: Any, kind: type, at: tuple[str | int, ...]) -> Any:
        """Subclasses of what JSON knows are written as that, tagged as not exact; else the repr."""
        for base in _PLAIN:
            if isinstance(value, base):
                return self._tagged(at, "inexact", self.encode(base(value), at), kind)
        return self._as_repr(value, at)

    def _mapping(self, value: dict[Any, Any], at: tuple[str | int, ...]) -> Any:
        if all(type(key) is str for key in value):
            return {key: self.encode(item, (*at, key)) for key, item in list(value.items())}
        pairs = [self.encode([key, item], (*at, i)) for i, (key, item) in enumerate(value.items())]
        return self._tagged(at, "pairs", pairs)

    def _as_repr(self, value: Any, at: tuple[str | int, ...]) -> str:
        kind = type(value)
        try:
            # The repr of a container that was too deep or too wide might never end.
            sized = isinstance(value, _CONTAINERS)
            text = f"<{kind.__qualname__} of {len(value)}>" if sized else repr(value)
            text = text[:_LONGEST_REPR]
        except Exception:  # noqa: BLE001 - a repr may do anything
            text = f"<{kind.__qualname__}>"
        return str(self._tagged(at, "repr", text, kind))

    def _tagged(
        self, at: tuple[str | int, ...], name: str, value: Any, cls: type | None = None
    ) -> Any:
        tag: Json = {"at": list(at), "as": name}
        if cls is not None:
            tag["class"] = class_name(cls)
        self.tags.append(tag)
        return value


def _restore_one(tag: Json, value: Any, find_class: Callable[[str], type]) -> Any:
    name = tag["as"]
    if name in _READERS:
        return _READERS[name](value)
    if name in ("repr", "inexact"):
        raise Inexact(f"of a {tag['class']} only a likeness was recorded")
    cls: Any = find_class(tag["class"])
    if name not in _CLASSES or not _CLASSES[name](cls):
        # Whatever a file names would be called with what the file says: a process, say.
        raise Inexact(f"the class {tag['class']} is no {name}")
    if name == "namedtuple":
        return cls(**value)
    if name == "pydantic":
        return cls.model_validate(value)
    return _dataclass(cls, value) if name == "dataclass" else cls(value)


def _dataclass(cls: Any, fields: Json) -> Any:
    """The object with its fields as they were recorded: ``__init__`` might compute or refuse."""
    made = object.__new__(cls)
    for field, content in fields.items():
        object.__setattr__(made, field, content)
    return made


def _delta(seconds: list[int]) -> dt.timedelta:
    return dt.timedelta(*seconds)


_CONTAINERS = (list, dict, tuple, set, frozenset)
_PLAIN: tuple[Any, ...] = (str, int, float, list, dict)
_COLLECTIONS: dict[type, str] = {tuple: "tuple", set: "set", frozenset: "frozenset"}
_ATOMS: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    int: ("int", hex, lambda text: int(text, 16)),
    float: ("float", repr, float),
    complex: ("complex", str, complex),
    Decimal: ("decimal", str, Decimal),
    bytes: ("bytes", lambda b: base64.b64encode(b).decode("ascii"), base64.b64decode),
    bytearray: (
        "bytearray",
        lambda b: base64.b64encode(b).decode("ascii"),
        lambda text: bytearray(base64.b64decode(text)),
    ),
    dt.datetime: ("datetime", dt.datetime.isoformat, dt.datetime.fromisoformat),
    dt.date: ("date", dt.date.isoformat, dt.date.fromisoformat),
    dt.time: ("time", dt.time.isoformat, dt.time.fromisoformat),
    dt.timedelta: ("timedelta", lambda d: [d.days, d.seconds, d.microseconds], _delta),
    UUID: ("uuid", str, UUID),
}
_CLASSES: dict[str, Callable[[Any], bool]] = {
    "enum": lambda cls: issubclass(cls, Enum),
    "path": lambda cls: issubclass(cls, PurePath),
    "dataclass": dataclasses.is_dataclass,
    "namedtuple": lambda cls: issubclass(cls, tuple) and hasattr(cls, "_fields"),
    "pydantic": lambda cls: hasattr(cls, "model_dump") and hasattr(cls, "model_validate"),
}
"""What a class that a tag names has to be."""
_READERS: dict[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "pairs": dict,
    **{name: read for name, _, read in _ATOMS.values()},
}
