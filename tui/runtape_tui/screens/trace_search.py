"""Searching a run, filtering its timeline, going to a place by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from textual import work
from textual.worker import get_current_worker

from runtape.errors import EventNotFound, RuntapeError, UsageError
from runtape.reports.sheet import Tone
from runtape.tape.reader import Tape
from runtape.workbench import Trace, find_event
from runtape_tui.screens.trace_moves import TraceMoves
from runtape_tui.searching import Filter, Search
from runtape_tui.state import TraceState
from runtape_tui.widgets.search_bar import Asked, SearchBar

_BATCH = 200
"""Finds between two repaints."""


class _Task(Protocol):
    def run(self, tape: Tape, go_on: Callable[[], bool]) -> Iterable[None]: ...


class TraceSearch(TraceMoves):
    """What is asked for by typing."""

    def __init__(self, trace: Trace, event: int | None, state: TraceState) -> None:
        super().__init__(trace, event, state)
        self.search = Search()
        self.shown_by: Filter | None = None
        self._keep = -1

    # Typing

    def action_search(self) -> None:
        """Type a pattern."""
        self.query_one(SearchBar).open(Asked.SEARCH)

    def action_filter(self) -> None:
        """Type a filter."""
        self.query_one(SearchBar).open(Asked.FILTER, self.shown_by.text if self.shown_by else "")

    def action_goto(self) -> None:
        """Type a place."""
        self.query_one(SearchBar).open(Asked.PLACE)

    def on_search_bar_typed(self, message: SearchBar.Typed) -> None:
        """Light what matches so far."""
        bar = self.query_one(SearchBar)
        try:
            search = Search(message.text if message.asked is not Asked.PLACE else "")
        except UsageError as error:
            bar.note(error.message.rpartition(": ")[2], wrong=True)
            return
        bar.note("")
        if message.asked is Asked.SEARCH:
            self._light(search)
            if search.pattern is not None:
                bar.note(f"{len(self.document.model.hits.all)} here")

    def on_search_bar_done(self, message: SearchBar.Done) -> None:
        """Take what was typed, or leave everything as it was."""
        self.read(reading=self.reading)
        text = message.text
        if message.asked is Asked.SEARCH:
            self._take_search(text)
        elif text is not None and message.asked is Asked.FILTER:
            self._take_filter(text)
        elif text:
            self._go(text.strip())
        self.show_place()

    # Searching

    def _take_search(self, text: str | None) -> None:
        if text is not None:
            try:
                self.search = Search(text)
            except UsageError as error:
                self.say(error.message, Tone.BAD)
        self._light(self.search)
        if text and self.search.pattern is not None:
            self._run(self.search, self._searched)
            if self.reading:
                self.action_step_hit(1)

    def _light(self, search: Search) -> None:
        self.timeline.show_hits(search.pattern, search.events)
        self.document.light(search.pattern)
        self.diff.light(search.pattern)

    def shown_anew(self) -> None:
        """Light the pattern in what is shown now."""
        if self.search.pattern is not None:
            self._light(self.search)

    def _searched(self) -> None:
        self.timeline.show_hits(self.search.pattern, self.search.events)
        if self.search.done and not self.search.events:
            self.say(f"nothing matches {self.search.text}", Tone.WARN)
        self.show_place()

    def action_step_hit(self, by: int) -> None:
        """The next or previous hit: in the document, else the next event that holds one."""
        if self.search.pattern is None:
            self.say("nothing is searched for: / searches", Tone.QUIET)
        elif self.reading:
            beyond = self.pane.step_hit(by)
            if beyond is None:
                self.say(f"no hit of {self.search.text} here", Tone.QUIET)
            elif beyond:
                self.say("round the end" if by > 0 else "round the beginning", Tone.QUIET)
        else:
            event, beyond = self.search.next_event(self.selected_event, by)
            self.jump(event, f"no event holds {self.search.text}")
            if beyond:
                self.say("round the end" if by > 0 else "round the beginning", Tone.QUIET)

    # Filtering

    def _take_filter(self, text: str) -> None:
        here = self.selected_event
        try:
            self.shown_by = Filter(text) if text else None
        except UsageError as error:
            self.say(error.message, Tone.BAD)
            return
        self.timeline.model.filtered = None if self.shown_by is None else self.shown_by.numbers
        self.timeline.refresh_rows()
        self.timeline.show_event(here)
        if self.shown_by is not None:
            self._keep = here
            self._run(self.shown_by, self._filtered)
        self._show_titles()

    def _filtered(self) -> None:
        self.timeline.refresh_rows()
        self.timeline.show_event(self._keep)
        self._show_titles()
        self.show_place()
        self.load_soon()

    def grown(self) -> None:
        """The filter looks at the new events too."""
        super().grown()
        if self.shown_by is not None:
            self._keep = self.selected_event
            self._run(self.shown_by, self._filtered)

    def action_back(self) -> None:
        """Leave the document; from the timeline, clear the filter, then the search."""
        if self.reading:
            super().action_back()
        elif self.shown_by is not None:
            self._take_filter("")
        elif self.search.pattern is not None:
            self.search = Search()
            self._light(self.search)
            self.show_place()

    @work(thread=True, exclusive=True, group="finding", exit_on_error=False)
    def _run(self, task: _Task, found: Callable[[], None]) -> None:
        """Look through the run beside the keys."""
        worker = get_current_worker()
        try:
            for number, _ in enumerate(task.run(self.trace.tape, lambda: not worker.is_cancelled)):
                if number % _BATCH == 0:
                    self.app.call_from_thread(found)
        except RuntapeError as error:
            self.app.call_from_thread(self.say, error.message, Tone.BAD)
        if not worker.is_cancelled:
            self.app.call_from_thread(found)

    # Places

    def _go(self, text: str) -> None:
        """Go to an event, or to a piece of the context that is shown."""
        try:
            self.jump(find_event(self.trace, text), "")
        except EventNotFound as missing:
            self._go_to_piece(text, missing)

    def _go_to_piece(self, ref: str, missing: EventNotFound) -> None:
        if self.document.model.context is None or self.pane is not self.document:
            self.say(str(missing), Tone.WARN)
            return
        try:
            self.document.show_piece(ref)
        except RuntapeError as error:
            is_ref = ref[:1].isdigit() and not ref.isdigit()
            self.say(str(error if is_ref else missing), Tone.WARN)
        else:
            self.read(reading=True)

    # Words

    def left_words(self) -> str:
        """The filter, beside the title of the timeline."""
        if self.shown_by is None:
            return ""
        return f"{self.shown_by.text}  {len(self.timeline.model)}/{len(self.trace.tape.heads)}"

    def place_words(self) -> Iterator[str]:
        """The search, after the place."""
        yield from super().place_words()
        if self.search.pattern is not None:
            yield self.search.words
