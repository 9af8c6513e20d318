"""What a model does, run after run, as lines: bars and counts first, then the words."""

from __future__ import annotations

from runtape.attribution.distribution import Distribution
from runtape.evidence import wilson
from runtape.reports.cells import cut, pad
from runtape.reports.distribution_text import WayRow, comparison_words, way_rows
from runtape.reports.sheet import Line, Part, Span, Tone, line
from runtape.reports.words import rated, sentence
from runtape_tui.view_models.bars import interval_bar

_COUNT = 7
_BARS = ((100, 14), (60, 10), (0, 6))
"""Cells there are → cells of a bar."""
_SHOWN = 8
_PROGRESS = 20
SETTLED = 0.05
"""A p below this is worth a colour; it is one test, chosen beforehand or not."""


def distribution_lines(found: Distribution, columns: int, *, running: bool) -> list[Line]:
    """Ways, most frequent first, each with its bar and interval; what it comes to; progress."""
    bar = next(cells for least, cells in _BARS if columns >= least)
    rows = way_rows(found)
    lines = [_heading(found, bar)] if found.baseline is not None else []
    lines += [_way(row, found, bar, columns) for row in rows[:_SHOWN]]
    if len(rows) > _SHOWN:
        lines.append(line(Span(f"and {len(rows) - _SHOWN} other ways", Tone.QUIET)))
    if not rows:
        lines.append(line(Span("no answer yet" if running else "no answer came", Tone.QUIET)))
    lines += [line(), *_sums(found), *_progress(found, running=running)]
    return lines


def _heading(found: Distribution, bar: int) -> Line:
    cells = bar + 1 + _COUNT
    del found
    return line(Span(f"{pad('changed', cells)}{pad('unchanged', cells)}does", Tone.QUIET))


def _way(row: WayRow, found: Distribution, bar: int, columns: int) -> Line:
    tone = Tone.BAD if row.same else Tone.NAME
    parts = _arm(row.changed, len(found), bar, tone)
    if found.baseline is not None:
        parts += _arm(row.unchanged or 0, len(found.baseline), bar, tone)
    used = (bar + 1 + _COUNT) * (1 if found.baseline is None else 2) + 2
    mark = Span("● " if row.same else "  ", Tone.BAD)
    words = Span(cut(row.detail, max(10, columns - used)), Tone.STRONG if row.same else Tone.PLAIN)
    return line(*parts, mark, words)


def _arm(count: int, runs: int, cells: int, tone: Tone) -> list[Part]:
    if not runs:
        return [Span(" " * (cells + 1 + _COUNT))]
    bar = interval_bar(count / runs, *wilson(count, runs), cells)
    return [
        Span(bar.sure + bar.likely, tone),
        Span(f"{bar.possible}{bar.rest} ", Tone.QUIET),
        pad(f"{count}/{runs}", _COUNT),
    ]


def _sums(found: Distribution) -> list[Line]:
    beside = found.baseline
    lines = [line(Span("● the recorded decision", Tone.QUIET))] if found.tally.runs else []
    if beside is None:
        if found.tally.runs:
            lines.append(line(f"it comes in {rated(found.tally)}"))
    elif found.tally.runs and beside.tally.runs:
        lines.append(line(f"changed {rated(found.tally)}, unchanged {rated(beside.tally)}"))
        small = found.p is not None and found.p <= SETTLED
        lines.append(line(Span(comparison_words(found), Tone.GOOD if small else Tone.PLAIN)))
    if found.failure:
        lines.append(line(Span(sentence(found.failure), Tone.WARN)))
    return lines


def _progress(found: Distribution, *, running: bool) -> list[Line]:
    beside = found.baseline
    asked = found.asked * (1 if beside is None else 2)
    done = len(found) + (0 if beside is None else len(beside))
    if not running and done == asked:
        return []
    filled = round(_PROGRESS * done / asked) if asked else 0
    bar = Span("━" * filled, Tone.GOOD), Span("─" * (_PROGRESS - filled), Tone.QUIET)
    state = "" if running else ", stopped" if not found.failure else ""
    return [line(*bar, f" {done} of {asked} runs{state}")]
