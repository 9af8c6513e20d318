"""Small parts of a page: foreign text, rates as bars, a piece's numbers."""

from __future__ import annotations

from collections.abc import Iterator

from runtape.attribution.facts import PieceState
from runtape.context.pieces import Piece
from runtape.evidence import wilson
from runtape.reports.cells import cut, one_line
from runtape.reports.codes import STATE_GLYPHS, STATE_WORDS
from runtape.reports.heat import Heat
from runtape.reports.html.elements import Child, Element, tag
from runtape.reports.words import likely, of_runs, p_value, tally
from runtape.trials import Tally
from runtape.visible import visible

_LONGEST = 12_000
"""Characters of one uninterrupted text that are shown; the middle of a longer one is left out."""


def told(text: str, limit: int = _LONGEST) -> Iterator[Child]:
    """Foreign text: hidden characters stand out, the middle of a very long text is left out."""
    if len(text) <= limit:
        yield from _marked(text)
        return
    half = limit // 2
    yield from _marked(text[:half])
    yield tag("span", f" … {len(text) - 2 * half:,} more characters … ", class_="gap")
    yield from _marked(text[-half:])


def _marked(text: str) -> Iterator[Child]:
    shown = visible(text)
    done = 0
    for start, end in shown.marks:
        yield shown.text[done:start]
        yield tag("span", shown.text[start:end], class_="unseen", title="a character nobody sees")
        done = end
    yield shown.text[done:]


def meter(counts: Tally, tone: str = "") -> Element:
    """A rate as a bar with its 95 % interval (Wilson) behind it."""
    low, high = wilson(counts.same, counts.runs) if counts.runs else (0.0, 1.0)
    share = 100 * (counts.rate or 0.0)
    return tag(
        "svg",
        _bar("track", 0, 100),
        _bar("range", 100 * low, 100 * high),
        _bar("rate", 0, share),
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        class_=f"meter {tone}".strip(),
        role="img",
        aria_label=of_runs(counts),
    )


def _bar(name: str, start: float, end: float) -> Element:
    width = max(0.0, end - start)
    thin = name == "range"
    return tag(
        "rect",
        class_=name,
        x=f"{start:.1f}",
        y="0" if not thin else "3",
        width=f"{width:.1f}",
        height="10" if not thin else "4",
    )


def tone(heat: Heat | None) -> str:
    """The class that colours a piece."""
    if heat is None:
        return "plain"
    return "headline cause" if heat.headline else _TONES[heat.state]


_TONES = {
    PieceState.UNTESTED: "untested",
    PieceState.RUNNING: "untested",
    PieceState.IN_GROUP: "calm",
    PieceState.NO_EFFECT: "calm",
    PieceState.SUSPECTED: "suspected",
    PieceState.CAUSE: "cause",
    PieceState.REQUIRED: "required",
    PieceState.CONTRIBUTES: "contributes",
}


def count(heat: Heat | None) -> Element | None:
    """``0/10`` in the colour of its state; what was not run by itself says so by its glyph."""
    if heat is None:
        return None
    words = tally(heat.tally) if heat.tally.runs else STATE_GLYPHS[heat.state]
    return tag("b", words, class_=f"count {tone(heat)}", title=STATE_WORDS[heat.state])


def numbers(piece: Piece, heat: Heat) -> str:
    """All that is known of a piece, in a line: for a look from near."""
    ref = cut(one_line(piece.ref), 80)
    if not heat.tally.runs:
        return f"{ref}: {STATE_WORDS[heat.state]}"
    test = f", p = {p_value(heat.p)}" if heat.p is not None else ""
    runs = f"without it {of_runs(heat.tally)} ({likely(heat.tally)}){test}"
    return f"{ref}: {STATE_WORDS[heat.state]}, {runs}"


def anchor(piece: Piece) -> str:
    """The id of a piece within the page."""
    return f"piece-{piece.id}"
