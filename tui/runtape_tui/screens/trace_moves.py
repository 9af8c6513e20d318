"""Moving through a run: tabs, panes, jumps, marks, folds."""

from __future__ import annotations

from runtape.reports.sheet import Tone
from runtape.workbench import Trace
from runtape_tui.screens.trace_view import TraceView
from runtape_tui.state import TraceState
from runtape_tui.view_models.history import History
from runtape_tui.view_models.loading import Tab
from runtape_tui.view_models.navigation import next_call, next_same_tool, step
from runtape_tui.widgets.divider import Divider
from runtape_tui.widgets.line_view import LineView
from runtape_tui.widgets.tab_bar import TabBar

_NARROWEST, _WIDEST = 20, 70
"""Percent of the screen that the timeline may take."""


class TraceMoves(TraceView):
    """What keys and mouse do to see another place."""

    def __init__(self, trace: Trace, event: int | None, state: TraceState) -> None:
        super().__init__(trace, event, state)
        self._history = History()

    def jump(self, event: int | None, otherwise: str) -> None:
        """Go to an event and remember where from; or say that there is none."""
        if event is None:
            self.say(otherwise, Tone.QUIET)
            return
        self._history.leave(self.selected_event)
        self.following = False
        self.timeline.show_event(event)
        self.show_place()

    # Panes

    def on_line_view_chosen(self, message: LineView.Chosen) -> None:
        """Enter: from the timeline into the document; there it folds."""
        if message.view is self.timeline:
            self.read(reading=True)
        elif message.view is self.document:
            self.document.fold()

    def on_tab_bar_picked(self, message: TabBar.Picked) -> None:
        """A click on a tab."""
        self.action_show_tab(message.tab.name)

    def on_divider_dragged(self, message: Divider.Dragged) -> None:
        """The mouse pulls the divider."""
        self._set_left(round(100 * message.column / max(1, self.size.width)))

    def action_other_pane(self) -> None:
        """Move between the panes."""
        self.read(reading=not self.reading)

    def action_back(self) -> None:
        """Leave the document."""
        self.read(reading=False)

    def action_toggle_single(self) -> None:
        """One pane, or two where there is room."""
        self._single = not self._single
        self._arrange(self.size.width, self.size.height)

    def action_resize_left(self, by: int) -> None:
        """Move the divider."""
        self._set_left(self._left + by)

    def _set_left(self, percent: int) -> None:
        self._left = max(_NARROWEST, min(_WIDEST, percent))
        self._arrange(self.size.width, self.size.height)

    # Tabs

    def action_show_tab(self, name: str) -> None:
        """Show another tab; from the timeline of a narrow screen it is opened too."""
        self.against = None if name == Tab.DIFF.name else self.against
        self._show_tab(Tab[name])

    def _show_tab(self, tab: Tab) -> None:
        self.tab = tab
        self._show_titles()
        self.load()
        if self.narrow and not self.reading:
            self.read(reading=True)

    def action_diff_mark(self) -> None:
        """Diff with the nearest mark; a second time with the call before."""
        marks = sorted(self.timeline.marks - {self.selected_event})
        if not marks or (self.tab is Tab.DIFF and self.against is not None):
            self.against = None
            if not marks:
                self.say("no other event is marked: compared with the call before", Tone.QUIET)
        else:
            here = self.selected_event
            self.against = min(marks, key=lambda mark: abs(mark - here))
            self.say(f"compared with the marked event #{self.against}", Tone.QUIET)
        self._show_tab(Tab.DIFF)

    # Jumps

    def action_step_call(self, by: int) -> None:
        """The next or previous model call; within a diff the next or previous change."""
        if self.reading and self.pane is self.diff and self.diff.step_change(by):
            return
        found = next_call(self.trace.tape, self.selected_event, by)
        self.jump(found, f"no model call {_where(by)}")

    def action_step_tool(self, by: int) -> None:
        """The next or previous call of the same tool."""
        name, found = next_same_tool(self.trace.tape, self.selected_event, by)
        missing = f"no other call of {name} {_where(by)}" if name else "this event is of no tool"
        self.jump(found, missing)

    def action_step_error(self, by: int) -> None:
        """The next or previous thing that went wrong."""
        errors = sorted(self.survey.errors)
        missing = f"no error {_where(by)}" if self.survey.done else "still looking for errors"
        self.jump(step(errors, self.selected_event, by), missing)

    def action_travel(self, by: int) -> None:
        """Back to where one was, or forward again."""
        here = self.selected_event
        place = self._history.back(here) if by < 0 else self._history.forward(here)
        if place is None:
            self.say("that is as far as it goes", Tone.QUIET)
        else:
            self.timeline.show_event(place, centre=True)

    # Marks

    def action_mark(self) -> None:
        """Mark the event, or take the mark away."""
        if self.selected_event >= 0:
            self.timeline.marks ^= {self.selected_event}
            self.timeline.redraw((self.timeline.cursor,))

    def action_step_mark(self) -> None:
        """The next mark, round and round."""
        marks = sorted(self.timeline.marks)
        found = step(marks, self.selected_event, 1)
        first = marks[0] if marks else None
        self.jump(first if found is None else found, "no event is marked: m marks one")

    # How it looks

    def action_follow(self) -> None:
        """Stay on the last event while the run is recorded, or stop that."""
        self.following = not self.following
        if self.following:
            self.timeline.action_move_to(-1)
            if self.trace.tape.ended:
                self.say("this run has ended", Tone.QUIET)
        self.show_place()

    def action_wrap(self) -> None:
        """Wrap long lines, or let them be panned to."""
        self.document.set_wrap(not self.document.wrap)
        self.say("long lines are wrapped" if self.document.wrap else "long lines run on: ← →")

    def action_fold_all(self) -> None:
        """Fold everything, or unfold it."""
        if self.pane is self.document:
            self.document.fold_all()

    def action_unify(self) -> None:
        """Two columns, or one."""
        self.diff.unify()


def _where(by: int) -> str:
    return "after this" if by > 0 else "before this"
