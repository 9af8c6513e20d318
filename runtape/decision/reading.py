"""Reading a reply: its calls, its words, whether it is an answer at all, and when two are equal."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from runtape.decision.outcome import OutcomeKind
from runtape.decision.textcalls import calls_in_text
from runtape.dialects.base import Reply, Stop, ToolCall
from runtape.jsonio import dumps_text

_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)
"""Local servers without a reasoning parser leave the template's thoughts in front of the answer."""


def calls_of(reply: Reply) -> tuple[ToolCall, ...]:
    """The tool calls a reply makes, or writes as JSON text.

    A call that was cut before its arguments were complete is none: no agent would have made it.
    """
    if not reply.tool_calls:
        return calls_in_text(_spoken(reply.text))
    if reply.stop is not Stop.LENGTH:
        return reply.tool_calls
    return tuple(call for call in reply.tool_calls if isinstance(call.arguments, dict))


def words_of(reply: Reply) -> str:
    """The words of a reply, those of a refusal too; thoughts that stand in the text are none."""
    return "\n".join(part for part in (_spoken(reply.text), reply.refusal) if part)


def no_answer(reply: Reply) -> OutcomeKind | None:
    """CUT, REFUSAL or EMPTY when the reply is no answer; None when it is one."""
    calls = calls_of(reply)
    if (reply.refusal or reply.stop is Stop.REFUSAL) and not calls:
        return OutcomeKind.REFUSAL
    if reply.stop is Stop.LENGTH:
        return OutcomeKind.CUT
    if not calls and not words_of(reply).strip():
        return OutcomeKind.EMPTY
    return None


def normalised(text: str) -> str:
    """Text for comparing: without case, Unicode form, extra whitespace and end punctuation."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    end = len(folded)
    while end and (folded[end - 1].isspace() or unicodedata.category(folded[end - 1])[0] == "P"):
        end -= 1
    return folded[:end]


def same_arguments(one: Any, other: Any) -> bool:
    """Whether two argument values are equal, an int and a float of one value being equal.

    Unlike ``==``: ``True`` is not 1. Like it: ``"1"`` is not 1.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_arguments(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_arguments, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def finds(pattern: re.Pattern[str], call: ToolCall) -> bool:
    """Whether the pattern occurs in ``name {arguments}``, written compactly or with spaces."""
    compact = f"{call.name} {_written(call.arguments)}"
    spaced = f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}"
    return any(pattern.search(text) for text in (compact, spaced))


def _spoken(text: str | None) -> str:
    return _THOUGHTS.sub("", text or "", count=1)


def _written(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else dumps_text(arguments)
