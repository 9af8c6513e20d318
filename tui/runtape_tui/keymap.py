"""Keys of one's own, from ``[keys]`` in the user's ``config.toml``."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from runtape_tui.actions import ACTIONS, Action, Scope

_ALWAYS = frozenset({Scope.ROWS, Scope.APP})
"""Scopes whose keys are at hand wherever another scope's are."""


@dataclass(frozen=True, slots=True)
class Keymap:
    """Keys that differ from the table, and what is odd about them.

    Attributes:
        keys: action id → keys, comma-separated.
        complaints: one line each, to be said once.
    """

    keys: dict[str, str]
    complaints: tuple[str, ...] = ()

    def of(self, action: Action) -> str:
        """The keys of an action."""
        return self.keys.get(action.id, action.keys)


def read_keymap(wanted: Mapping[str, str]) -> Keymap:
    """The keymap a user wants; unknown actions and clashes are complained about, not obeyed."""
    known = {action.id: action for action in ACTIONS}
    keys: dict[str, str] = {}
    complaints = []
    for name, text in wanted.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            complaints.append(f"no action is called {name}{hint}")
        elif text.strip():
            keys[name] = ",".join(part.strip() for part in text.split(",") if part.strip())
    complaints += _clashes(keys)
    return Keymap(keys, tuple(complaints))


def _clashes(keys: Mapping[str, str]) -> list[str]:
    """Keys given to two actions that are at hand at once."""
    found = []
    for name, text in keys.items():
        mine = next(action for action in ACTIONS if action.id == name)
        taken = {
            key: other
            for other in ACTIONS
            if other.id != name and _meet(mine.scope, other.scope)
            for key in keys.get(other.id, other.keys).split(",")
        }
        found += [
            f"{key} is both {name} and {taken[key].id}" for key in text.split(",") if key in taken
        ]
    return found


def _meet(one: Scope, other: Scope) -> bool:
    trace = {Scope.TRACE, Scope.DOCUMENT}
    return one is other or one in _ALWAYS or other in _ALWAYS or {one, other} == trace


def key_words(keys: str) -> str:
    """Keys as a reader knows them: ``ctrl+d``, ``↑``, ``space``."""
    return " ".join(_NAMES.get(key, key) for key in keys.split(","))


_NAMES = {
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "escape": "esc",
    "question_mark": "?",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "enter": "⏎",
    "tab": "Tab",
    "slash": "/",
    "colon": ":",
    "full_stop": ".",
}
