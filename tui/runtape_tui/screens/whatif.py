"""What if: take pieces out, edit them, swap prompt or model, and see what the model does then."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from runtape.errors import RuntapeError
from runtape.reports.commands import Suggestion, carried
from runtape.reports.sheet import Sheet, Span, Tone, line
from runtape.reports.why_report import Subject
from runtape.reports.words import piece_words
from runtape.workbench import SampleJob, Trace
from runtape.workbench.presentation import subject_with_handle
from runtape.workbench.results import changed_settings
from runtape_tui.actions import Scope, bindings
from runtape_tui.asking import JobOptions
from runtape_tui.external import rewrite
from runtape_tui.jobs import JobRunner
from runtape_tui.safe import content
from runtape_tui.screens.edit import EditScreen
from runtape_tui.screens.samples import SampleScreen
from runtape_tui.tickets import JobKind, Problem, Ticket
from runtape_tui.view_models.editable import editable, edited
from runtape_tui.view_models.whatif import Bench
from runtape_tui.widgets.bar import Bar
from runtape_tui.widgets.line_view import LineView
from runtape_tui.widgets.piece_list import PieceList
from runtape_tui.widgets.sheet_view import Lines, SheetView
from runtape_tui.widgets.status_line import STYLES

_WIDE = 100
_SYSTEM_FILE = "what-if-system.txt"
_COMMAND_ROWS = 3
_INVITATION = "R asks {runs} times with this context, and {runs} times with the unchanged one."
_NOTHING = "Nothing is changed yet: space takes a piece out, e edits its text."


class WhatIfScreen(SampleScreen):
    """The bench, and the two distributions beside one another.

    Args:
        trace: the run.
        event: the event whose decision it is about.
        jobs: who runs the job.
        off: ids of pieces that are taken out from the start.
    """

    KIND = JobKind.RERUN
    SCOPES = (Scope.WHATIF, Scope.PIECES, Scope.ROWS)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.WHATIF)]

    DEFAULT_CSS = """
    WhatIfScreen #pieces { width: 58%; }
    WhatIfScreen #right { width: 1fr; border-left: solid $panel; }
    WhatIfScreen #result { height: 9; border-top: solid $panel; }
    WhatIfScreen #command { color: $foreground 70%; border-top: solid $panel; }
    WhatIfScreen.-narrow #pieces { width: 1fr; }
    WhatIfScreen.-narrow #right { border-left: none; }
    """

    def __init__(
        self, trace: Trace, event: int, jobs: JobRunner, *, off: Iterable[int] = ()
    ) -> None:
        super().__init__(trace, event, jobs)
        self.pieces = PieceList(id="pieces")
        self.preview = SheetView(id="preview")
        self.title_bar = Bar(id="right-title")
        self.command = Lines(id="command")
        self.bench: Bench | None = None
        self._off = tuple(off)
        self._job: SampleJob | None = None
        self._fields: dict[str, Any] = {}
        self._ran: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        """Question and changes, pieces and text, distributions, command, bill."""
        yield self.head
        with Horizontal(id="panes"):
            yield self.pieces
            with Vertical(id="right"):
                yield self.title_bar
                yield self.preview
        yield self.result
        yield self.command
        yield self.status
        yield self.hints

    # The bench

    def ready(self) -> None:
        """Put the context on the bench."""
        self.pieces.focus()
        self._load()

    @work(thread=True, exclusive=True, group="bench", exit_on_error=False)
    def _load(self) -> None:
        options = self.jobs.options
        try:
            job = self.jobs.engine.odds(self.trace, self.event, options.odds())
        except RuntapeError as error:
            self.app.call_from_thread(self.refused, Problem.of(error))
        else:
            self.app.call_from_thread(self._loaded, job)

    def _loaded(self, job: SampleJob) -> None:
        self._job, self.bench = job, Bench(job.context)
        self.bench.model = self.jobs.options.asking.model_name
        for number in self._off:
            self.bench.reveal(number)
            self.bench.off.add(number)
        self.pieces.show(self.bench)
        for number in self._off[:1]:
            self.pieces.show_piece(number)
        before = self.jobs.newest(JobKind.RERUN, self.event)
        if before is not None and before.open:
            self.attach(before)
        else:
            self.result.set([line(), line(Span(_INVITATION.format(runs=self._runs), Tone.QUIET))])
        self._changed()

    @property
    def _runs(self) -> int:
        return self.jobs.options.runs

    @property
    def question_job(self) -> SampleJob | None:
        """The unchanged context."""
        return self._job

    def _changed(self) -> None:
        """Something on the bench was changed."""
        self.pieces.rows_changed()
        self.show_head()
        self._show_text()
        self._show_command()

    # The job

    def ask(self, *, agreed: bool = False) -> None:
        """Run both contexts, if there is a difference between them."""
        if self.bench is None:
            return
        if not self.bench.changed:
            self.status.say(_NOTHING, Tone.WARN)
            return
        self._fields = self.bench.fields(self.jobs.options.fill)
        super().ask(agreed=agreed)

    def prepare(self, options: JobOptions) -> SampleJob:
        """A `rerun` with what is changed."""
        return self.jobs.engine.rerun(self.trace, self.event, options.rerun(**self._fields))

    def begin(self, ticket: Ticket) -> None:
        """Remember what it was about: the bench may be changed meanwhile."""
        self._ran = tuple(self.bench.words()) if self.bench is not None else ()
        super().begin(ticket)

    def changes(self) -> tuple[str, ...]:
        """What was changed about the run that is shown."""
        return self._ran

    # Words

    def show_head(self) -> None:
        """The question, and the changes."""
        super().show_head()
        if self.bench is None:
            return
        words = ", ".join(self.bench.words()) or "nothing yet"
        stale = self.found is not None and tuple(self.bench.words()) != self._ran
        tail = Span("  (the result below is about other changes)", Tone.WARN) if stale else ""
        self.head.set(*self.head.lines, line(Span(f"{'changed':<12}", Tone.QUIET), words, tail))

    def _show_text(self) -> None:
        piece, bench = self.pieces.selected, self.bench
        if piece is None or bench is None:
            return
        self.title_bar.set(content(piece.ref, STYLES[Tone.NAME]))
        sheet = Sheet(max(20, self.preview.size.width - 3), 0)
        outer = bench.outermost_off(piece.id)
        if outer is not None:
            ref = bench.context.by_id(outer).ref
            gone = "taken out" if outer == piece.id else f"taken out with {ref}"
            sheet.prose("", gone, Tone.BAD)
        if piece.id in bench.texts:
            sheet.prose("", bench.texts[piece.id], Tone.WARN)
            sheet.blank()
            sheet.prose("", "before:", Tone.QUIET)
        changed = outer is not None or piece.id in bench.texts
        sheet.prose("", piece.text, Tone.QUIET if changed else Tone.PLAIN)
        self.preview.set(sheet.lines)

    def _command_words(self) -> tuple[str, ...] | None:
        """The command that does the same; None when there are no options for it."""
        bench, options = self.bench, self.jobs.options
        words = bench.options(str(self._system_file)) if bench is not None else None
        if words is None:
            return None
        subject = subject_with_handle(
            Subject(path=str(self.trace.path)), self.trace, options.folder
        )
        settings = {k: v for k, v in changed_settings(options.asking).items() if k != "model"}
        runs = ["--runs", str(options.runs)] if options.runs != JobOptions().runs else []
        place = (subject.handle or subject.path, str(self.event))
        return ("runtape", "rerun", *place, *carried(settings), *runs, *words)

    @property
    def _system_file(self) -> Path:
        return self.jobs.options.asking.cache_folder / _SYSTEM_FILE

    def _show_command(self) -> None:
        words = self._command_words()
        if self.bench is None or not self.bench.changed:
            self.command.set()
        elif words is None:
            text = "no option of `runtape rerun` says this: the text stands in several places"
            self.command.set(line(Span(text, Tone.QUIET)))
        else:
            columns = max(40, self.size.width - 4)
            rows = Suggestion("", words).lines(columns)
            shown = [line(Span(row, Tone.NAME)) for row in rows[:_COMMAND_ROWS]]
            self.command.set(*shown)

    # Panes

    def on_resize(self) -> None:
        """One pane or two."""
        self.set_class(self.size.width < _WIDE, "-narrow")
        self._arrange()
        self._show_command()

    @property
    def _panes(self) -> tuple[LineView, ...]:
        return (self.pieces, self.preview, self.result)

    def _arrange(self) -> None:
        """Under 100 columns pieces or text, the result below."""
        narrow = self.has_class("-narrow")
        text = self.preview.has_focus
        self.pieces.display = not (narrow and text)
        self.query_one("#right").display = not narrow or text

    def on_descendant_focus(self) -> None:
        """Show the pane that has the keys now."""
        self._arrange()

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        """Show the text of the piece."""
        if message.view is self.pieces:
            self._show_text()

    def on_line_view_chosen(self, message: LineView.Chosen) -> None:
        """Enter: list the parts of a piece, or no longer."""
        piece = self.pieces.selected
        if message.view is self.pieces and piece is not None and self.bench is not None:
            if self.bench.fold(piece):
                self.pieces.rows_changed()
            else:
                self.status.say(f"{piece.ref} has no parts.", Tone.QUIET)

    # Actions

    def action_other_pane(self) -> None:
        """The next pane."""
        here = next((at for at, pane in enumerate(self._panes) if pane.has_focus), 0)
        for box in (self.pieces, self.query_one("#right")):
            box.display = True  # what is hidden cannot take the keys
        self._panes[(here + 1) % len(self._panes)].focus()

    def action_toggle_piece(self) -> None:
        """Take the piece out, or put it back."""
        if self.bench is not None and self.pieces.selected is not None:
            self.bench.toggle(self.pieces.selected.id)
            self._changed()

    def action_clear(self) -> None:
        """Change nothing after all."""
        if self.bench is not None:
            self.bench.clear()
            self._changed()

    def action_edit_piece(self) -> None:
        """Edit the text of the piece."""
        piece, bench = self.pieces.selected, self.bench
        if piece is None or bench is None:
            return
        number = piece.id

        def keep(text: str | None) -> None:
            if text is not None:
                bench.edit(number, text)
                self._changed()

        self._edit(f"{piece.ref}  {piece_words(piece)}", bench.text(number), keep)

    def action_edit_outside(self) -> None:
        """Edit the text of the piece in the user's editor."""
        piece, bench = self.pieces.selected, self.bench
        if piece is None or bench is None:
            return
        before = bench.text(piece.id)
        field = editable(before)
        after, problem = rewrite(self.app, before if field is None else field, "txt")
        if problem:
            self.status.say(problem, Tone.BAD)
        else:
            bench.edit(piece.id, after if field is None else edited(after))
            self._changed()

    def action_edit_system(self) -> None:
        """Another system prompt."""
        bench = self.bench
        if bench is None:
            return
        before = bench.recorded_system if bench.system is None else bench.system

        def keep(text: str | None) -> None:
            if text is not None:
                bench.system = None if text == bench.recorded_system else text
                self._changed()

        self._edit("system prompt", before, keep)

    def action_edit_model(self) -> None:
        """Another model."""
        bench = self.bench
        if bench is None:
            return
        recorded = bench.context.dialect.model(bench.context.body) or "the recorded model"

        def keep(name: str | None) -> None:
            if name is not None:
                bench.model = None if name.strip() in {"", recorded} else name.strip()
                self._changed()

        self.app.push_screen(
            EditScreen("model", bench.model or "", one_line=True, missing=recorded), keep
        )

    def _edit(self, title: str, text: str, keep: Callable[[str | None], None]) -> None:
        field = editable(text)
        if field is None:
            self.status.say("It holds words like <U+202E>: edit it with E.", Tone.WARN)
        else:
            self.app.push_screen(EditScreen(title, field), keep)

    def action_copy(self) -> None:
        """Copy the command; a changed system prompt is put into a file for it."""
        words = self._command_words()
        if words is None or self.bench is None or not self.bench.changed:
            self.status.say(_NOTHING if words else "There is no command for this.", Tone.WARN)
            return
        if self.bench.system is not None:
            try:
                self._system_file.parent.mkdir(parents=True, exist_ok=True)
                self._system_file.write_text(self.bench.system, encoding="utf-8")
            except OSError as error:
                self.status.say(f"cannot write {self._system_file}: {error.strerror}", Tone.BAD)
                return
        self.copy("\n".join(Suggestion("", words).lines(100)))
