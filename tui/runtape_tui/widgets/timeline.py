"""The timeline: one row per event."""

from __future__ import annotations

import re

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from runtape.reports.sheet import Tone
from runtape.reports.timeline import Row
from runtape.tape.events import LLM_REQUEST, LLM_RESPONSE, TOOL_CALL
from runtape.visible import visible
from runtape_tui.safe import painted
from runtape_tui.view_models import timeline
from runtape_tui.view_models.timeline import TimelineModel
from runtape_tui.widgets.line_view import LineView

_TONES = {
    LLM_REQUEST: Tone.QUIET,
    LLM_RESPONSE: Tone.PLAIN,
    TOOL_CALL: Tone.PLAIN,
}


class Timeline(LineView):
    """Shows a :class:`TimelineModel`."""

    def __init__(self, model: TimelineModel, *, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id)
        self.model = model
        self.marks: set[int] = set()
        self.lit: re.Pattern[str] | None = None

    def on_mount(self) -> None:
        """Show what there is."""
        self.refresh_rows()

    def refresh_rows(self, *, grown: bool = False) -> None:
        """Show the rows the model has now; `grown`: those before are as they were."""
        self.set_rows(len(self.model), keep_drawn=grown)

    @property
    def event(self) -> int | None:
        """The event under the cursor; None when there are no rows."""
        return self.model.head(self.cursor).id if self.row_count else None

    def show_event(self, event: int, *, centre: bool = False) -> None:
        """Put the cursor on an event, or where it would be."""
        self.show_row(self.model.nearest_row(event), centre=centre)

    def draw(self, row: int, width: int) -> Strip:  # noqa: ARG002 - rows are cropped, not cut
        """Pointer, mark, number, glyph, tokens, latency; then what happened."""
        entry = self.model.entry(row)
        quiet = self.tone(Tone.QUIET)
        mark = Segment("◆" if entry.id in self.marks else " ", self.tone(Tone.MARK))
        parts = [
            Segment(" "),
            mark,
            Segment(f"{entry.id:>{self.model.digits}} ", quiet),
            Segment(f"{timeline.glyph(entry)} ", self._glyph_style(entry)),
            Segment(f"{timeline.spent(entry):>4} ", quiet),
            Segment(f"{timeline.bar(entry.latency_ms)} ", self.tone(Tone.NAME)),
        ]
        return Strip([*parts, *self._badges(entry), *self._words(entry)])

    def _glyph_style(self, entry: Row) -> Style:
        if entry.error is not None:
            return self.tone(Tone.BAD)
        return self.tone(Tone.NAME if entry.type == TOOL_CALL else Tone.QUIET)

    def _badges(self, entry: Row) -> list[Segment]:
        found = []
        if entry.error is not None:
            found.append(Segment("✗ ", self.tone(Tone.BAD)))
        if entry.attempt > 1:
            found.append(Segment(f"×{entry.attempt} ", self.tone(Tone.WARN)))
        return found

    def _words(self, entry: Row) -> list[Segment]:
        shown = visible(timeline.words(entry))
        style = self.tone(Tone.BAD if entry.error else _TONES.get(entry.type, Tone.QUIET))
        layers = [(start, end, self.style("hidden")) for start, end in shown.marks]
        if self.lit is not None:
            lit = self.style("hit")
            layers += [(*match.span(), lit) for match in self.lit.finditer(shown.text)]
        return painted(shown.text, 0, len(shown.text), style, layers)
