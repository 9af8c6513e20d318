"""The rules: from one reply to its outcome."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from runtape.decision.outcome import (
    Decision,
    DecisionKind,
    DecisionRule,
    Judge,
    Outcome,
    OutcomeKind,
)
from runtape.decision.reading import (
    calls_of,
    finds,
    no_answer,
    normalised,
    same_arguments,
    words_of,
)
from runtape.dialects.base import Reply, Stop, ToolCall
from runtape.errors import UsageError
from runtape.jsonio import canonical

TEXT_SHOWN = 200
"""Characters of the words that an outcome keeps."""

_Test: TypeAlias = Callable[[Reply], bool]


def make_rule(
    decision: Decision, *, exact_args: bool = False, judge: Judge | None = None
) -> DecisionRule:
    """The rule that recognises `decision`.

    Args:
        decision: what to recognise.
        exact_args: whether a tool call must have the recorded arguments (1 and 1.0 are equal).
        judge: decides for kind JUDGE; refusals, cut and empty replies are never shown to it.

    Raises:
        UsageError: a bad pattern, a missing judge, or no recorded arguments to compare with.
    """
    if exact_args and not decision.calls:
        raise UsageError(
            "There are no recorded arguments to compare with.", hint="leave --exact-args out"
        )
    if decision.kind is DecisionKind.JUDGE:
        if judge is None:
            raise UsageError("Nobody was named to judge.", hint="name one: --judge MODEL")
        return _JudgeRule(judge)
    return _TestRule(_TESTS[decision.kind](decision, exact_args))


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A compiled ``--match``; raises UsageError that names the position of the mistake."""
    try:
        return re.compile(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at character {error.pos + 1}"
        raise UsageError(
            f"The pattern {pattern!r} is no regular expression: {error.msg}{where}.",
            hint="a literal ( [ . * + ? needs a backslash before it",
        ) from error


def matching(pattern: re.Pattern[str], decision: Decision) -> _Test:
    """Whether a reply matches where the recorded one did: in calls, in words, or in either."""
    in_calls = any(finds(pattern, call) for call in decision.calls)
    in_words = not in_calls and decision.text is not None

    def test(reply: Reply) -> bool:
        found_in_call = any(finds(pattern, call) for call in calls_of(reply))
        found_in_words = bool(pattern.search(words_of(reply)))
        return (found_in_call and not in_words) or (found_in_words and not in_calls)

    return test


@dataclass(frozen=True, slots=True)
class _TestRule:
    test: _Test

    async def judge(self, reply: Reply) -> Outcome:
        return _outcome(reply, same=self.test(reply))


@dataclass(frozen=True, slots=True)
class _JudgeRule:
    ask: Judge

    async def judge(self, reply: Reply) -> Outcome:
        if no_answer(reply) is not None:
            return _outcome(reply, same=False)
        verdict = self.ask(reply)
        same = await verdict if inspect.isawaitable(verdict) else verdict
        return _outcome(reply, same=bool(same))


def _outcome(reply: Reply, *, same: bool) -> Outcome:
    calls = calls_of(reply)
    other = OutcomeKind.OTHER_CALL if calls else OutcomeKind.TEXT
    return Outcome(
        kind=OutcomeKind.SAME if same else no_answer(reply) or other,
        calls=tuple((call.name, canonical(call.arguments).decode()) for call in calls),
        text=None if calls else " ".join(words_of(reply).split())[:TEXT_SHOWN],
        as_text=bool(calls) and not reply.tool_calls,
    )


def _calls_tool(decision: Decision, exact_args: bool) -> _Test:  # noqa: FBT001 - one of a table
    recorded = [call for call in decision.calls if call.name == decision.tool]

    def test(reply: Reply) -> bool:
        made = [call for call in calls_of(reply) if call.name == decision.tool]
        if not exact_args:
            return bool(made)
        return any(same_arguments(r.arguments, m.arguments) for r in recorded for m in made)

    return test


def _calls_tools(decision: Decision, exact_args: bool) -> _Test:  # noqa: FBT001
    names = {call.name for call in decision.calls}

    def test(reply: Reply) -> bool:
        made = calls_of(reply)
        if reply.stop is Stop.LENGTH or {call.name for call in made} != names:
            return False
        return not exact_args or _pair_up(decision.calls, made)

    return test


def _pair_up(recorded: Sequence[ToolCall], made: Sequence[ToolCall]) -> bool:
    """Whether the calls are the same ones, in any order."""
    left = list(made)
    for call in recorded:
        twin = next((m for m in left if _same_call(call, m)), None)
        if twin is None:
            return False
        left.remove(twin)
    return not left


def _same_call(one: ToolCall, other: ToolCall) -> bool:
    return one.name == other.name and same_arguments(one.arguments, other.arguments)


def _says_text(decision: Decision, exact_args: bool) -> _Test:  # noqa: ARG001, FBT001
    recorded = normalised(decision.text or "")

    def test(reply: Reply) -> bool:
        answers = no_answer(reply) is None and not calls_of(reply)
        return answers and normalised(words_of(reply)) == recorded

    return test


def _matches(decision: Decision, exact_args: bool) -> _Test:  # noqa: ARG001, FBT001
    return matching(compile_pattern(decision.pattern or ""), decision)


_TESTS: dict[DecisionKind, Callable[[Decision, bool], _Test]] = {
    DecisionKind.TOOL: _calls_tool,
    DecisionKind.TOOLS: _calls_tools,
    DecisionKind.TEXT: _says_text,
    DecisionKind.MATCH: _matches,
}
