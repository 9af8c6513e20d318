"""Refs: printable addresses of pieces.

::

    ref   = root step*
    root  = number | "system" | "tools"        number: the event where the text first entered
    step  = "." name nth?                      member of an object, a tool, a parameter
          | "[" json-string "]" nth?           the same, for names that are no plain word
          | "[" index ( "-" index )? "]"       item of an array, block of a message (from 0);
                                               or a run of them
          | " " word " " count ( "-" count )?  part of a text (from 1), or a run of parts
    nth   = "#" count                          second, third … member of that name
    name  = letter or "_", then letters, digits, "_" and "-"
    word  = "section" | "para" | "line" | "sentence" | "element" | "comment" | "row" | "cell"
          | "text" | "part"

Examples: ``system``, ``9[1].text``, ``12.body para 4 sentence 1``,
``tools.forward_email.description``, ``7[16-31]``. ``parse(str(ref)) == ref`` for every ref.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from runtape.errors import RefNotFound

_NAME = re.compile(r"[^\W\d][\w-]*")
_COUNT = r"(0|[1-9]\d{0,17})"
_ROOT = re.compile(rf"{_COUNT}|(system|tools)", re.ASCII)
_NTH = re.compile(rf"#{_COUNT}", re.ASCII)
_INDEX = re.compile(rf"\[{_COUNT}(?:-{_COUNT})?\]", re.ASCII)


class Word(Enum):
    """What a part of a text is called in a ref."""

    SECTION = "section"
    PARA = "para"
    LINE = "line"
    SENTENCE = "sentence"
    ELEMENT = "element"
    COMMENT = "comment"
    ROW = "row"
    CELL = "cell"
    TEXT = "text"
    PART = "part"
    """Only in runs: parts of different names side by side."""


_COUNTED = re.compile(
    rf" ({'|'.join(word.value for word in Word)}) {_COUNT}(?:-{_COUNT})?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Key:
    """The `nth` member of that name (from 1: JSON allows a name twice)."""

    name: str
    nth: int = 1

    def __str__(self) -> str:
        plain = _NAME.fullmatch(self.name) is not None
        name = f".{self.name}" if plain else f"[{json.dumps(self.name)}]"
        return name if self.nth == 1 else f"{name}#{self.nth}"


@dataclass(frozen=True, slots=True)
class Index:
    """Item `first` of an array (from 0), or the run ``first … last``."""

    first: int
    last: int | None = None

    def __str__(self) -> str:
        return f"[{self.first}]" if self.last is None else f"[{self.first}-{self.last}]"


@dataclass(frozen=True, slots=True)
class Counted:
    """Part `first` of that name in a text (from 1), or the run ``first … last``."""

    word: Word
    first: int
    last: int | None = None

    def __str__(self) -> str:
        run = "" if self.last is None else f"-{self.last}"
        return f" {self.word.value} {self.first}{run}"


Step: TypeAlias = Key | Index | Counted


@dataclass(frozen=True, slots=True)
class Ref:
    """An address: a root (event number, ``system`` or ``tools``) and steps down from it."""

    root: int | str
    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        return f"{self.root}{''.join(map(str, self.steps))}"

    def below(self, *steps: Step) -> Ref:
        """The address some steps further down."""
        return Ref(self.root, (*self.steps, *steps))

    def starts(self, other: Ref) -> bool:
        """Whether `other` is this address or below it."""
        return self.root == other.root and other.steps[: len(self.steps)] == self.steps


def parse(text: str) -> Ref:
    """Read a printed ref; raises RefNotFound when it is not one."""
    root = _ROOT.match(text)
    if root is None:
        raise _unreadable(text)
    at, steps = root.end(), []
    while at < len(text):
        step, at = _step(text, at)
        steps.append(step)
    return Ref(int(root[1]) if root[1] else root[2], tuple(steps))


def _step(text: str, at: int) -> tuple[Step, int]:
    if index := _INDEX.match(text, at):
        return Index(int(index[1]), int(index[2]) if index[2] else None), index.end()
    if counted := _COUNTED.match(text, at):
        last = int(counted[3]) if counted[3] else None
        return Counted(Word(counted[1]), int(counted[2]), last), counted.end()
    name, at = _name(text, at)
    if nth := _NTH.match(text, at):
        return Key(name, int(nth[1])), nth.end()
    return Key(name), at


def _name(text: str, at: int) -> tuple[str, int]:
    if text[at] == "." and (name := _NAME.match(text, at + 1)):
        return name.group(), name.end()
    if text.startswith('["', at):
        try:
            quoted, end = json.JSONDecoder().raw_decode(text, at + 1)
        except ValueError:
            raise _unreadable(text) from None
        if text.startswith("]", end):
            return quoted, end + 1
    raise _unreadable(text)


def _unreadable(text: str) -> RefNotFound:
    return RefNotFound(
        f"“{text}” is not the address of a piece",
        hint="addresses look like system, 9[1].text or 12.body para 4 sentence 1",
        ref=text,
    )
