"""The line at the bottom: where one is, what just happened, what runs; and the keys to go on."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.timer import Timer

from runtape.reports.sheet import Tone
from runtape_tui.actions import Action, Scope
from runtape_tui.safe import content
from runtape_tui.widgets.bar import Bar

_SHOWN_FOR = 8.0
"""Seconds a remark stands before the place comes back."""
STYLES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.QUIET: "$foreground 55%",
    Tone.MARK: "bold $accent",
    Tone.GOOD: "$success",
    Tone.BAD: "$error",
    Tone.WARN: "$warning",
    Tone.NAME: "$primary",
}
"""Tones of the reports as styles of content."""


class StatusLine(Bar):
    """Where one is; for some seconds what just happened; at the right the job that runs."""

    DEFAULT_CSS = """
    StatusLine { background: $surface; color: $foreground 80%; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id)
        self._place, self._job = Content(""), Content("")
        self._remark: Content | None = None
        self._timer: Timer | None = None

    def show_place(self, place: Content) -> None:
        """Say where one is."""
        self._place = place
        self._update()

    def show_job(self, words: str, tone: Tone = Tone.NAME) -> None:
        """Say what runs; empty: nothing does."""
        self._job = content(words, STYLES[tone])
        self._update()

    def say(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        """Say something for some seconds."""
        self._remark = content(text, STYLES[tone])
        self._update()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_SHOWN_FOR, self._forget_remark)

    def _forget_remark(self) -> None:
        self._remark = None
        self._update()

    def _update(self) -> None:
        self.set(self._place if self._remark is None else self._remark, self._job)


class KeyHints(Bar):
    """Keys and what they do; a click does it."""

    DEFAULT_CSS = """
    KeyHints { color: $foreground 55%; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id)
        self._hints: list[tuple[str, Action]] = []

    def show(self, hints: Sequence[tuple[str, Action]]) -> None:
        """Show (key, action) pairs: as many as fit, those of the whole app at the right."""
        self._hints = list(hints)
        here = [hint for hint in self._hints if hint[1].scope is not Scope.APP]
        always = [hint for hint in self._hints if hint[1].scope is Scope.APP]
        self.set(_line(here), _line(always).rstrip())

    def _under(self, column: int) -> Action | None:
        """The action at a column."""
        text = self.render().plain
        for key, action in self._hints:
            words = f"{key} {action.hint}"
            at = text.find(words)
            if at <= column < at + len(words):
                return action
        return None

    async def on_click(self, event: events.Click) -> None:
        """Do what was clicked."""
        action = self._under(event.x - 1)
        if action is not None:
            await self.app.run_action(action.handler, self.screen)


def _line(hints: Sequence[tuple[str, Action]]) -> Content:
    parts: list[tuple[str, str]] = []
    for key, action in hints:
        parts += [(key, "bold $foreground"), (f" {action.hint}  ", "")]
    return Content.assemble(*parts)
