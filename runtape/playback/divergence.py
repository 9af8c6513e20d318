"""Where a program leaves its tape: the first difference, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runtape.dialects.base import JsonPath
from runtape.jsonio import dumps_text

ABSENT: Any = object()
"""Stands for a value on the side that has none."""

_SHOWN = 160
"""Characters of a value that are shown; of long texts those around the first difference."""
_BEFORE = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two JSON values differ.

    Attributes:
        path: from the root.
        recorded: what the tape has there, or :data:`ABSENT`.
        now: what the program has there, or :data:`ABSENT`.
    """

    path: JsonPath
    recorded: Any
    now: Any

    @property
    def place(self) -> str:
        """The path as text, such as ``$.messages[3].content``."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return "$" + "".join(steps)

    def side_by_side(self) -> list[str]:
        """Two lines: what was recorded, and what is there now."""
        recorded, now = _excerpts(self.recorded, self.now)
        return [f"  recorded: {recorded}", f"  now:      {now}"]


class ReplayDiverged(BaseException):
    """The program did something that is not on the tape, and was stopped.

    A BaseException, because retry loops swallow every Exception. It is kept by the replayer and
    raised again when the ``with`` block ends, should somebody swallow it all the same.

    Attributes:
        message: what happened.
        hint: one thing to do; may be empty.
        path: the tape, or None.
        event: the recorded event that was expected, or None.
        difference: the first difference from it, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        path: str | None = None,
        event: int | None = None,
        difference: Difference | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = path
        self.event = event
        self.difference = difference

    def __str__(self) -> str:
        lines = [self.message]
        if self.difference is not None:
            lines += self.difference.side_by_side()
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class ReplayWarning(UserWarning):
    """A call was answered although it differs from the recorded one, as ``warn`` asks for."""


def first_difference(recorded: Any, now: Any) -> Difference | None:
    """The first place, in the order of the recorded value, where the two differ; None if equal."""
    # A stack instead of recursion: what agents send nests as deeply as it likes.
    stack: list[tuple[JsonPath, Any, Any]] = [((), recorded, now)]
    while stack:
        path, left, right = stack.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            keys = [*left, *(key for key in right if key not in left)]
            inner = [((*path, k), left.get(k, ABSENT), right.get(k, ABSENT)) for k in keys]
            stack += reversed(inner)
        elif isinstance(left, list) and isinstance(right, list):
            longest = range(max(len(left), len(right)))
            inner = [((*path, i), _item(left, i), _item(right, i)) for i in longest]
            stack += reversed(inner)
        elif type(left) is not type(right) or left != right:
            return Difference(path, left, right)
    return None


def _item(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else ABSENT


def _excerpts(recorded: Any, now: Any) -> tuple[str, str]:
    texts = (_text(recorded), _text(now))
    same = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), None)
    start = max((min(map(len, texts)) if same is None else same) - _BEFORE, 0)
    left, right = (_excerpt(text, start) for text in texts)
    return left, right


def _text(value: Any) -> str:
    return "(nothing)" if value is ABSENT else dumps_text(value)


def _excerpt(text: str, start: int) -> str:
    shown = text[start : start + _SHOWN]
    before = "…" if start else ""
    return f"{before}{shown}…" if start + _SHOWN < len(text) else f"{before}{shown}"
