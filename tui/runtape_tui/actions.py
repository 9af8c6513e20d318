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
    Action("cursor.open", "enter", "Open", "choose", _ROWS),
    Action("fold.one", "z", "Fold or unfold a piece", "fold", _DOC),
    Action("fold.all", "Z", "Fold or unfold all", "fold_all", _DOC),
    Action("pane.next", "tab", "Other pane", "other_pane", _TRACE, "pane"),
    Action("pane.back", "escape", "Back to the timeline", "back_to_timeline", _TRACE),
    Action("call.before", "[", "Previous model call", "step_call(-1)", _TRACE),
    Action("call.after", "]", "Next model call", "step_call(1)", _TRACE),
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
