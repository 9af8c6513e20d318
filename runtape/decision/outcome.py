"""The vocabulary: decisions, outcomes, and the rule that leads from a reply to an outcome."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from runtape.dialects.base import Reply, ToolCall


class OutcomeKind(Enum):
    """What a reply turned out to be, seen from the decision that is being explained."""

    SAME = "same"
    OTHER_CALL = "other_call"
    """Calls another tool (or the same one with other arguments, when arguments count)."""
    TEXT = "text"
    """Answers in words without calling a tool."""
    CUT = "cut"
    """The reply was cut by max_tokens."""
    REFUSAL = "refusal"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The decision one reply makes. Equal outcomes are counted together.

    Attributes:
        kind: its relation to the explained decision.
        calls: (tool name, canonical JSON of the arguments) of each call, in order.
        text: first characters of the words, when there are no calls.
        as_text: whether the calls were written as JSON text instead of being made.
    """

    kind: OutcomeKind
    calls: tuple[tuple[str, str], ...] = ()
    text: str | None = None
    as_text: bool = False

    @property
    def same(self) -> bool:
        """Whether the explained decision was made again."""
        return self.kind is OutcomeKind.SAME


class DecisionKind(Enum):
    """How sameness is decided; the value is the ``kind`` of ``runtape.why/1``."""

    TOOL = "tool"
    TOOLS = "tools"
    TEXT = "text"
    MATCH = "match"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision to explain: what the model did at one call.

    Attributes:
        event: event the user pointed at.
        request: event of the model call that is rerun.
        kind: how sameness is decided.
        calls: the recorded tool calls (empty for text, or when no reply was recorded); only the
            explained one when the user pointed at one of several.
        tool: the tool whose call is explained, for kind TOOL.
        text: the recorded words, when there were no calls.
        pattern: the regular expression, for kind MATCH.
    """

    event: int
    request: int
    kind: DecisionKind
    calls: tuple[ToolCall, ...] = ()
    tool: str | None = None
    text: str | None = None
    pattern: str | None = None


class DecisionRule(Protocol):
    """Says what one reply decided."""

    async def judge(self, reply: Reply) -> Outcome:
        """Classify one reply."""


Judge: TypeAlias = Callable[[Reply], bool | Awaitable[bool]]
"""Says, at once or async, whether a reply makes the explained decision."""
