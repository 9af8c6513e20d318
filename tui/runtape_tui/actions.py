"""Every action of the app, once: bindings, help and command palette are made from this table.

An action's id is what a user rebinds it by in ``config.toml`` (``[keys]``, ``"event.next_call" =
"n"``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from textual.binding import Binding


class Scope(Enum):
    """Where an action is at hand; the value is its heading in the help."""

    ROWS = "In every list and text"
    TRACE = "Trace"
    DOCUMENT = "Context, event, diff and raw"
    WHY = "Why"
    WHATIF = "What-if"
    PIECES = "Pieces on the bench"
    ODDS = "Odds"
    FIX = "Fix"
    CHAIN = "Causal chain"
    CONFIRM = "Before model calls"
    EDITING = "Editing a text"
    PICKER = "Choosing a trace"
    APP = "Everywhere"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a key, the palette or the mouse can ask for.

    Attributes:
        id: stable name, for rebinding.
        keys: default keys, comma-separated, in Textual's names.
        label: what it does, for help and palette.
        handler: Textual's action string; run where the binding stands.
        scope: where it is at hand.
        hint: one or two words in the line of keys; empty: not shown there.
    """

    id: str
    keys: str
    label: str
    handler: str
    scope: Scope
    hint: str = ""


_ROWS, _TRACE, _DOC, _APP = Scope.ROWS, Scope.TRACE, Scope.DOCUMENT, Scope.APP
_PICKER, _WHY, _WHATIF = Scope.PICKER, Scope.WHY, Scope.WHATIF
_FIX, _CHAIN = Scope.FIX, Scope.CHAIN
_PIECES, _ODDS, _CONFIRM, _TEXT = Scope.PIECES, Scope.ODDS, Scope.CONFIRM, Scope.EDITING

