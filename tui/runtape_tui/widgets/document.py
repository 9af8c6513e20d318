"""A document on the screen: a context, an event, a text; foldable, searched, tinted live."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from runtape.reports.cells import one_line
from runtape.reports.sheet import Tone
from runtape_tui.safe import Layer, painted, segments
from runtape_tui.view_models.document import DocumentModel, Row, RowKind, Tint
from runtape_tui.view_models.hits import Hit, touching
from runtape_tui.view_models.sections import Section, size_words
from runtape_tui.widgets.line_view import LineView

_JSON = re.compile(r'("(?:[^"\\]|\\.)*")(?=\s*:)|"(?:[^"\\]|\\.)*"|([{}\[\],:]+)')
"""A key, a text (skipped), punctuation."""
_NARROWEST = 20
_FAR = 2_000
"""Characters of a line that are looked at to colour a row of it."""


class Document(LineView):
    """Shows a :class:`DocumentModel`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"document--{tint.name.lower().replace('_', '-')}" for tint in Tint
    }

    DEFAULT_CSS = """
    Document > .document--running { background: $success 18%; }
    Document > .document--in-group, Document > .document--no-effect { color: $foreground 55%; }
    Document > .document--suspected { background: $warning 22%; }
    Document > .document--contributes { background: $warning 35%; }
    Document > .document--required { background: $primary 30%; }
    Document > .document--cause { background: $error 45%; text-style: bold; }
    Document > .document--off { color: $foreground 40%; text-style: strike; }
    """

    def __init__(self, model: DocumentModel | None = None, *, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id)
        self.model = model or DocumentModel(())
        self.wrap = True
        self._current: Hit | None = None
        self._laid_out: int | None = None

    # What others call

    def show(self, model: DocumentModel, *, start: Section | None = None) -> None:
        """Show another document, from its top or from a section on."""
        self.model = model
        self._current = None
        self._lay_out()
        row = 0 if start is None else model.heading_row(start)
        self.scroll_to(x=0, y=max(0, row - 1), animate=False, force=True)
        self.show_row(row)

    def set_tints(self, tints: Mapping[int, Tint]) -> None:
        """Change the tints of some pieces (by piece id); only their rows are painted again."""
        self.redraw(self.model.tint(tints))

    def set_wrap(self, wrap: bool) -> None:  # noqa: FBT001 - the one thing it says
        """Wrap long lines, or let them be panned to."""
        self.wrap = wrap
        self._keep_place()

    def show_piece(self, ref_or_id: str | int) -> None:
        """Put the cursor on a piece; raises RefNotFound, or KeyError for a number."""
        context = self.model.context
        if context is None:
            return
        piece = context.by_id(ref_or_id) if isinstance(ref_or_id, int) else context.piece(ref_or_id)
        before = self.model.row_count
        row = self.model.row_of_piece(piece)
        if self.model.row_count != before:
            self._rows_changed()
        self.show_row(row, centre=True)

    def light(self, pattern: re.Pattern[str] | None) -> None:
        """Light all matches, also those in folded sections."""
        self.model.search(pattern)
        self._current = None
        self.lit = pattern
        self.redraw_all()

    def step_hit(self, by: int) -> bool | None:
        """Go to the next (or previous) hit; whether round the end, None: there is none."""
        hits = self.model.hits.all
        if not hits:
            return None
        if self._current is None:
            hit, beyond = self.model.hit_after(self.cursor, by)
        else:
            at = hits.index(self._current) + by
            hit, beyond = hits[at % len(hits)], not 0 <= at < len(hits)
        self._current = hit
        if hit is not None:
            row = self.model.row_of(hit.section, hit.start)
            self._rows_changed()
            self.show_row(row)
        return beyond

    # Drawing

    def draw(self, row: int, width: int) -> Strip:  # noqa: ARG002 - rows are cropped, not cut
        """One row: gutter, indentation, then heading or text."""
        shown = self.model.row(row)
        if shown.kind is RowKind.GAP:
            return Strip([])
        if shown.kind is RowKind.HEADING:
            return Strip([*self._gutter(shown), *self._heading(shown.section)])
        label: list[Segment] = []
        indent = self.model.text_indent(shown.section)
        if shown.kind is RowKind.FIELD:
            indent = self.model.indent(shown.section)
            label = segments(
                f"{shown.section.label}  ", self.tone(Tone.QUIET), self.style("hidden")
            )
        blank = Segment(" " * (indent - 2))
        return Strip([*self._gutter(shown), blank, *label, *self._text(shown)])

    def _gutter(self, row: Row) -> list[Segment]:
        section = row.section
        over = [
            tint
            for start, end, tint in self.model.tints_in(section)
            if row.kind is RowKind.HEADING or (start < max(row.end, 1) and end > row.start)
        ]
        if not over or (row.kind is RowKind.HEADING and section.level == 0 and not section.folded):
            return [Segment("  ")]
        return [Segment(" "), Segment(over[-1].glyph, self._tint(over[-1]))]

    def _heading(self, section: Section) -> list[Segment]:
        hidden, quiet = self.style("hidden"), self.tone(Tone.QUIET)
        indent = " " * (self.model.indent(section) - 2)
        fold = "▸ " if section.folded else "▾ "
        if section.level:
            label = segments(section.label, quiet, hidden)
            return [Segment(indent), Segment(fold if section.folded else "", quiet), *label]
        parts = [Segment(f"{indent}{fold}", quiet)]
        if section.label:
            parts += [*segments(section.label, self.tone(Tone.NAME), hidden), Segment("  ")]
        parts += segments(section.title, self.tone(Tone.STRONG), hidden)
        if section.piece is not None:
            parts.append(Segment(f"  {size_words(section)}", quiet))
        if section.since is not None:
            parts.append(Segment(f"  + new since #{section.since}", self.tone(Tone.GOOD)))
        if section.folded:
            parts += [Segment("  "), *segments(one_line(section.whole, 200), quiet, hidden)]
        return parts

    def _text(self, row: Row) -> list[Segment]:
        section = row.section
        shown = section.shown
        layers: list[Layer] = [
            (start, end, self._tint(tint)) for start, end, tint in self.model.tints_in(section)
        ]
        if section.is_json:
            layers += self._json(shown.text, row)
        here = (row.start, row.end)
        hidden, lit = self.style("hidden"), self.style("hit")
        layers += [(*span, hidden) for span in touching(shown.marks, *here)]
        layers += [(*span, lit) for span in touching(self.model.hits.lit(section), *here)]
        if self._current is not None and self._current.section is section:
            derived = shown.origins.derived
            span = derived(self._current.start), derived(self._current.end)
            layers.append((*span, self.style("hit-current")))
        return painted(shown.text, row.start, row.end, self.tone(section.tone), layers)

    def _json(self, text: str, row: Row) -> list[Layer]:
        """Keys stand out, punctuation steps back; read from the beginning of the line."""
        start = text.rfind("\n", 0, row.start) + 1
        if row.start - start > _FAR:
            return []
        name, quiet = self.tone(Tone.NAME), self.tone(Tone.QUIET)
        return [
            (start + match.start(), start + match.end(), name if match[1] else quiet)
            for match in _JSON.finditer(text[start : row.end + _FAR])
            if (match[1] or match[2]) and start + match.end() > row.start
        ]

    def _tint(self, tint: Tint) -> Style:
        return self.style(f"document--{tint.name.lower().replace('_', '-')}")

    # Layout

    def on_resize(self) -> None:
        """Wrap anew for another width."""
        if self.size.width != self._laid_out:
            self._keep_place()
        super().on_resize()

    def _keep_place(self) -> None:
        """Lay out anew with the cursor on the same text."""
        row = self.model.row(self.cursor) if self.cursor < self.model.row_count else None
        self._lay_out()
        if row is None:
            return
        if row.kind is RowKind.TEXT:
            at = row.section.shown.origins.source(row.start)
            self.show_row(self.model.row_of(row.section, at))
        else:
            self.show_row(self.model.heading_row(row.section))

    @property
    def columns(self) -> int:
        """Cells that a document is laid out for."""
        return max(_NARROWEST, self.size.width - 1)

    def _lay_out(self) -> None:
        self._laid_out = self.size.width
        self.model.lay_out(self.columns, wrap=self.wrap)
        self._rows_changed()

    def _rows_changed(self) -> None:
        self.set_rows(self.model.row_count, widest=self.model.widest)

    # Folding

    def fold(self) -> None:
        """Fold or unfold the section under the cursor."""
        section = self.model.section_at(self.cursor)
        if section is not None:
            section = section.foldable
            self.model.fold(section, folded=not section.folded)
            self._rows_changed()
            self.show_row(self.model.heading_row(section))

    def fold_all(self) -> None:
        """Fold all sections, or unfold them when all are folded."""
        section = self.model.section_at(self.cursor)
        if section is not None:
            self.model.fold_all(folded=not all(top.folded for top in self.model.sections))
            self._rows_changed()
            self.show_row(self.model.heading_row(section))
