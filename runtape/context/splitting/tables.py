"""Tables: CSV and its kin, and Markdown tables, into rows and cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import accumulate

from runtape.context.json_spans import Span
from runtape.context.refs import Counted, Word
from runtape.context.splitting.parts import Part, Shape, Split, bears, trimmed
from runtape.context.splitting.views import Codec

_FEWEST_ROWS = 3
_SHAPES = {
    "\t": Shape.TAB_ROW,
    ",": Shape.COMMA_ROW,
    ";": Shape.SEMICOLON_ROW,
    "|": Shape.PIPE_ROW,
}
_RULE = re.compile(r"[ \t|+:-]*--[ \t|+:-]*\s*")
_DOUBLED = Codec(re.compile(r'""'), lambda _: '"', lambda text: text.replace('"', '""'))


def split_rows(text: str) -> Split | None:
    """The rows of a table; None when the text is no table."""
    lines = text.rstrip().splitlines(keepends=True)
    if len(lines) < _FEWEST_ROWS:
        return None
    if "|" in lines[0] and _RULE.fullmatch(lines[1]) and all(map(str.strip, lines)):
        return _rows(text, _line_spans(lines), Shape.PIPE_ROW)
    for delimiter, shape in _SHAPES.items():
        if delimiter in lines[0] and (records := _records(lines, delimiter)):
            return _rows(text, records, shape)
    return None


def split_cells(text: str, delimiter: str) -> Split | None:
    """The cells of a row. A cell that is cut leaves its column empty."""
    first = 0 if delimiter == "|" and text.lstrip().startswith("|") else 1
    parts = [
        _cell(text, number, span)
        for number, span in enumerate(_fields(text, delimiter), start=first)
        if bears(text, *span)
    ]
    return Split(tuple(parts), joined=False) if parts else None


def _rows(text: str, spans: Sequence[Span], shape: Shape) -> Split:
    rows = [(start, trimmed(text, start, stop)[1]) for start, stop in spans]
    said = enumerate((row for row in rows if bears(text, *row)), start=1)
    return Split(tuple(Part(Counted(Word.ROW, n), *row, row, shape=shape) for n, row in said))


def _line_spans(lines: Sequence[str]) -> list[Span]:
    ends = list(accumulate(map(len, lines)))
    return list(zip([0, *ends], ends, strict=False))


def _records(lines: Sequence[str], delimiter: str) -> list[Span]:
    """Spans of the records; none when their numbers of fields differ, or it reads like prose."""
    head = "".join(lines[:20])
    if delimiter in ",;" and 2 * head.count(f"{delimiter} ") > head.count(delimiter):
        return []
    spans = _line_spans(lines)
    reader = csv.reader(lines, delimiter=delimiter)
    found: list[Span] = []
    columns, done = 0, 0
    try:
        for record in reader:
            if record:
                if columns not in (0, len(record)):
                    return []
                columns = len(record)
                found.append((spans[done][0], spans[reader.line_num - 1][1]))
            done = reader.line_num
    except csv.Error:
        return []
    return found if columns > 1 and len(found) >= _FEWEST_ROWS else []


@lru_cache(maxsize=8)
def _field(delimiter: str) -> re.Pattern[str]:
    end = re.escape(delimiter)
    return re.compile(rf'[ ]*"(?:[^"]|"")*"[^{end}]*|[^{end}]+')


def _fields(text: str, delimiter: str) -> Iterator[Span]:
    """Spans of the fields, empty ones included."""
    at, pattern = 0, _field(delimiter)
    while at <= len(text):
        match = pattern.match(text, at)
        end = match.end() if match else at
        yield at, end
        at = end + 1


def _cell(text: str, number: int, span: Span) -> Part:
    start, end = trimmed(text, *span)
    step = Counted(Word.CELL, number)
    if end - start > 1 and text[start] == '"' == text[end - 1]:
        return Part(step, start, end, (start + 1, end - 1), codec=_DOUBLED)
    return Part(step, start, end, (start, end), literal=_spelled)


def _spelled(text: str) -> str:
    """A field in quotes where it needs them."""
    needs = re.search(r'[",;|\t\n]', text)
    return '"' + text.replace('"', '""') + '"' if needs else text


ROW_SPLITTERS: dict[Shape, Callable[[str], Split | None]] = {
    shape: partial(split_cells, delimiter=delimiter) for delimiter, shape in _SHAPES.items()
}
"""How the rows of each sort are split."""
