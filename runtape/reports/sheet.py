"""A sheet of lines with tones: what every text report is built on, printed plain or in colour.

Every text put on a sheet is made visible here, so that no control character of a trace can reach a
terminal, whoever forgot to think of it. Colours are the terminal's own and follow its theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from runtape.reports.cells import pad, width, wrap
from runtape.visible import visible


class Tone(Enum):
    """How a span stands out; the value is its SGR code."""

    PLAIN = ""
    STRONG = "1"
    QUIET = "2"
    MARK = "1;33"
    GOOD = "32"
    BAD = "31"
    WARN = "33"
    NAME = "36"


@dataclass(frozen=True, slots=True)
class Span:
    """A text in one tone; never holds a line break or a control character."""

    text: str
    tone: Tone = Tone.PLAIN


Part: TypeAlias = str | Span
"""What a line is made of; a plain `str` has the plain tone."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of spans."""

    spans: tuple[Span, ...] = ()

    @property
    def plain(self) -> str:
        """The text alone, without blanks at its end."""
        return "".join(span.text for span in self.spans).rstrip()

    @property
    def coloured(self) -> str:
        """The text with SGR codes."""
        return "".join(_coloured(span) for span in self.spans)

    def text(self, *, colour: bool) -> str:
        """:attr:`coloured` or :attr:`plain`."""
        return self.coloured if colour else self.plain


def _coloured(span: Span) -> str:
    if span.tone is Tone.PLAIN or not span.text.strip():
        return span.text
    return f"\x1b[{span.tone.value}m{span.text}\x1b[0m"


def safe(text: str) -> str:
    """`text` on one line with nothing a terminal would act on."""
    return visible(text).text.replace("\n", " ").replace("\t", " ")


def line(*parts: Part) -> Line:
    """A line of `parts`, made visible."""
    spans = (Span(part) if isinstance(part, str) else part for part in parts)
    return Line(tuple(Span(safe(span.text), span.tone) for span in spans if span.text))


@dataclass(slots=True)
class Sheet:
    """Lines in the making, `columns` wide, with a column of labels at the left.

    Attributes:
        columns: cells of a line.
        margin: cells of the label column.
    """

    columns: int = 80
    margin: int = 11
    lines: list[Line] = field(default_factory=list)

    @property
    def room(self) -> int:
        """Cells right of the label column."""
        return self.columns - self.margin

    def blank(self) -> None:
        """An empty line, unless there is one already or nothing stands above."""
        if self.lines and self.lines[-1].spans:
            self.lines.append(Line())

    def raw(self, *parts: Part) -> None:
        """A line from the left edge."""
        self.lines.append(line(*parts))

    def row(self, label: str, *parts: Part) -> None:
        """One line with `label` (may be empty) in the label column."""
        self.lines.append(line(Span(pad(label, self.margin), Tone.STRONG), *parts))

    def prose(self, label: str, text: str, tone: Tone = Tone.PLAIN) -> None:
        """A wrapped text right of `label`; line breaks in it are kept."""
        for piece in wrap(visible(text).text, self.room):
            self.row(label, Span(piece, tone))
            label = ""

    def joined(self, label: str, texts: Iterable[str], tone: Tone = Tone.PLAIN) -> None:
        """`texts` with dots between them, broken only between texts where they fit."""
        for packed in _packed([visible(text).text for text in texts], self.room):
            self.prose(label, packed, tone)
            label = ""

    def plain(self) -> str:
        """All lines as plain text, each ended by a line break."""
        return "".join(f"{entry.plain}\n" for entry in self.lines)


def _packed(texts: list[str], cells: int) -> Iterator[str]:
    current = ""
    for text in texts:
        candidate = f"{current} · {text}" if current else text
        if current and width(candidate) > cells - 2:
            yield f"{current} ·"
            current = text
        else:
            current = candidate
    if current:
        yield current