ACTIONS = (
    Action("cursor.up", "up,k", "Up", "move(-1)", _ROWS),
    Action("cursor.down", "down,j", "Down", "move(1)", _ROWS),
    Action("cursor.half_up", "ctrl+u", "Half a page up", "move_page(-0.5)", _ROWS),
    Action("cursor.half_down", "ctrl+d", "Half a page down", "move_page(0.5)", _ROWS),
    Action("cursor.page_up", "pageup,b", "Page up", "move_page(-1)", _ROWS),
    Action("cursor.page_down", "pagedown,space", "Page down", "move_page(1)", _ROWS),
    Action("cursor.top", "g,home", "First row", "move_to(0)", _ROWS),
    Action("cursor.end", "G,end", "Last row", "move_to(-1)", _ROWS),
    Action("cursor.left", "left,h", "Scroll left", "pan(-8)", _ROWS),
    Action("cursor.right", "right,l", "Scroll right", "pan(8)", _ROWS),
    Action("cursor.open", "enter", "Open; fold or unfold", "choose", _ROWS),
    Action(
        "ask.why", "w", "Why: which part of the context caused it", "app.ask('why')", _TRACE, "why"
    ),
    Action("ask.rerun", "R", "Rerun the decision", "app.ask('rerun')", _TRACE, "rerun"),
    Action(
        "ask.odds", "o", "Odds: how often it decides the same", "app.ask('odds')", _TRACE, "odds"
    ),
    Action(
        "ask.whatif", "e", "What if: change the context", "app.ask('whatif')", _TRACE, "what if"
    ),
    Action("ask.again", "full_stop", "Ask the last question again, here", "app.ask_again", _TRACE),
    Action("pane.next", "tab", "The other pane", "other_pane", _TRACE, "pane"),
    Action("pane.back", "escape", "Back to the timeline; clear the filter", "back", _TRACE),
    Action("pane.single", "v", "One pane or two", "toggle_single", _TRACE),
    Action("pane.narrower", "<", "Narrower timeline", "resize_left(-4)", _TRACE),
    Action("pane.wider", ">", "Wider timeline", "resize_left(4)", _TRACE),
    Action("tab.context", "1", "What the model saw", "show_tab('CONTEXT')", _TRACE),
    Action("tab.event", "2", "The event in full", "show_tab('EVENT')", _TRACE),
    Action("tab.diff", "3", "What is new since the call before", "show_tab('DIFF')", _TRACE),
    Action("tab.raw", "4,r", "As recorded", "show_tab('RAW')", _TRACE),
    Action("call.before", "[", "Previous model call", "step_call(-1)", _TRACE),
    Action("call.after", "]", "Next model call", "step_call(1)", _TRACE, "call"),
    Action("tool.before", "{", "Previous call of the same tool", "step_tool(-1)", _TRACE),
    Action("tool.after", "}", "Next call of the same tool", "step_tool(1)", _TRACE),
    Action("error.before", "(", "Previous error", "step_error(-1)", _TRACE),
    Action("error.after", ")", "Next error", "step_error(1)", _TRACE),
    Action("search.open", "/", "Search (regular expression)", "search", _TRACE, "search"),
    Action("search.next", "n", "Next hit", "step_hit(1)", _TRACE),
    Action("search.before", "N", "Previous hit", "step_hit(-1)", _TRACE),
    Action("filter.open", "f", "Filter the timeline", "filter", _TRACE, "filter"),
    Action("place.open", ":", "Go to an event or a piece", "goto", _TRACE, "go to"),
    Action("place.back", "ctrl+o", "Back to where you were", "travel(-1)", _TRACE),
    Action("place.forward", "ctrl+i,ctrl+n", "Forward again", "travel(1)", _TRACE),
    Action("mark.set", "m", "Mark the event, or unmark it", "mark", _TRACE),
    Action("mark.next", "'", "Next mark", "step_mark", _TRACE),
    Action("mark.diff", "d", "Diff with the mark, or with the call before", "diff_mark", _TRACE),
    Action("follow", "F", "Follow a run that is being recorded", "follow", _TRACE),
    Action("copy", "y", "Copy: then value, ref, JSON or text", "copy", _TRACE, "copy"),
    Action("edit", "E", "Open in $EDITOR", "edit", _TRACE),
    Action("page", "P", "Open in $PAGER", "page", _TRACE),
    Action("fold.all", "Z", "Fold or unfold everything", "fold_all", _TRACE),
    Action("wrap", "z", "Wrap long lines, or not", "wrap", _TRACE),
    Action("diff.unified", "u", "Diff side by side, or unified", "unify", _TRACE),
    Action("picker.refresh", "ctrl+r", "Look again", "look", _PICKER),
    Action("why.stop", "escape", "Stop the search; when none runs: back", "stop", _WHY, "stop"),
    Action("why.ask", "w", "Ask, or ask again: kept replies are free", "again", _WHY, "again"),
    Action("why.pane", "tab", "The other pane", "other_pane", _WHY, "pane"),
    Action("why.fix", "X", "What helps against it, and what that breaks", "fix", _WHY, "fix"),
    Action("why.whatif", "e", "What if this piece were not there", "whatif", _WHY, "what if"),
    Action("why.chain", "c", "Which earlier decisions led there", "chain", _WHY, "chain"),
    Action("why.test", "T", "Write a regression test", "test", _WHY, "test"),
    Action("why.copy", "y", "Copy the report", "copy", _WHY, "copy"),
    Action("why.save", "S", "Save the report: HTML, SVG, JSON, Markdown", "save", _WHY, "save"),
    Action("why.odds", "o", "How often it decides the same", "odds", _WHY, "odds"),
    Action("why.sort", "s", "Sort by effect, by p, in reading order", "sort", _WHY, "sort"),
    Action("why.leave", "q", "Back; the search goes on", "leave", _WHY, "back"),
    Action("why.follow", "f", "Follow what is most worth looking at", "follow", _WHY),
    Action("whatif.stop", "escape", "Stop the runs; when none run: back", "stop", _WHATIF, "stop"),
    Action(
        "piece.toggle", "space", "Take out, or put back", "screen.toggle_piece", _PIECES, "out/in"
    ),
    Action("whatif.edit", "e", "Edit the text of this piece", "edit_piece", _WHATIF, "edit"),
    Action("whatif.run", "R", "Run it, the unchanged context beside it", "again", _WHATIF, "run"),
    Action("whatif.system", "s", "Another system prompt", "edit_system", _WHATIF, "system"),
    Action("whatif.model", "m", "Another model", "edit_model", _WHATIF, "model"),
    Action("whatif.clear", "x", "Change nothing after all", "clear", _WHATIF, "clear"),
    Action("whatif.copy", "y", "Copy the command that does the same", "copy", _WHATIF, "copy"),
    Action("whatif.pane", "tab", "The other pane", "other_pane", _WHATIF, "pane"),
    Action("whatif.editor", "E", "Edit the piece in $EDITOR", "edit_outside", _WHATIF),
    Action("whatif.leave", "q", "Back; what runs goes on", "leave", _WHATIF, "back"),
    Action("odds.stop", "escape", "Stop the runs; when none run: back", "stop", _ODDS, "stop"),
    Action("odds.ask", "o", "Ask again: kept replies are free", "again", _ODDS, "again"),
    Action("odds.whatif", "e", "What if: change the context", "whatif", _ODDS, "what if"),
    Action("odds.why", "w", "Why: which part of the context caused it", "why", _ODDS, "why"),
    Action("odds.copy", "y", "Copy the report", "copy", _ODDS, "copy"),
    Action("odds.leave", "q", "Back; what runs goes on", "leave", _ODDS, "back"),
    Action("fix.stop", "escape", "Stop the runs; when none run: back", "stop", _FIX, "stop"),
    Action("fix.ask", "X", "Ask, or ask again: kept replies are free", "again", _FIX, "again"),
    Action("fix.pane", "tab", "Table or details", "other_pane", _FIX, "pane"),
    Action("fix.test", "T", "Write a regression test of this remedy", "test", _FIX, "test"),
    Action("fix.copy", "y", "Copy the report", "copy", _FIX, "copy"),
    Action("fix.save", "S", "Save the report: HTML, SVG, JSON, Markdown", "save", _FIX, "save"),
    Action("fix.leave", "q", "Back; what runs goes on", "leave", _FIX, "back"),
    Action("chain.stop", "escape", "Stop the search; when none runs: back", "stop", _CHAIN, "stop"),
    Action("chain.ask", "c", "Ask, or ask again: kept replies are free", "again", _CHAIN, "again"),
    Action("chain.test", "T", "Write a regression test", "test", _CHAIN, "test"),
    Action("chain.copy", "y", "Copy the report", "copy", _CHAIN, "copy"),
    Action("chain.save", "S", "Save the report: HTML, SVG, JSON, Markdown", "save", _CHAIN, "save"),
    Action("chain.leave", "q", "Back; what runs goes on", "leave", _CHAIN, "back"),
    Action("text.keep", "ctrl+s", "Keep the text", "keep", _TEXT, "keep"),
    Action("text.drop", "escape", "Leave it as it was", "drop", _TEXT, "leave it"),
    Action("confirm.decline", "escape", "Ask nothing", "decline", _CONFIRM),
    Action("app.open", "O", "Open another trace", "app.pick", _TRACE, "open"),
    Action("app.screenshot", "S", "Save a screenshot (SVG)", "app.shoot", _APP),
    Action("app.theme", "t", "Next theme", "app.next_theme", _APP),
    Action("app.suspend", "ctrl+z", "To the shell and back", "app.suspend_process", _APP),
    Action("app.palette", "ctrl+p", "All actions by name", "app.command_palette", _APP),
    Action("app.help", "?", "Help", "app.help", _APP, "help"),
    Action("app.quit", "q", "Quit", "app.leave", _APP, "quit"),
)
"""All of them, in the order of the help."""


def actions_of(*scopes: Scope) -> Iterator[Action]:
    """The actions at hand in these places."""
    return (action for action in ACTIONS if action.scope in scopes)


def bindings(*scopes: Scope) -> Iterator[Binding]:
    """The key bindings of the actions at hand in these places."""
    return (
        Binding(action.keys, action.handler, action.label, show=False, id=action.id)
        for action in actions_of(*scopes)
    )
