"""A rule-based stand-in for a model: what a request shows, in terms for simple rules.

A stand-in is a function from a request body to an answer (``--model-fn``). It reads the very body a
provider would get, whatever its wire shape, so taking a sentence out of that body really changes
what the stand-in sees.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from runtape import jsonio
from runtape.dialects import dialect_for
from runtape.dialects.base import Slot, SlotKind, ToolCall
from runtape.jsonio import Json

Answer: TypeAlias = "str | Json"
"""Words, or a call: ``{"tool": name, "arguments": {…}}``."""

_REMOVED = "[content removed]"
_DISTRUST = re.compile(
    r"\b(?:do not|don't|never)\b[^.]{0,40}\b(?:follow|act on|obey)\b[^.]{0,40}"
    r"\b(?:instruction|order|command)s?\b",
    re.IGNORECASE,
)
_MARKS = re.compile(r"between (\S.{1,30}?) and \S.{1,30}?[.,;:]")


@dataclass(frozen=True, slots=True)
class View:
    """What one request shows.

    Attributes:
        system: the system prompt.
        user: all user text.
        tools: tool name → its descriptions.
        calls: calls made earlier, oldest first.
        results: (call, text) of each result that still has content, oldest first.
    """

    system: str
    user: str
    tools: dict[str, str]
    calls: tuple[ToolCall, ...]
    results: tuple[tuple[ToolCall, str], ...]

    def result(self, tool: str, **arguments: Any) -> str | None:
        """Text of the newest result of the tool, called with at least these arguments, or None."""
        for call, text in reversed(self.results):
            given = call.arguments if isinstance(call.arguments, dict) else {}
            if call.name == tool and arguments.items() <= given.items():
                return text
        return None

    def called(self, tool: str) -> bool:
        """Whether the tool was called earlier."""
        return any(call.name == tool for call in self.calls)

    @property
    def distrusts(self) -> bool:
        """Whether the system prompt says not to follow instructions in what is read."""
        return _DISTRUST.search(self.system) is not None

    @property
    def marked(self) -> bool:
        """Whether all results stand between marks that the system prompt explains."""
        marks = _MARKS.search(self.system)
        return marks is not None and all(marks.group(1) in text for _, text in self.results)

    def guarded(self, tool: str) -> bool:
        """Whether the system prompt allows the tool only on the user's own word."""
        sentences = re.split(r"(?<=[.!?:])\s", self.system)
        return any(tool in s and "only if the user" in s.lower() for s in sentences)

    @property
    def read(self) -> str:
        """Everything the tools returned."""
        return "\n".join(text for _, text in self.results)


def view(body: Json) -> View:
    """Read a request body of any known wire shape."""
    dialect = dialect_for(_shape(body))
    slots = dialect.slots(body)
    calls = tuple(dialect.tool_calls(body))
    by_id = {call.id: call for call in calls}
    results: dict[str | None, list[str]] = {}
    for slot in slots:
        if slot.kind is SlotKind.TOOL_RESULT:
            results.setdefault(slot.call_id, []).append(_text(body, slot))
    tools: dict[str, str] = {}
    for slot in slots:
        if slot.kind is SlotKind.TOOL_DEFINITION and slot.name is not None:
            tools[slot.name] = f"{tools.get(slot.name, '')} {_text(body, slot)}".strip()
    return View(
        system=_texts(body, slots, SlotKind.SYSTEM),
        user=_texts(body, slots, SlotKind.USER),
        tools=tools,
        calls=calls,
        results=tuple(
            (by_id[call_id], "\n".join(texts))
            for call_id, texts in results.items()
            if call_id in by_id and _shows("\n".join(texts))
        ),
    )


def noisy(
    model: Callable[[Json], Answer],
    other: Callable[[Json], Answer],
    noise: float,
    *,
    seed: int | None = None,
) -> Callable[[Json], Answer]:
    """A stochastic stand-in: answers like `model`, and with probability `noise` like `other`."""
    dice = random.Random(seed)  # noqa: S311 - a die, not a secret

    def answer(body: Json) -> Answer:
        return (other if dice.random() < noise else model)(body)

    return answer


def _shape(body: Json) -> str:
    if "input" in body:
        return "openai.responses"
    tools = body.get("tools") or [{}]
    anthropic = "system" in body or "input_schema" in tools[0]
    return "anthropic.messages" if anthropic else "openai.chat"


def _texts(body: Json, slots: list[Slot], kind: SlotKind) -> str:
    return "\n".join(t for s in slots if s.kind is kind and _shows(t := _text(body, s)))


def _text(body: Json, slot: Slot) -> str:
    value: Any = body
    for step in slot.path:
        value = value[step]
    return value if isinstance(value, str) else jsonio.dumps_text(value)


def _shows(text: str) -> bool:
    return bool(text.strip()) and text.strip() != _REMOVED
