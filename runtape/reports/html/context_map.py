"""What the model saw, every piece tinted with what its absence did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runtape.attribution.facts import PieceState
from runtape.context.pieces import Piece, PieceKind
from runtape.reports.cells import one_line
from runtape.reports.codes import STATE_GLYPHS, STATE_WORDS
from runtape.reports.heat import Entry, Heat, Run, Stretch
from runtape.reports.html.elements import Child, Element, tag
from runtape.reports.html.parts import anchor, count, meter, numbers, told, tone
from runtape.reports.words import piece_words, plural

_SHORT = 600
"""Characters up to which a calm message is open from the start."""
_GLIMPSE = 140
_REF = 160
_LEGEND = (
    PieceState.CAUSE,
    PieceState.REQUIRED,
    PieceState.CONTRIBUTES,
    PieceState.SUSPECTED,
    PieceState.NO_EFFECT,
    PieceState.IN_GROUP,
)


def context_map(entries: Sequence[Entry], *, whole: bool) -> Element:
    """The section of the context; `whole` says whether the texts are all there."""
    return tag(
        "section",
        tag("h2", "What the model saw"),
        tag(
            "p",
            "In its order, each piece with how often the decision still came without it.",
            class_="lead",
        ),
        None if whole else tag("p", _SHORTENED, class_="caution"),
        _legend(),
        tag("div", (_message(entry) for entry in entries), class_="context"),
        id="context",
    )


_SHORTENED = (
    "The trace was not at hand when this page was made: of texts that were only tested, it shows "
    "the beginnings that the saved report keeps."
)


def _legend() -> Element:
    items = (
        tag("li", tag("b", STATE_GLYPHS[state], class_=f"count {state.value}"), STATE_WORDS[state])
        for state in _LEGEND
    )
    return tag("ul", items, class_="legend", aria_label="what the colours mean")


def _message(entry: Entry) -> Element:
    """One top-level piece: folded when it is long and nothing came of it."""
    piece = entry.piece
    opened = entry.hot or (
        len(piece.text) <= _SHORT and piece.kind is not PieceKind.TOOL_DEFINITION
    )
    return tag(
        "details",
        tag(
            "summary",
            _heading(entry),
            aria_describedby=f"{anchor(piece)}-note" if entry.heat else None,
        ),
        _body(entry),
        class_=f"piece {tone(entry.heat)}",
        id=anchor(piece),
        open=opened,
    )


def _heading(entry: Entry) -> Iterator[Child]:
    heat = entry.heat
    yield tag("code", told(entry.label, _REF), class_="ref")
    yield tag("span", piece_words(entry.piece), class_="what")
    if heat is not None and heat.tally.runs:
        yield meter(heat.tally, tone(heat))
    yield count(heat)
    yield tag("span", one_line(entry.piece.text, _GLIMPSE), class_="glimpse", aria_hidden="true")
    if heat is not None:
        yield _note(entry.piece, heat)


def _note(piece: Piece, heat: Heat) -> Element:
    """All numbers of a piece: shown when it is pointed at or focused."""
    words = numbers(piece, heat)
    return tag("span", words, class_="tip", role="note", id=f"{anchor(piece)}-note")


def _body(entry: Entry) -> Iterator[Child]:
    if entry.text:
        yield tag("div", _runs(entry.text), class_="text", dir="auto", translate="no")
    if entry.members:
        yield tag("dl", (part for member in entry.members for part in _member(member)))
    if not entry.text and not entry.members:
        yield tag("div", "(empty)", class_="text")


def _member(entry: Entry) -> Iterator[Element]:
    heat = entry.heat
    yield tag(
        "dt",
        tag("code", told(entry.label, _REF)),
        count(heat),
        _note(entry.piece, heat) if heat else None,
        tabindex=0 if heat else None,
        aria_describedby=f"{anchor(entry.piece)}-note" if heat else None,
        class_=f"member {tone(heat)}",
    )
    yield tag("dd", _body(entry), class_=tone(heat), id=anchor(entry.piece))


def _runs(runs: Sequence[Run]) -> Iterator[Child]:
    for run in runs:
        if isinstance(run, str):
            yield from told(run)
        else:
            yield _stretch(run)


def _stretch(run: Stretch) -> Element:
    """A tested stretch; one around others leaves colour and count to them."""
    outer = any(not isinstance(part, str) for part in run.parts)
    return tag(
        "mark",
        _note(run.piece, run.heat),
        _runs(run.parts),
        None if outer else count(run.heat),
        class_=f"stretch {'outer' if outer else tone(run.heat)}",
        tabindex=0,
        aria_describedby=f"{anchor(run.piece)}-note",
        id=anchor(run.piece),
    )


def size_words(entries: Sequence[Entry]) -> str:
    """How large the context is: ``9 pieces, 4,210 characters``."""
    characters = sum(len(entry.piece.text) for entry in entries)
    return f"{plural(len(entries), 'piece')}, {plural(characters, 'character')}"
