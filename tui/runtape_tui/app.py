"""The terminal app: its screens, its keys, what belongs to all of them."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.screen import Screen

from runtape.errors import RuntapeError
from runtape.reports.sheet import Tone
from runtape.settings import Settings
from runtape.visible import visible
from runtape.workbench import Trace, find_event, open_trace
from runtape_tui.actions import Action, Scope, actions_of, bindings
from runtape_tui.clipboard import Clipboard, has_hidden
from runtape_tui.keymap import key_words, read_keymap
from runtape_tui.safe import Backstop
from runtape_tui.screens.trace import TraceScreen
from runtape_tui.state import load_state, save_state, state_folder
from runtape_tui.themes import DARK, LIGHT, first_known, next_theme
from runtape_tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from runtape_tui.jobs import JobRunner
    from runtape_tui.messages import JobEnded


_SWITCH = 0.001
"""Seconds a busy thread keeps the interpreter when a key is waiting."""


class RuntapeApp(App[None]):
    """Looks at one run and asks why.

    Args:
        trace: file to open; None: choose one.
        at: event to start at, as in ``runtape why``.
        why: whether to ask why at once.
        settings: what holds here.
        flags: how model calls are made, as given on the command line.

    Raises:
        RuntapeError: the trace cannot be opened, or has no such event.
    """

    TITLE = "runtape"
    CSS_PATH = "runtape.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(Scope.APP)]

    def __init__(
        self,
        trace: Path | None = None,
        *,
        at: str | None = None,
        why: bool = False,
        settings: Settings | None = None,
        flags: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings or Settings()
        self.trace: Trace | None = None
        self.farewell: str | None = None
        self._flags = dict(flags or {})
        self._asked = "why"
        self._folder = state_folder()
        self._first: TraceScreen | None = None
        self._why = why
        self.keymap = read_keymap(self.settings.keys)
        self._filters.append(Backstop())
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        if trace is not None:
            self._first = self._trace_screen(trace, at)

    @cached_property
    def jobs(self) -> JobRunner:
        """Runs what asks a model; loaded when something is asked."""
        runner = import_module("runtape_tui.jobs").JobRunner
        options = import_module("runtape_tui.asking").JobOptions
        jobs: JobRunner = runner(options.read(self.settings, **self._flags))
        jobs.listen(self)
        return jobs

    def on_job_moved(self) -> None:
        """Say in every status line what runs."""
        self._show_jobs()

    def on_job_ended(self, message: JobEnded) -> None:
        """Say what is over, where it is not seen anyway."""
        self._show_jobs()
        if isinstance(self.screen, TraceScreen):
            self.say(message.ticket.words(), Tone.QUIET)

    def _show_jobs(self) -> None:
        for screen in self.screen_stack:
            for line in screen.query(StatusLine):
                line.show_job(self.jobs.status())

    # Beginning and end

    def on_mount(self) -> None:
        """Show the trace, or all there are."""
        self.set_keymap(self.keymap.keys)
        remembered = self._first.wanted_theme if self._first else None
        self.theme = first_known(self.available_themes, self.settings.theme, remembered)
        if self._first is None:
            self.action_pick()
            return
        self.push_screen(self._first)
        if self._why and self._first.first_event is not None:
            self.open_why(self._first.first_event)

    def on_ready(self) -> None:
        """Say once what is odd about the user's keys."""
        if self.keymap.complaints:
            self.say("config.toml: " + "; ".join(self.keymap.complaints), Tone.WARN)

    def _trace_screen(self, path: Path, at: str | None = None) -> TraceScreen:
        self.trace = open_trace(path)
        event = None if at is None else find_event(self.trace, at)
        return TraceScreen(self.trace, event, load_state(self.trace, self._folder))

    def save(self) -> None:
        """Remember where the reader is."""
        for screen in self.screen_stack:
            if isinstance(screen, TraceScreen):
                save_state(screen.trace, screen.state(), self._folder)

    async def action_leave(self) -> None:
        """Quit; what runs is stopped, its replies are kept."""
        self.save()
        if "jobs" in self.__dict__:
            self.farewell = self.jobs.close()
        self.exit()

    async def action_quit(self) -> None:
        """Textual's own way out (ctrl+q) is ours."""
        await self.action_leave()

    def action_help_quit(self) -> None:
        """What Textual does on ctrl+c: say how to leave."""
        self.say("q quits, ctrl+q quits from anywhere", Tone.QUIET)

    # Other screens

    def action_pick(self) -> None:
        """Choose a trace."""
        picker = import_module("runtape_tui.screens.picker").PickerScreen
        self.push_screen(picker(self.settings.dir), self._picked)

    def _picked(self, path: Path | None) -> None:
        if path is None:
            if self.trace is None:
                self.exit()
            return
        try:
            screen = self._trace_screen(path)
        except RuntapeError as error:
            self.say(str(error), Tone.BAD)
            if self.trace is None:
                self.action_pick()
            return
        self.save()
        if isinstance(self.screen, TraceScreen):
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def action_help(self) -> None:
        """All keys."""
        scopes = getattr(self.screen, "SCOPES", ())
        self.push_screen(import_module("runtape_tui.screens.help").HelpScreen(self.keymap, scopes))

    def open_why(self, event: int) -> None:
        """Ask which part of the context caused the decision at an event."""
        self._open("why", "WhyScreen", event)

    def open_whatif(self, event: int) -> None:
        """Open the bench on which the context of a decision can be changed."""
        self._open("whatif", "WhatIfScreen", event)

    def open_rerun(self, event: int) -> None:
        """Run a decision again."""
        self._open("whatif", "WhatIfScreen", event)

    def open_odds(self, event: int) -> None:
        """See how often the unchanged context gives a decision."""
        self._open("odds", "OddsScreen", event)

    def _open(self, module: str, name: str, event: int) -> None:
        screen: Callable[..., Screen[Any]] = getattr(
            import_module(f"runtape_tui.screens.{module}"), name
        )
        self.push_screen(screen(self.trace, event, self.jobs))

    def action_ask(self, what: str) -> None:
        """Ask about the selected event: ``why``, ``rerun``, ``odds`` or ``whatif``."""
        self._asked = what
        if isinstance(self.screen, TraceScreen) and self.screen.selected_event >= 0:
            getattr(self, f"open_{what}")(self.screen.selected_event)

    def action_ask_again(self) -> None:
        """Ask the last question about the selected event."""
        self.action_ask(self._asked)

    # What screens ask for

    def say(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        """Say something in the status line of the uppermost screen that has one."""
        for screen in reversed(self.screen_stack):
            for line in screen.query(StatusLine):
                line.say(text, tone)
                return

    def hints(self, *scopes: Scope) -> Sequence[tuple[str, Action]]:
        """Keys to show at the bottom, with their actions."""
        return [
            (key_words(self.keymap.of(action)).split(" ")[0], action)
            for action in actions_of(*scopes)
            if action.hint
        ]

    def copy_text(self, text: str) -> None:
        """Copy a text, after asking when it holds control or hidden characters."""
        if not has_hidden(text):
            self._copy(text)
            return
        chooser = import_module("runtape_tui.screens.chooser")
        choices = (chooser.Choice("v", "copy what is shown"), chooser.Choice("c", "copy as it is"))
        title = "it holds control or hidden characters:"
        self.push_screen(chooser.Chooser(title, choices), partial(self._copy_as, text))

    def _copy_as(self, text: str, how: str | None) -> None:
        if how is not None:
            self._copy(text if how == "c" else visible(text).text)

    def _copy(self, text: str) -> None:
        self.say(Clipboard(self.copy_to_clipboard, self._folder, os.environ).copy(text))

    # How it looks

    def action_next_theme(self) -> None:
        """The next theme."""
        self.theme = next_theme(self.theme, self.available_themes)
        self.say(f"theme {self.theme}", Tone.QUIET)

    def action_shoot(self) -> None:
        """Save a picture of the screen in the working folder."""
        try:
            self.say(f"saved {self.save_screenshot(path='.')}")
        except OSError as error:
            self.say(f"cannot save a screenshot here: {error.strerror}", Tone.BAD)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every action at hand, for the palette."""
        scopes = getattr(screen, "SCOPES", ())
        for action in actions_of(*scopes, Scope.APP):
            keys = key_words(self.keymap.of(action))
            run = partial(self.run_action, action.handler, screen)
            yield SystemCommand(action.label, keys, run)

    # Trouble

    def _handle_exception(self, error: Exception) -> None:
        """A fault of ours ends the app in one line; ``runtape --debug`` shows where it was."""
        if not self.is_headless and not os.environ.get("RUNTAPE_DEBUG"):
            line = visible(f"runtape: {type(error).__name__}: {error}").text
            hint = "this is a fault in runtape; RUNTAPE_DEBUG=1 shows where"
            error.__rich__ = lambda: Text(f"{line}\n{hint}")  # type: ignore[attr-defined]
        super()._handle_exception(error)


def run_app(
    trace: Path | None,
    *,
    at: str | None = None,
    why: bool = False,
    settings: Settings | None = None,
    flags: Mapping[str, Any] | None = None,
) -> int:
    """Run the app until the user quits; returns the exit code. Raises what RuntapeApp raises."""
    app = RuntapeApp(trace, at=at, why=why, settings=settings, flags=flags)
    sys.setswitchinterval(_SWITCH)
    gc.freeze()  # what is there stays: no need to look through it again and again
    app.run()
    if app.farewell:
        print(app.farewell)  # noqa: T201 - the terminal is the user's again
    return app.return_code or 0
