"""Printed Python values: dicts, lists, tuples, dataclasses, ``Document(page_content='…')``.

Python's own parser says where each value stands.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from runtape.context.json_spans import Span
from runtape.context.pieces import PieceKind
from runtape.context.refs import Index, Step
from runtape.context.splitting.parts import Names, Part, Shape, Split, bears
from runtape.context.splitting.views import PYTHON_STRING

_LONGEST = 1_000_000
"""The parser takes about 150 ms and 100 MB for this much; longer texts are split as prose."""

_START = re.compile(r"\s*(?:[\[({]|[A-Za-z_][\w.]*\()")
_STRING = re.compile(
    r"[bB]?(?P<quote>['\"])(?P<inner>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)", re.DOTALL
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_NEWLINE = re.compile(r"\r\n|\r|\n")


def split_literal(text: str) -> Split | None:
    """The members or items of a printed value; None when the text is none or holds no string."""
    if not _START.match(text) or text.rstrip()[-1:] not in "])}" or len(text) > _LONGEST:
        return None
    if "\f" in text:  # the parser counts columns anew behind a form feed
        return None
    source = _Source(text)
    tree = source.parsed()
    if tree is None or not any(map(_is_string, ast.walk(tree))):
        return None
    parts = sorted(source.parts(tree), key=lambda part: part.start)
    inside = source.inside(tree)
    if inside is None or not any(part.step for part in parts):
        return None
    return Split(tuple(parts)) if _covers(text, inside, parts) else None


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _covers(text: str, inside: int, parts: list[Part]) -> bool:
    """Whether nothing (such as a comment) stands between the parts."""
    starts = [*(part.start for part in parts), len(text)]
    ends = [inside, *(part.end for part in parts)]
    return not any(bears(text, end, start) for end, start in zip(ends, starts, strict=True))


class _Source:
    """A text with the positions of its syntax tree in characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._indent = len(text) - len(text.lstrip())
        # The parser counts bytes: with every other character replaced, bytes are characters.
        self._ascii = _NOT_ASCII.sub("x", text.strip())
        ends = [match.end() for match in _NEWLINE.finditer(self._ascii)]
        self._lines = [0, *ends]

    def parsed(self) -> ast.expr | None:
        """The expression; None when it is no valid one."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # invalid escapes and the like are no concern here
                return ast.parse(self._ascii, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def span(self, node: ast.expr | ast.keyword) -> Span:
        """Where a node stands in the text."""
        end = self._lines[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        start = self._lines[node.lineno - 1] + node.col_offset
        return self._indent + start, self._indent + end

    def inside(self, node: ast.expr) -> int | None:
        """Where the parts of a container begin: behind the name of its class, if it has one."""
        if isinstance(node, ast.Call):
            named = isinstance(node.func, ast.Name | ast.Attribute)
            return self.span(node.func)[1] if named else None
        return 0

    def parts(self, node: ast.expr) -> Iterator[Part]:
        """The parts of a container."""
        if isinstance(node, ast.Dict):
            names = Names()
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    start, end = self.span(key)
                    yield self._part(names.key(_plain(self.text[start:end])), start, value)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            yield from self._items(node.elts)
        elif isinstance(node, ast.Call):
            yield from self._items(node.args)
            names = Names()
            for keyword in node.keywords:
                start, _ = self.span(keyword)
                yield self._part(names.key(keyword.arg or "kwargs"), start, keyword.value)

    def _items(self, values: list[ast.expr]) -> Iterator[Part]:
        for number, value in enumerate(values):
            yield self._part(Index(number), self.span(value)[0], value)

    def _part(self, step: Step, start: int, value: ast.expr) -> Part:
        span = self.span(value)
        source = self.text[slice(*span)]
        if source in ("None", "[]", "{}", "()", "''", '""') or not bears(source):
            return Part(None, start, span[1], span)
        string = _STRING.fullmatch(source)
        if string:
            inner = (span[0] + string.start("inner"), span[0] + string.end("inner"))
            return Part(step, start, span[1], inner, PieceKind.ITEM, PYTHON_STRING)
        shape = Shape.LEAF if isinstance(value, ast.Constant | ast.UnaryOp) else Shape.LITERAL
        return Part(step, start, span[1], span, PieceKind.ITEM, shape=shape, literal=repr)


def _plain(source: str) -> str:
    """A key as a name: a string without its quotes."""
    try:
        value = ast.literal_eval(source)
    except (SyntaxError, ValueError):
        return source
    return value if isinstance(value, str) else source
