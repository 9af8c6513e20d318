"""Texts inside texts: what a literal spells, and where each character of it stands in the source.

A tool result is a string that holds JSON that holds a string that holds an e-mail. A :class:`View`
is one of these layers, decoded; it maps its positions to the outermost source, so that a cut made
in the innermost layer leaves every other byte of the outermost one as it was.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from runtape.offsets import OffsetMap


@dataclass(frozen=True, slots=True)
class Codec:
    """How a literal spells its text.

    Attributes:
        token: matches each place where source and text differ.
        decode: the text of one token.
        encode: the spelling of a whole text, to be put between the literal's delimiters.
    """

    token: re.Pattern[str]
    decode: Callable[[str], str]
    encode: Callable[[str], str]

    def text(self, spelled: str) -> str:
        """What a literal's inside spells."""
        return self.token.sub(lambda match: self.decode(match.group()), spelled)


@lru_cache(maxsize=4096)
def _json_token(token: str) -> str:
    return str(json.loads(f'"{token}"'))


def _json_encode(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


JSON_STRING = Codec(
    re.compile(
        r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[^u]",
    ),
    _json_token,
    _json_encode,
)
"""The inside of a JSON string; a surrogate pair is one character."""


@lru_cache(maxsize=4096)
def _python_token(token: str) -> str:
    return str(literal_eval(f'"{token}"'))


def _python_encode(text: str) -> str:
    return repr('"' + text)[2:-1].replace('"', '\\"')


PYTHON_STRING = Codec(
    re.compile(
        r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4}|[0-7]{1,3}|[\\'\"abfnrtv\n])",
    ),
    _python_token,
    _python_encode,
)
"""The inside of a printed Python string, either quote."""


def _fold(token: str) -> str:
    """A line break in a folded scalar is a space; each further one is a line break."""
    breaks = token.count("\n")
    return " " if breaks == 1 else "\n" * (breaks - 1)


_YAML_ESCAPES = dict(
    zip('0abtnvfre "/\\N_LP', '\0\a\b\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True)
)


def _yaml_double_token(token: str) -> str:
    if token[0] != "\\":
        return _fold(token)
    if token[1] in "\r\n":
        return ""
    if token[1] in "xuU":
        code = int(token[2:], 16)  # noqa: FURB166 - “\\x41” is no Python number
        return chr(code) if code <= 0x10FFFF else "\ufffd"  # noqa: PLR2004 - the last code point
    return _YAML_ESCAPES.get(token[1], token[1])


YAML_DOUBLE = Codec(
    re.compile(
        r"\\\r?\n[ \t]*|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\[^\r\n]"
        r"|(?<![ \t])[ \t]*(?:\r?\n[ \t]*)+",
    ),
    _yaml_double_token,
    _json_encode,
)
"""The inside of a double-quoted YAML scalar, folded over lines."""

YAML_SINGLE = Codec(
    re.compile(r"''|(?<![ \t])[ \t]*(?:\r?\n[ \t]*)+"),
    lambda token: "'" if token[0] == "'" else _fold(token),
    lambda text: text.replace("'", "''").replace("\n", "\n\n"),
)
"""The inside of a single-quoted YAML scalar, folded over lines."""

YAML_PLAIN = Codec(
    re.compile(r"(?<![ \t])[ \t]*(?:\r?\n[ \t]*)+"),
    _fold,
    lambda text: " ".join(text.split()),
)
"""A plain or ``>`` YAML scalar: line breaks are spaces. New text is put on one line."""


@lru_cache(maxsize=64)
def yaml_block(indent: int, *, folded: bool) -> Codec:
    """The inside of a block scalar (``|``, or folded ``>``), its lines indented by `indent`."""
    margin = " " * indent
    if folded:
        token = re.compile(rf"(?<![ \t])[ \t]*(?:\r?\n[ ]{{0,{indent}}})+")
        return Codec(token, _fold, lambda text: text.replace("\n", f"\n\n{margin}"))
    token = re.compile(rf"\n[ ]{{1,{indent}}}") if indent else re.compile(r"(?!)")
    return Codec(token, lambda _: "\n", lambda text: text.replace("\n", f"\n{margin}"))


class View:
    """One layer of text, with the way back to the outermost source.

    Attributes:
        text: the decoded text.
    """

    __slots__ = ("_codec", "_map", "_outer", "_start", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._outer: View | None = None
        self._start = 0
        self._codec: Codec | None = None
        self._map: OffsetMap | None = None

    def opened(self, start: int, end: int, codec: Codec | None) -> View:
        """The text that the characters ``start:end`` of this view spell."""
        source = self.text[start:end]
        inner = View(source)
        inner._outer, inner._start, inner._codec = self, start, codec
        if codec is not None and codec.token.search(source):
            inner.text, inner._map = _decoded(source, codec)
        return inner

    def source(self, position: int) -> int:
        """Where `position` of this text stands in the outermost source."""
        if self._outer is None:
            return position
        local = position if self._map is None else self._map.source(position)
        return self._outer.source(self._start + local)

    def encoded(self, text: str) -> str:
        """`text` spelled so that it can be put into the outermost source in this layer."""
        if self._outer is None:
            return text
        return self._outer.encoded(text if self._codec is None else self._codec.encode(text))


def _decoded(source: str, codec: Codec) -> tuple[str, OffsetMap]:
    parts: list[str] = []
    anchors: list[tuple[int, int]] = []
    done = at = 0
    for match in codec.token.finditer(source):
        start, end = match.span()
        piece = codec.decode(match.group())
        parts += (source[done:start], piece)
        at += start - done
        anchors.append((at, start))
        at += len(piece)
        anchors.append((at, end))
        done = end
    parts.append(source[done:])
    return "".join(parts), OffsetMap(anchors)
