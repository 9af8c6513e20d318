"""Why: the live heatmap of one decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer

from runtape.attribution.facts import Fact
from runtape.context import Context, build_context
from runtape.errors import IncompleteContext, RuntapeError
from runtape.reports.fix_report import FixReport
from runtape.reports.sheet import Line, Tone
from runtape.reports.why_report import WhyReport
from runtape.reports.why_text import why_sheet
from runtape.workbench import Trace, WhyJob
from runtape_tui.actions import Scope, bindings
from runtape_tui.asking import JobOptions
from runtape_tui.jobs import JobRunner
from runtape_tui.safe import content
from runtape_tui.screens.saving import SavingScreen, Test, choose_cause_test
from runtape_tui.tickets import Item, Job, JobKind, JobState, Problem, Ticket
from runtape_tui.view_models.bars import BAR_LEGEND
from runtape_tui.view_models.document import DocumentModel, Tint
from runtape_tui.view_models.findings import (
    activity_line,
    answer_line,
    baseline_line,
    detail_sheet,
    hint_line,
    overview_sheet,
    problem_line,
    question_line,
    waiting_line,
)
from runtape_tui.view_models.heatmap import Heatmap, Order
from runtape_tui.view_models.tints import tint_of
from runtape_tui.widgets.bar import Bar
from runtape_tui.widgets.document import Document
from runtape_tui.widgets.heatmap import HeatmapHead, HeatmapView
from runtape_tui.widgets.line_view import LineView
from runtape_tui.widgets.sheet_view import Lines, SheetView
from runtape_tui.widgets.status_line import STYLES

_REST = 0.05
"""Seconds without a move after which text and details follow the cursor."""
_WIDE = 100
"""Cells from which list and context stand side by side."""


class WhyScreen(SavingScreen):
    """Which part of the context caused a decision: every piece, its runs, its p, as they come."""

    KIND = JobKind.WHY
    SCOPES = (Scope.WHY, Scope.ROWS)
    LEGEND = BAR_LEGEND
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.WHY)]

    DEFAULT_CSS = """
    WhyScreen #head { background: $surface; }
    WhyScreen #list { width: 58%; }
    WhyScreen #right { width: 1fr; border-left: solid $panel; }
    WhyScreen #details { height: 9; border-top: solid $panel; }
    WhyScreen.-narrow #list { width: 1fr; }
    WhyScreen.-narrow #right { border-left: none; }
    WhyScreen.-narrow #details { height: 1fr; border-top: none; }
    """

    def __init__(self, trace: Trace, event: int, jobs: JobRunner) -> None:
        super().__init__(trace, event, jobs)
        self.heat = Heatmap()
        self.rows = HeatmapView(self.heat, id="rows")
        self.head = Lines(id="head")
        self.document = Document(id="document")
        self.title_bar = Bar(id="right-title")
        self.details = SheetView(id="details")
        self._job: WhyJob | None = None
        self._report: WhyReport | None = None
        self._problem: Problem | None = None
        self._unshown = True
        self._rest: Timer | None = None

    def compose(self) -> ComposeResult:
        """Question, rows and context, details, bill."""
        yield self.head
        with Horizontal(id="panes"):
            with Vertical(id="list"):
                yield HeatmapHead()
                yield self.rows
            with Vertical(id="right"):
                yield self.title_bar
                yield self.document
        yield self.details
        yield self.status
        yield self.hints

    # The job

    def ready(self) -> None:
        """Show the last answer about this event, or ask."""
        self._arrange()
        self.rows.focus()
        before = self.jobs.newest(JobKind.WHY, self.event)
        if before is None:
            self.ask()
            return
        assert isinstance(before.job, WhyJob)  # noqa: S101 - of its kind
        self.prepared(before.job)
        self.attach(before)

    def prepare(self, options: JobOptions) -> WhyJob:
        """A `why` about the event."""
        return self.jobs.engine.why(self.trace, self.event, options.why())

    def prepared(self, job: Job) -> None:
        """All pieces, none tested yet; the context beside them."""
        assert isinstance(job, WhyJob)  # noqa: S101 - what `prepare` made
        self._job = job
        call = f"context of model call #{job.decision.request}"
        self.title_bar.set(content(call, STYLES[Tone.QUIET]))
        self._start_over()
        self._load_document()

    def begin(self, ticket: Ticket) -> None:
        """Forget what an earlier job told."""
        del ticket
        self._start_over()

    def take(self, items: Sequence[Item]) -> None:
        """Facts go into the model; nothing is painted yet."""
        for item in items:
            if isinstance(item, Fact):
                self.heat.take(item)

    def paint(self, *, slow: bool) -> None:
        """Paint the rows that changed, tint their text, keep the head current."""
        if slow:
            self.rows.turn()
        changes = self.heat.flush()
        self.rows.apply(changes)
        if changes.pieces:
            self.document.set_tints(self._tints(changes.pieces))
        self._unshown = self._unshown or bool(changes.head or changes.pieces)
        if self._unshown and (slow or changes.moved):
            # What stands at the top and at the bottom would have all between painted again.
            self._unshown = False
            self._show_head()
            self._show_details()

    def ended(self, ticket: Ticket) -> None:
        """Say what was found."""
        del ticket
        if self.heat.report is not None and self._job is not None:
            self._report = self._job.report(self.heat.report)
        self._show_head()
        self._show_details()

    def refused(self, problem: Problem) -> None:
        """Say in the place of the answer why there is none."""
        self._problem = problem
        self._show_head()

    def _start_over(self) -> None:
        job = self._job
        context = job.context if job is not None else None
        self.heat = Heatmap(context.roots if isinstance(context, Context) else (), self.heat.order)
        self._report = self._problem = None
        self.rows.show(self.heat)
        self.document.set_tints(dict.fromkeys(self.document.model.tints, Tint.NONE))
        self._show_head()
        self._show_details()

    # The context beside the rows

    @work(thread=True, exclusive=True, group="document", exit_on_error=False)
    def _load_document(self) -> None:
        """A context of its own: the job unfolds pieces in another thread."""
        job = self._job
        if job is None or isinstance(job.context, IncompleteContext):
            return
        try:
            context = build_context(self.trace.tape, job.decision.request)
        except RuntapeError:
            return  # the job says so
        model = DocumentModel.of_context(context)
        self.app.call_from_thread(self._show_document, model)

    def _show_document(self, model: DocumentModel) -> None:
        self.document.show(model)
        self.document.set_tints(self._tints(row.piece.id for row in self.heat.rows))
        self._follow_cursor()

    def _tints(self, pieces: Iterable[int]) -> dict[int, Tint]:
        return {number: tint_of(self.heat, number) for number in pieces}

    # Words

    def _show_head(self) -> None:
        columns = max(40, self.size.width - 2)
        decision = self._job.decision if self._job is not None else None
        lines: list[Line] = []
        if decision is not None:
            lines += [question_line(decision, columns), baseline_line(self.heat, columns)]
        self.head.set(*lines, *self._answer(columns))

    def _answer(self, columns: int) -> list[Line]:
        if self._problem is not None:
            found = [problem_line(self._problem.text, columns)]
            return [*found, hint_line(self._problem.hint, columns)] if self._problem.hint else found
        if self._report is not None:
            return [answer_line(self._report, columns)]
        if self.ticket is not None and self.ticket.state is JobState.RUNNING:
            return [activity_line(self.heat, columns)]
        waits = self.ticket is not None and self.ticket.open
        return [waiting_line("waits for the job before it" if waits else "nothing asked yet")]

    def _show_details(self) -> None:
        row = self.rows.selected
        if row is None or not self.details.display:
            return
        columns = max(40, self.size.width - 3)
        alone = self.has_class("-narrow")
        sheet = detail_sheet(self.heat, row, columns, self._report, with_text=alone)
        lines = [*sheet.lines]
        if self._report is not None:
            lines += overview_sheet(self._report, columns).lines
        self.details.set(lines)

    # Panes

    def on_resize(self, event: events.Resize) -> None:
        """One pane or two."""
        self.set_class(event.size.width < _WIDE, "-narrow")
        self.details.styles.height = None if event.size.width < _WIDE else _share(event.size.height)
        self._arrange()
        self._show_head()

    @property
    def _panes(self) -> tuple[LineView, ...]:
        return (self.rows, self.document, self.details)

    def _arrange(self) -> None:
        """Under 100 columns one pane at a time: the one that has the keys."""
        narrow = self.has_class("-narrow")
        shown = next((pane for pane in self._panes if pane.has_focus), self.rows)
        self.query_one("#panes").display = not narrow or shown is not self.details
        self.query_one("#list").display = not narrow or shown is self.rows
        self.query_one("#right").display = not narrow or shown is self.document
        self.details.display = not narrow or shown is self.details

    def on_descendant_focus(self) -> None:
        """Show the pane that has the keys now."""
        self._arrange()
        self._show_details()

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        """The context follows the rows, and the rows follow the context."""
        if message.view is self.rows:
            self._follow_soon()
        elif message.view is self.document and self.document.has_focus:
            self._follow_document()

    def on_line_view_chosen(self, message: LineView.Chosen) -> None:
        """Enter: on a row its details, in the context fold."""
        if message.view is self.rows:
            self._focus(self.details)
        elif message.view is self.document:
            self.document.fold()

    def _follow_soon(self) -> None:
        """Once the cursor rests: a key held down moves it faster than texts can be painted."""
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(_REST, self._follow_cursor)

    def _follow_cursor(self) -> None:
        self._show_details()
        row = self.rows.selected
        if row is not None and not self.document.has_focus and self.document.model.context:
            self.document.show_piece(row.piece.id)

    def _follow_document(self) -> None:
        model, here = self.document.model, self.rows.selected
        if here is not None and model.row_of_piece(here.piece) == self.document.cursor:
            return  # a row of the text may begin before the piece does
        piece, context = model.piece_at(self.document.cursor), model.context
        while piece is not None and context is not None:
            if self.heat.row(piece.id) is not None:
                self.rows.show_piece(piece.id)
                return
            piece = None if piece.parent is None else context.by_id(piece.parent)

    def _focus(self, pane: LineView) -> None:
        for box in (self.query_one("#panes"), self.query_one("#list"), self.query_one("#right")):
            box.display = True  # what is hidden cannot take the keys
        self.details.display = True
        pane.focus()

    # Actions

    def action_other_pane(self) -> None:
        """The next pane."""
        here = next((at for at, pane in enumerate(self._panes) if pane.has_focus), 0)
        self._focus(self._panes[(here + 1) % len(self._panes)])

    def action_sort(self) -> None:
        """The next order."""
        orders = list(Order)
        self.heat.order = orders[(orders.index(self.heat.order) + 1) % len(orders)]
        self.rows.apply(self.heat.flush())
        self.status.say(f"Sorted {self.heat.order.value}.", Tone.QUIET)

    def action_follow(self) -> None:
        """Let the cursor follow what is most worth looking at."""
        self.rows.follow()

    def action_whatif(self) -> None:
        """Open the bench with this piece taken out."""
        from runtape_tui.screens.whatif import WhatIfScreen  # noqa: PLC0415 - it opens this one too

        row = self.rows.selected
        off = () if row is None else (row.piece.id,)
        self.app.push_screen(WhatIfScreen(self.trace, self.event, self.jobs, off=off))

    def action_fix(self) -> None:
        """Try remedies, with the cause that was found here."""
        from runtape_tui.screens.fix import FixScreen  # noqa: PLC0415 - only when it is asked for

        self.app.push_screen(FixScreen(self.trace, self.event, self.jobs))

    def action_chain(self) -> None:
        """Go back to the decisions that led there."""
        from runtape_tui.screens.chain import ChainScreen  # noqa: PLC0415 - same

        self.app.push_screen(ChainScreen(self.trace, self.event, self.jobs))

    def action_odds(self) -> None:
        """See how often the unchanged context gives the decision."""
        from runtape_tui.screens.odds import OddsScreen  # noqa: PLC0415 - only when it is asked for

        self.app.push_screen(OddsScreen(self.trace, self.event, self.jobs))

    def result(self) -> tuple[WhyReport, FixReport | None] | None:
        """The report, without remedies."""
        return None if self._report is None else (self._report, None)

    def choose_test(self, then: Callable[[Test], None]) -> None:
        """The recorded context, or the one without the cause."""
        if self._report is not None:
            choose_cause_test(self, self._report, then)

    def action_copy(self) -> None:
        """Copy the report, or before it is there the text of the piece."""
        row = self.rows.selected
        if self._report is not None:
            self.copy(why_sheet(self._report).plain())
        elif row is not None:
            self.copy(row.piece.text)


def _share(height: int) -> int:
    """Rows of the details below two panes, with the line above them."""
    return max(5, min(10, height // 4))
