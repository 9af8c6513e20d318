"""The trace screen's ground: panes, what they show, how they share the screen, the growing file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import get_current_worker

from runtape.reports.sheet import Tone
from runtape.reports.words import plural, tokens
from runtape.tape.events import LLM_REQUEST
from runtape.workbench import Trace
from runtape_tui.actions import Scope, bindings
from runtape_tui.feed import NEWS_WORDS, Feed, News
from runtape_tui.host import host
from runtape_tui.safe import content
from runtape_tui.state import TraceState
from runtape_tui.view_models.loading import Loaded, Loader, Tab
from runtape_tui.view_models.survey import Survey
from runtape_tui.view_models.timeline import TimelineModel
from runtape_tui.widgets.bar import Bar, TitleBar
from runtape_tui.widgets.diff_pane import DiffPane
from runtape_tui.widgets.divider import Divider
from runtape_tui.widgets.document import Document
from runtape_tui.widgets.line_view import LineView
from runtape_tui.widgets.search_bar import SearchBar
from runtape_tui.widgets.status_line import STYLES, KeyHints, StatusLine
from runtape_tui.widgets.tab_bar import TabBar
from runtape_tui.widgets.timeline import Timeline

TWO_PANES = 100
"""Columns from which both panes are shown."""
SMALLEST = (60, 15)
"""Columns and rows below which nothing useful can be shown."""
_LEAST = 24
"""Columns of the timeline at least."""
_LOW = 18
"""Rows below which the title and the keys are left out."""
REST = 0.06
"""Seconds the cursor rests before the right pane follows it."""
_OFTEN = 0.1
"""Seconds between two words on where a moving cursor is."""
_LOOK = 0.7
"""Seconds between two looks at the file."""
_SLICE, _PAUSE = 0.002, 0.003
"""Seconds the survey works and rests: keys come first."""


class TraceView(Screen[None]):
    """One run on the screen; what keys do with it stands in the classes built on this one.

    Attributes:
        trace: the run.
        timeline: the left pane.
        document: the right pane for all tabs but the diff.
        diff: the right pane for the diff.
        tab: what the right pane shows.
        following: whether the cursor stays on the last event.
    """

    SCOPES: ClassVar[tuple[Scope, ...]] = (Scope.TRACE,)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.TRACE)]

    def __init__(self, trace: Trace, event: int | None, state: TraceState) -> None:
        super().__init__()
        self.trace = trace
        self.survey = Survey(trace.tape)
        self.timeline = Timeline(TimelineModel(trace.tape, self.survey), id="timeline")
        self.document = Document(id="document")
        self.diff = DiffPane(id="diff")
        self.timeline.add_class("left")
        self.document.add_class("right")
        self.diff.add_class("right")
        self.tab = Tab[state.tab.upper()] if state.tab.upper() in Tab.__members__ else Tab.CONTEXT
        self.following = False
        self.against: int | None = None
        self.timeline.marks = set(state.marks)
        self.document.wrap = state.wrap
        self._toggled = set(state.folds)
        self._left = state.left
        self._single = False
        self.first_event = _start(trace, state) if event is None else event
        self.wanted_theme = state.theme
        self._loader = Loader(trace)
        self._feed = Feed(trace.tape)
        self._loaded: Loaded | None = None
        self._rest: Timer | None = None
        self._placed = 0.0

    @property
    def selected_event(self) -> int:
        """The event under the timeline's cursor."""
        event = self.timeline.event
        return -1 if event is None else event

    def state(self) -> TraceState:
        """What to remember of it."""
        self._note_folds()
        return TraceState(
            event=self.selected_event,
            tab=self.tab.name.lower(),
            folds=sorted(self._toggled),
            marks=sorted(self.timeline.marks),
            left=self._left,
            wrap=self.document.wrap,
            theme=self.app.theme,
        )

    # Parts

    def compose(self) -> ComposeResult:
        """Title, two panes, status, keys."""
        yield TitleBar(id="title")
        yield Bar(id="left-title", classes="pane-title left")
        yield Divider(id="divider")
        yield TabBar(id="tabs", classes="right")
        yield self.timeline
        yield self.document
        yield self.diff
        yield SearchBar(id="search")
        yield StatusLine(id="status")
        yield KeyHints(id="hints")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        """Start where the reader was, or on the event asked for."""
        self.diff.add_class("-hidden")
        self.timeline.focus()
        self.query_one(KeyHints).show(host(self).hints(Scope.TRACE, Scope.APP))
        if self.first_event is not None:
            self.timeline.show_event(self.first_event, centre=True)
        self.show_place()
        self.load()
        self._look_around()
        self.set_interval(_LOOK, self.look)

    # Sharing the screen

    def on_resize(self, event: events.Resize) -> None:
        """Two panes, one, or a word that there is no room."""
        self._arrange(event.size.width, event.size.height)

    @property
    def narrow(self) -> bool:
        """Whether only one pane is shown at a time."""
        return self._single or self.size.width < TWO_PANES

    def _arrange(self, width: int, height: int) -> None:
        tiny = width < SMALLEST[0] or height < SMALLEST[1]
        if self.has_class("-tiny") and not tiny:  # what is hidden loses the keys
            self.call_after_refresh(self.read, reading=self.reading)
        self.set_class(tiny, "-tiny")
        self.set_class(height < _LOW, "-low")
        self.set_class(self.narrow, "-single")
        words = f"runtape needs {SMALLEST[0]}×{SMALLEST[1]}, this is {width}×{height}"
        self.query_one("#too-small", Bar).set(content(words, "$warning"))
        left = max(_LEAST, width * self._left // 100)
        self.styles.grid_columns = "1fr" if self.narrow else f"{left} 1 1fr"

    def read(self, *, reading: bool) -> None:
        """Give the keys to the right pane, or to the timeline."""
        self.set_class(reading, "-reading")
        (self.pane if reading else self.timeline).focus()

    @property
    def pane(self) -> LineView:
        """What the right pane shows now."""
        return self.document if self.diff.has_class("-hidden") else self.diff

    @property
    def reading(self) -> bool:
        """Whether the keys go to the right pane."""
        return self.has_class("-reading")

    def on_descendant_focus(self) -> None:
        """Mark the pane that has the keys."""
        focused = self.focused
        if isinstance(focused, LineView):
            self.set_class(focused is not self.timeline, "-reading")
            self._show_titles()

    # Loading

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        """Follow the cursor of the timeline once it rests; say where one is."""
        if message.view is self.timeline:
            self.load_soon()
        if time.monotonic() - self._placed > _OFTEN:
            self.show_place()
        elif self._rest is None:
            self._rest = self.set_timer(REST, self._rested)

    def load_soon(self) -> None:
        """Load as soon as the cursor rests: a held key must not lag."""
        if self._rest is None:
            self._rest = self.set_timer(REST, self._rested)
        else:
            self._rest.reset()

    def _rested(self) -> None:
        self._rest = None
        self.show_place()
        if self._loaded is None or self._loaded.event != self.selected_event:
            self.load()

    @property
    def is_loading_soon(self) -> bool:
        """Whether the right pane waits for the cursor to rest."""
        return self._rest is not None

    def load(self) -> None:
        """Load what the tab shows of the selected event."""
        if self.selected_event >= 0:
            document = self.document
            self._load(self.selected_event, self.tab, (document.columns, document.wrap))

    @work(thread=True, exclusive=True, group="load", exit_on_error=False)
    def _load(self, event: int, tab: Tab, layout: tuple[int, bool]) -> None:
        """Load beside the keys, and lay out there too: both may take long."""
        loaded = self._loader.load(event, tab, self.against)
        if loaded.document is not None:
            loaded.document.lay_out(layout[0], wrap=layout[1])
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self.show, loaded)

    def show(self, loaded: Loaded) -> None:
        """Show what was loaded, unless the reader has moved on, or it is there already."""
        if (loaded.event, loaded.tab) != (self.selected_event, self.tab):
            return
        same = self._loaded is not None and self._loaded.key == loaded.key
        self._note_folds()
        if same and self._loaded is not None:
            loaded = self._loaded.about(loaded)
        self._loaded = loaded
        if not same:
            self._replace(loaded)
            self.shown_anew()
        self._show_titles()
        self.show_place()

    def _replace(self, loaded: Loaded) -> None:
        had_keys = self.reading
        self.diff.set_class(loaded.diff is None, "-hidden")
        self.document.set_class(loaded.diff is not None, "-hidden")
        if loaded.diff is not None:
            self.diff.show(loaded.diff)
        elif loaded.document is not None:
            for section in loaded.document.all_sections():
                if section.key in self._toggled:
                    section.folded = not section.folded
            self.document.show(loaded.document, start=loaded.news)
        if had_keys:
            self.pane.focus()

    def shown_anew(self) -> None:
        """Hook: the right pane shows something else."""

    def _note_folds(self) -> None:
        """Remember which sections were folded or unfolded by hand."""
        if self._loaded is None or self._loaded.document is None:
            return
        for section in self._loaded.document.all_sections():
            if section.folded is not section.starts_folded:
                self._toggled.add(section.key)
            else:
                self._toggled.discard(section.key)

    # Words

    def _show_titles(self) -> None:
        subject = "" if self._loaded is None else self._loaded.subject
        tabs = self.query_one(TabBar)
        tabs.show(self.tab, content(subject, STYLES[Tone.QUIET]), focused=self.reading)
        style = "bold $foreground" if self.reading else "bold $primary underline"
        self.query_one("#left-title", Bar).set(
            Content.assemble(("timeline", style)), content(self.left_words(), STYLES[Tone.QUIET])
        )

    def left_words(self) -> str:
        """What stands right of the timeline's title."""
        return ""

    def _show_title(self) -> None:
        survey = self.survey
        words = [plural(len(self.trace.tape.heads), "event")]
        if survey.input_tokens:
            words.append(f"{tokens(survey.input_tokens)} tokens in")
        if survey.output_tokens:
            words.append(f"{tokens(survey.output_tokens)} out")
        errors = plural(len(survey.errors), "error") if survey.errors else ""
        self.query_one("#title", Bar).set(
            Content.assemble(
                ("runtape  ", STYLES[Tone.MARK]),
                content(self.trace.name, STYLES[Tone.STRONG]),
                ("  " + " · ".join(words), STYLES[Tone.QUIET]),
                (f" · {errors}" if errors else "", STYLES[Tone.BAD]),
            ),
            content(self.trace.path.name, STYLES[Tone.QUIET]),
        )

    def show_place(self) -> None:
        """Say where one is, in the status line."""
        self._placed = time.monotonic()
        parts: list[str | Content | tuple[str, str]] = [content(" · ".join(self.place_words()))]
        if self.following:
            parts.append(("  ▼ following", STYLES[Tone.GOOD]))
        self.query_one(StatusLine).show_place(Content.assemble(*parts))

    def place_words(self) -> Iterator[str]:
        """Where one is, in a few words."""
        timeline = self.timeline
        if timeline.row_count:
            yield f"#{self.selected_event}"
            yield f"event {timeline.cursor + 1:,} of {timeline.row_count:,}"
            lane = self.survey.lane(self.selected_event)
            if lane is not None:
                yield f"lane {lane + 1}: {self.survey.lanes[lane]}"
        if self.reading and self.pane is self.document:
            piece = self.document.model.piece_at(self.document.cursor)
            if piece is not None:
                yield f"piece {piece.ref}"

    def say(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        """Say something in the status line."""
        self.query_one(StatusLine).say(text, tone)

    # The file

    def look(self) -> None:
        """See whether the file grew, or something happened to it."""
        news = self._feed.poll()
        if news in NEWS_WORDS:
            self.say(NEWS_WORDS[news], Tone.WARN)
        if news is News.REPLACED:
            self._start_anew()
        elif news is News.GREW:
            self.grown()
        if news in {News.REPLACED, News.GREW}:
            self._look_around()

    def grown(self) -> None:
        """There are more events."""
        self.timeline.refresh_rows(grown=True)
        if self.following:
            self.timeline.action_move_to(-1)
        self.show_place()

    def _start_anew(self) -> None:
        """The file is another one now: nothing that was read of it holds."""
        self._loader.forget()
        self._loaded = None
        self.survey = Survey(self.trace.tape)
        self.timeline.model.forget(self.survey)
        self.timeline.refresh_rows()
        self.load()
        self.show_place()

    @work(thread=True, exclusive=True, group="survey", exit_on_error=False)
    def _look_around(self) -> None:
        """Look at every event in small steps, so that keys never wait."""
        worker, survey = get_current_worker(), self.survey
        step = 0
        while not worker.is_cancelled and not survey.done:
            survey.look(_SLICE)
            time.sleep(_PAUSE)
            step += 1
            if step % 60 == 0:
                self.app.call_from_thread(self._surveyed)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._surveyed)

    def _surveyed(self) -> None:
        self._show_title()
        self.timeline.surveyed()


def _start(trace: Trace, state: TraceState) -> int | None:
    """Where the reader was, else the first model call."""
    calls = trace.tape.of_type(LLM_REQUEST)
    return calls[0].id if state.event is None and calls else state.event
