"""The heatmap alone as an SVG: for a README, a pull request, a slide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from runtape.context import Context
from runtape.evidence import wilson
from runtape.reports.cells import cut, one_line
from runtape.reports.heat import Entry, Heat, Run, heat_map, tail
from runtape.reports.html.answer import question_words
from runtape.reports.html.elements import Element, StyleSheet, tag
from runtape.reports.html.parts import numbers, tone
from runtape.reports.why_report import WhyReport
from runtape.reports.words import of_runs, piece_words, plural, tally
from runtape.visible import visible

_WIDTH = 820
_ROW = 24
_TOP = 74
_CELL = 7.25
"""Pixels of a character of a monospaced font of 12 px, on the safe side."""
_LABEL, _GLIMPSE, _METER, _COUNT = 24, 190, 660, 800
_INDENT = 14
_MOST = 60
"""Rows; of what had no effect, the rest is counted."""


@dataclass(frozen=True, slots=True)
class _Row:
    level: int
    label: str
    words: str
    heat: Heat | None
    note: str


def why_picture(report: WhyReport, context: Context | None = None) -> str:
    """The SVG as text: a row for each piece with how often the decision came without it."""
    rows = list(_rows(heat_map(report.investigation, context)))
    shown, rest = _shortened(rows)
    height = _TOP + _ROW * (len(shown) + bool(rest)) + 14
    css = StyleSheet(files("runtape.reports.html").joinpath("picture.css").read_text("utf-8"))
    picture = tag(
        "svg",
        tag("title", question_words(report)),
        tag("style", css),
        tag("rect", class_="paper", width=_WIDTH, height=height, rx=8),
        _text(16, 32, cut(question_words(report), 80), "title"),
        _text(16, 54, _lead(report), "soft"),
        (_drawn(row, _TOP + _ROW * at) for at, row in enumerate(shown)),
        _text(_LABEL, _TOP + _ROW * len(shown) + 16, rest, "soft") if rest else None,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {height}",
        width=_WIDTH,
        height=height,
        role="img",
    )
    return f"{picture}\n"


def _lead(report: WhyReport) -> str:
    base = report.investigation.baseline
    words = f"unchanged {of_runs(base)}; " if base.runs else ""
    return f"{words}the bars: how often it still comes without a piece"


def _rows(entries: Sequence[Entry], level: int = 0) -> Iterator[_Row]:
    for entry in entries:
        kind = "" if level else f"{piece_words(entry.piece)}: "
        words = f"{kind}{one_line(entry.piece.text, 200)}"
        note = numbers(entry.piece, entry.heat) if entry.heat else entry.piece.ref
        if level == 0 or entry.heat is not None:
            yield _Row(level, entry.label, words, entry.heat, note)
        yield from _rows(entry.members, level + 1)
        yield from _parts(entry.text, entry.piece.ref, level + 1)


def _parts(runs: Sequence[Run], around: str, level: int) -> Iterator[_Row]:
    for run in runs:
        if not isinstance(run, str):
            ref = run.piece.ref
            words = one_line(run.piece.text, 200)
            yield _Row(level, tail(ref, around), words, run.heat, numbers(run.piece, run.heat))
            yield from _parts(run.parts, ref, level + 1)


def _shortened(rows: list[_Row]) -> tuple[list[_Row], str]:
    """At most so many rows, none of them that says something left out if it can be helped."""
    if len(rows) <= _MOST:
        return rows, ""
    calm = [row for row in rows if tone(row.heat) in {"calm", "untested", "plain"}]
    left = {id(row) for row in calm[max(0, _MOST - (len(rows) - len(calm))) :]}
    shown = [row for row in rows if id(row) not in left][:_MOST]
    return shown, f"and {plural(len(rows) - len(shown), 'other piece')}"


def _drawn(row: _Row, top: int) -> Element:
    start = _LABEL + _INDENT * row.level
    glimpse = max(_GLIMPSE, start + _cells(row.label) + 14)
    return tag(
        "g",
        tag("title", row.note),
        tag("rect", class_="row", x=8, y=top, width=_WIDTH - 16, height=_ROW - 2, rx=4),
        tag("rect", class_="edge", x=12, y=top + 3, width=4, height=_ROW - 8, rx=2),
        _text(start, top + 16, cut(row.label, 46), "label"),
        _text(glimpse, top + 16, cut(row.words, int((_METER - 12 - glimpse) / _CELL)), "soft"),
        _meter(row.heat, top) if row.heat and row.heat.tally.runs else None,
        class_=tone(row.heat),
    )


def _cells(text: str) -> int:
    return int(len(visible(cut(text, 46)).text) * _CELL)


def _meter(heat: Heat, top: int) -> Iterator[Element]:
    low, high = wilson(heat.tally.same, heat.tally.runs)
    wide = 84
    yield tag("rect", class_="track", x=_METER, y=top + 7, width=wide, height=8, rx=2)
    for name, first, last, y, height in (
        ("range", low, high, 9, 4),
        ("rate", 0.0, heat.tally.rate or 0.0, 7, 8),
    ):
        at = f"{_METER + wide * first:.1f}"
        width = f"{wide * (last - first):.1f}"
        yield tag("rect", class_=name, x=at, y=top + y, width=width, height=height, rx=2)
    yield _text(_COUNT, top + 16, tally(heat.tally), "number", text_anchor="end")


def _text(x: int, y: int, words: str, class_: str, **attributes: str) -> Element:
    shown = visible(words).text.replace("\n", " ").replace("\t", " ")
    return tag("text", shown, x=x, y=y, class_=class_, **attributes)
