"""The trace: timeline left, what the model saw right."""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Static

from runtape.tape.events import LLM_REQUEST
from runtape.workbench import Trace
from runtape_tui.actions import Scope, bindings
from runtape_tui.safe import content
from runtape_tui.view_models.loading import load_context
from runtape_tui.view_models.timeline import TimelineModel
from runtape_tui.widgets.document import Document
from runtape_tui.widgets.line_view import LineView
from runtape_tui.widgets.timeline import Timeline


class TraceScreen(Screen[None]):
    """One run."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.TRACE)]

    def __init__(self, trace: Trace, event: int | None = None) -> None:
        super().__init__()
        self.trace = trace
        self._first = event
        self.timeline = Timeline(TimelineModel(trace.tape), id="timeline")
        self.document = Document(id="document")

    @property
    def selected_event(self) -> int:
        """The event under the timeline's cursor."""
        return self.timeline.event or 0

    def compose(self) -> ComposeResult:
        """The two panes."""
        yield Static(content(self.trace.name), id="title")
        with Horizontal(id="panes"):
            yield self.timeline
            yield self.document

    def on_mount(self) -> None:
        """Start on the event asked for."""
        self.timeline.focus()
        if self._first is not None:
            self.timeline.show_event(self._first, centre=True)
        self.load()

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        """Show what belongs to the event under the cursor."""
        if message.view is self.timeline:
            self.load()

    @work(thread=True, exclusive=True, group="document", exit_on_error=False)
    def load(self) -> None:
        """Put the context together beside the keys."""
        seen = load_context(self.trace, self.selected_event)
        self.app.call_from_thread(self.document.show, seen.model)

    def action_other_pane(self) -> None:
        """Move between the panes."""
        other = self.document if self.timeline.has_focus else self.timeline
        other.focus()

    def action_back_to_timeline(self) -> None:
        """Leave the document."""
        self.timeline.focus()

    def action_step_call(self, by: int) -> None:
        """Go to the previous or next model call."""
        heads = [head.id for head in self.trace.tape.of_type(LLM_REQUEST)]
        here = self.selected_event
        found = [e for e in heads if (e > here if by > 0 else e < here)]
        if found:
            self.timeline.show_event(found[0] if by > 0 else found[-1])
