"""The trace screen, complete: what leaves it for the clipboard, an editor, a pager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.app import App

from runtape.context import recorded_reply
from runtape.errors import RuntapeError
from runtape.jsonio import dumps_text
from runtape.reports.sheet import Tone
from runtape.tape.events import LLM_RESPONSE, TOOL_CALL, TOOL_RESULT, Event
from runtape.visible import visible
from runtape_tui.external import edit, page
from runtape_tui.host import host
from runtape_tui.screens.chooser import Choice, Chooser
from runtape_tui.screens.trace_search import TraceSearch
from runtape_tui.view_models.loading import Tab

_COPY = (
    Choice("v", "value"),
    Choice("p", "ref"),
    Choice("j", "JSON"),
    Choice("t", "text shown"),
)


class TraceScreen(TraceSearch):
    """One run: timeline left; context, event, diff and raw right."""

    def action_copy(self) -> None:
        """Ask what to copy, then copy it."""
        self.app.push_screen(Chooser("copy", _COPY), self._copy)

    def _copy(self, what: str | None) -> None:
        if what is None or self.selected_event < 0:
            return
        try:
            text = {"v": self._value, "p": self._ref, "j": self._json, "t": self.text}[what]()
        except RuntapeError as error:
            self.say(str(error), Tone.BAD)
            return
        host(self).copy_text(text)

    def _value(self) -> str:
        """The piece or section under the cursor; in the timeline what the event holds."""
        if self.reading and self.pane is self.document:
            piece = self.document.model.piece_at(self.document.cursor)
            section = self.document.model.section_at(self.document.cursor)
            if piece is not None:
                return piece.text
            return section.whole if section is not None else ""
        return _content(self.trace.tape[self.selected_event])

    def _ref(self) -> str:
        if self.reading and self.pane is self.document:
            piece = self.document.model.piece_at(self.document.cursor)
            if piece is not None:
                return piece.ref
        return str(self.selected_event)

    def _json(self) -> str:
        from runtape.reports.event_text import event_json  # noqa: PLC0415 - brings the commands along

        event = self.trace.tape[self.selected_event]
        return dumps_text(event_json(self.trace.tape, event), indent=True)

    def text(self) -> str:
        """All of what the right pane shows, unfolded, as plain text."""
        if self.pane is self.diff:
            return self.diff.diff.text()
        return self.document.model.text()

    def action_edit(self) -> None:
        """Show the right pane in $EDITOR."""
        self._hand_over(edit)

    def action_page(self) -> None:
        """Show the right pane in $PAGER."""
        self._hand_over(page)

    def _hand_over(self, program: Callable[[App[Any], str, str], str]) -> None:
        suffix = "json" if self.tab is Tab.RAW else "txt"
        problem = program(self.app, visible(self.text()).text, suffix)
        if problem:
            self.say(problem, Tone.WARN)


def _content(event: Event) -> str:
    """What an event holds, as text: a result, the arguments of a call, what a model said."""
    payload = event.payload
    if event.type == LLM_RESPONSE:
        reply = recorded_reply(event)
        if reply is not None and reply.text:
            return reply.text
        calls = [] if reply is None else reply.tool_calls
        return "\n".join(dumps_text({"name": c.name, "arguments": c.arguments}) for c in calls)
    field = {TOOL_CALL: "arguments", TOOL_RESULT: "result"}.get(event.type)
    value = payload.get(field) if field else payload.get("text", payload)
    return value if isinstance(value, str) else dumps_text(value)
