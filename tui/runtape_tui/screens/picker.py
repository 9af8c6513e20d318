"""Choosing a trace, newest first; and what to do when there is none."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.strip import Strip
from textual.worker import get_current_worker

from runtape.reports.listing import Listed, listed_traces
from runtape.reports.sheet import Tone
from runtape.reports.times import local_time
from runtape.reports.words import plural, size
from runtape.workbench import trace_files
from runtape_tui.actions import Scope, bindings
from runtape_tui.host import host
from runtape_tui.safe import content, segments
from runtape_tui.widgets.bar import Bar
from runtape_tui.widgets.line_view import LineView
from runtape_tui.widgets.status_line import STYLES, KeyHints, StatusLine

_LOOK = 2.0
"""Seconds between two looks into the folder."""
_MOST = 2_000
"""Traces listed."""
_EMPTY = (
    ("No traces yet.", Tone.STRONG),
    ("", Tone.PLAIN),
    ("Record one: two lines around the client your agent uses", Tone.PLAIN),
    ("", Tone.PLAIN),
    ("    import runtape", Tone.NAME),
    ('    with runtape.record(name="my-agent") as rec:', Tone.NAME),
    ("        client = rec.wrap(OpenAI())", Tone.NAME),
    ("", Tone.PLAIN),
    ("or see an example, offline and with nothing but the install", Tone.PLAIN),
    ("", Tone.PLAIN),
    ("    runtape demo", Tone.NAME),
    ("", Tone.PLAIN),
    ("New traces appear here by themselves.", Tone.QUIET),
)


class _Traces(LineView):
    """One row per file."""

    def __init__(self) -> None:
        super().__init__(id="traces")
        self.paths: list[Path] = []
        self.known: dict[Path, Listed] = {}

    def show(self, paths: list[Path]) -> None:
        """Show these files; the cursor stays on the one it is on."""
        if paths == self.paths and paths:
            return
        here = self.paths[self.cursor] if self.paths else None
        self.paths = paths
        self.set_rows(len(paths) or len(_EMPTY))
        if here in paths:
            self.show_row(paths.index(here))

    def know(self, entry: Listed) -> None:
        """A file was read."""
        self.known[entry.path] = entry
        if entry.path in self.paths:
            self.redraw((self.paths.index(entry.path),))

    def draw(self, row: int, width: int) -> Strip:  # noqa: ARG002 - rows are cropped, not cut
        """Start, size, replies, errors, status, name."""
        if not self.paths:
            text, tone = _EMPTY[row]
            return Strip([Segment(f"  {text}", self.tone(tone))])
        path = self.paths[row]
        entry = self.known.get(path)
        name = segments(path.stem, self.tone(Tone.STRONG), self.style("hidden"))
        if entry is None:
            return Strip([Segment(f"{'  …':<54}", self.tone(Tone.QUIET)), *name])
        if entry.summary is None:
            fault = segments(f"  {entry.fault}", self.tone(Tone.QUIET), self.style("hidden"))
            return Strip([Segment(f"{'  cannot be read':<54}", self.tone(Tone.BAD)), *name, *fault])
        found = entry.summary
        bad = len(found.errors)
        status = Tone.GOOD if found.status == "ok" else Tone.WARN
        return Strip(
            [
                Segment(f"  {local_time(found.started)}  ", self.tone(Tone.QUIET)),
                Segment(f"{size(found.bytes):>7}  {found.replies:>5} calls  "),
                Segment(f"{f'✗ {bad}' if bad else '':<6}", self.tone(Tone.BAD)),
                *segments(f"{found.status[:8]:<8} ", self.tone(status), self.style("hidden")),
                *name,
            ]
        )


class PickerScreen(Screen["Path | None"]):
    """All traces of a folder."""

    SCOPES: ClassVar[tuple[Scope, ...]] = (Scope.PICKER,)
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(Scope.PICKER),
        Binding("escape", "close", show=False),
    ]

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.traces = _Traces()

    def compose(self) -> ComposeResult:
        """Title, table, status, keys."""
        yield Bar(id="title")
        yield self.traces
        yield StatusLine(id="status")
        yield KeyHints(id="hints")

    def on_mount(self) -> None:
        """Look, and go on looking."""
        self.traces.focus()
        self.query_one(KeyHints).show(host(self).hints(Scope.PICKER, Scope.APP))
        self.action_look()
        self.set_interval(_LOOK, self.action_look)

    def action_look(self) -> None:
        """Look into the folder."""
        try:
            paths = trace_files(self.folder)
        except OSError:
            paths = []
        shown = paths[:_MOST]
        more = f", the newest {_MOST:,} of them" if len(paths) > len(shown) else ""
        self.query_one("#title", Bar).set(
            Content.assemble(
                ("runtape  ", STYLES[Tone.MARK]),
                (f"{plural(len(paths), 'trace')}{more}", STYLES[Tone.STRONG]),
            ),
            content(str(self.folder), STYLES[Tone.QUIET]),
        )
        self.traces.show(shown)
        self.query_one(StatusLine).show_place(content("enter opens" if shown else "waiting"))
        if any(path not in self.traces.known for path in shown):
            self._read(shown)

    @work(thread=True, exclusive=True, group="traces", exit_on_error=False)
    def _read(self, paths: list[Path]) -> None:
        """Read what is not known yet, beside the keys."""
        worker = get_current_worker()
        for entry in listed_traces(p for p in paths if p not in self.traces.known):
            if worker.is_cancelled:
                return
            self.app.call_from_thread(self.traces.know, entry)

    def on_line_view_chosen(self, message: LineView.Chosen) -> None:
        """Open the file."""
        if self.traces.paths:
            self.dismiss(self.traces.paths[message.row])

    def action_close(self) -> None:
        """Back to the trace, if there is one."""
        self.dismiss(None)
