"""The timeline: one row per event."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from runtape.reports.sheet import Tone
from runtape.reports.timeline import Row
from runtape.tape.events import LLM_REQUEST, LLM_RESPONSE, TOOL_CALL
from runtape.visible import visible
from runtape_tui.safe import Layer, painted
from runtape_tui.view_models import timeline
from runtape_tui.view_models.timeline import TimelineModel
from runtape_tui.widgets.line_view import LineView

_LANES = 6
"""Colours of lanes; the digit tells them apart as well."""
_SLOW_MS = 10_000
_WRONG = "✗"


class Timeline(LineView):
    """Shows a :class:`TimelineModel`.

    Attributes:
        model: the rows.
        marks: marked events.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"timeline--lane-{n}" for n in range(_LANES)}

    DEFAULT_CSS = """
    Timeline > .timeline--lane-0 { color: $primary; }
    Timeline > .timeline--lane-1 { color: $accent; }
    Timeline > .timeline--lane-2 { color: $success; }
    Timeline > .timeline--lane-3 { color: $error; }
    Timeline > .timeline--lane-4 { color: $warning; }
    Timeline > .timeline--lane-5 { color: $secondary; }
    """

    def __init__(self, model: TimelineModel, *, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id)
        self.model = model
        self.marks: set[int] = set()
        self._holding: frozenset[int] = frozenset()
        self._columns = (0, False, False)

    def on_mount(self) -> None:
        """Show what there is."""
        self.refresh_rows()

    def refresh_rows(self, *, grown: bool = False) -> None:
        """Show the rows the model has now; `grown`: those before are as they were."""
        self.set_rows(len(self.model), keep_drawn=grown)

    def surveyed(self) -> None:
        """More is known of the whole run: columns may come or widen."""
        survey = self.model.survey
        columns = (len(survey.lanes), bool(survey.input_tokens), survey.timed)
        if columns != self._columns:
            self._columns = columns
            self.redraw_all()

    def show_hits(self, pattern: re.Pattern[str] | None, holding: Sequence[int]) -> None:
        """Light a pattern, and mark the events that hold it."""
        self.lit = pattern
        self._holding = frozenset(holding)
        self.redraw_all()

    @property
    def event(self) -> int | None:
        """The event under the cursor; None when there are no rows."""
        return self.model.head(self.cursor).id if self.row_count else None

    def show_event(self, event: int, *, centre: bool = False) -> None:
        """Put the cursor on an event, or where it would be."""
        self.show_row(self.model.nearest_row(event), centre=centre)

    def draw(self, row: int, width: int) -> Strip:
        """Pointer, mark, number, glyph, tokens, latency, lane; then what happened."""
        entry = self.model.entry(row)
        quiet = self.tone(Tone.QUIET)
        lanes, has_tokens, timed = self._columns
        parts = [
            Segment(" "),
            self._flag(entry),
            Segment(f"{entry.id:>{self.model.digits}} ", quiet),
        ]
        if has_tokens:
            parts.append(Segment(f"{timeline.spent(entry):>4} ", quiet))
        if timed:
            slow = (entry.latency_ms or 0) >= _SLOW_MS
            parts.append(
                Segment(
                    f"{timeline.bar(entry.latency_ms)} ",
                    self.tone(Tone.WARN if slow else Tone.QUIET),
                )
            )
        if lanes > 1:
            parts.append(self._lane(entry))
        depth = "  " * self.model.survey.depth(entry.id)
        parts.append(Segment(f"{depth}{timeline.glyph(entry)} ", self._glyph_style(entry)))
        strip = Strip([*parts, *self._badges(entry), *self._words(entry)])
        return strip if strip.cell_length <= width else _cut(strip, width, quiet)

    def _flag(self, entry: Row) -> Segment:
        if entry.id in self.marks:
            return Segment("◆", self.tone(Tone.MARK))
        return Segment("•" if entry.id in self._holding else " ", self.tone(Tone.WARN))

    def _lane(self, entry: Row) -> Segment:
        lane = self.model.survey.lane(entry.id)
        if lane is None:
            return Segment("  ")
        return Segment(f"{(lane + 1) % 10} ", self.style(f"timeline--lane-{lane % _LANES}"))

    def _glyph_style(self, entry: Row) -> Style:
        if entry.error is not None:
            return self.tone(Tone.BAD)
        return self.tone(Tone.MARK if entry.type == TOOL_CALL else Tone.QUIET)

    def _badges(self, entry: Row) -> list[Segment]:
        found = []
        if entry.error is not None and timeline.glyph(entry) != _WRONG:
            found.append(Segment(f"{_WRONG} ", self.tone(Tone.BAD)))
        if entry.attempt > 1:
            found.append(Segment(f"×{entry.attempt} ", self.tone(Tone.WARN)))
        return found

    def _words(self, entry: Row) -> list[Segment]:
        shown = visible(timeline.words(entry))
        loud = entry.type in {LLM_RESPONSE, TOOL_CALL}
        style = self.tone(Tone.BAD if entry.error else Tone.PLAIN if loud else Tone.QUIET)
        layers: list[Layer] = []
        if entry.type == TOOL_CALL and shown.text.startswith(entry.name):
            layers.append((0, len(entry.name), self.tone(Tone.STRONG)))
        if entry.type == LLM_REQUEST and shown.text.startswith(entry.name):
            layers.append((0, len(entry.name), self.tone(Tone.NAME)))
        layers += [(start, end, self.style("hidden")) for start, end in shown.marks]
        layers += self.hit_layers(shown.text)
        return painted(shown.text, 0, len(shown.text), style, layers)


def _cut(strip: Strip, width: int, style: Style) -> Strip:
    return Strip([*strip.crop(0, width - 1), Segment("…", style)])
