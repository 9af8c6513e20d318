"""From a recorded reply, and what the user named, to the decision that is explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runtape.decision.outcome import Decision, DecisionKind, OutcomeKind
from runtape.decision.reading import calls_of, no_answer, words_of
from runtape.decision.rules import compile_pattern, matching
from runtape.dialects.base import Reply, ToolCall
from runtape.errors import NotADecision, UsageError


@dataclass(frozen=True, slots=True)
class Target:
    """What the user named as the decision: one of the three, or nothing (the recorded reply).

    Attributes:
        tool: the model calls this tool.
        match: a call or the words match this regular expression.
        judged: a judge says whether it is the same.
    """

    tool: str | None = None
    match: str | None = None
    judged: bool = False


_RECORDED = Target()


def decide(
    event: int,
    request: int,
    reply: Reply | None,
    *,
    pointed: ToolCall | None = None,
    target: Target = _RECORDED,
) -> Decision:
    """The decision of one model call.

    Args:
        event: event the user pointed at.
        request: event of the model call.
        reply: what the model answered, or None when that was not recorded.
        pointed: the tool call, when `event` is one of a tool.
        target: what the user named.

    Raises:
        NotADecision: the reply was not recorded, or decides nothing, or not what the user named.
        UsageError: a bad pattern, or two targets.
    """
    if sum([target.tool is not None, target.match is not None, target.judged]) > 1:
        raise UsageError("A tool, a pattern and a judge exclude one another.", hint="give one")
    calls = calls_of(reply) if reply else ()
    kind = _kind(target, calls, pointed)
    if kind is DecisionKind.TOOL and pointed and target.tool in (None, pointed.name):
        calls = (pointed,)
    decision = Decision(
        event=event,
        request=request,
        kind=kind,
        calls=calls,
        tool=(target.tool or calls[0].name) if kind is DecisionKind.TOOL else None,
        text=words_of(reply) if reply and not calls else None,
        pattern=target.match,
    )
    _check(decision, reply)
    return decision


def _kind(target: Target, calls: Sequence[ToolCall], pointed: ToolCall | None) -> DecisionKind:
    if target.match is not None:
        return DecisionKind.MATCH
    if target.judged:
        return DecisionKind.JUDGE
    if target.tool is not None or pointed is not None:
        return DecisionKind.TOOL
    names = {call.name for call in calls}
    return (DecisionKind.TEXT, DecisionKind.TOOL, DecisionKind.TOOLS)[min(len(names), 2)]


def _check(decision: Decision, reply: Reply | None) -> None:
    """Refuse what no rerun could answer, before anything is paid for."""
    check = {
        DecisionKind.TOOL: _check_tool,
        DecisionKind.MATCH: _check_match,
        DecisionKind.TEXT: _check_answer,
        DecisionKind.JUDGE: _check_answer,
    }.get(decision.kind)
    if check is not None:
        check(decision, reply)


def _check_tool(decision: Decision, reply: Reply | None) -> None:
    if reply is not None and decision.tool not in {call.name for call in decision.calls}:
        raise NotADecision(
            f"The model did not call {decision.tool} there: it {_did(reply)}.",
            hint="name a tool that it called, or point at another event",
            event=decision.event,
        )


def _check_match(decision: Decision, reply: Reply | None) -> None:
    test = matching(compile_pattern(decision.pattern or ""), decision)
    if reply is not None and not test(reply):
        raise NotADecision(
            f"The recorded reply does not match {decision.pattern!r}: it {_did(reply)}.",
            hint="the pattern is searched in `name {arguments}` of each call, and in the words",
            event=decision.event,
        )


def _check_answer(decision: Decision, reply: Reply | None) -> None:
    if reply is None:
        raise NotADecision(
            f"No reply to request {decision.request} was recorded.",
            hint="name the decision: --tool NAME or --match REGEX",
            event=decision.event,
        )
    void = no_answer(reply)
    if void is not None:
        raise NotADecision(
            f"The recorded reply decides nothing: it {_did(reply)}.",
            hint="" if void is OutcomeKind.EMPTY else "name what it says: --match REGEX",
            event=decision.event,
        )


def _did(reply: Reply) -> str:
    void = no_answer(reply)
    if void is OutcomeKind.CUT:
        return "was cut by max_tokens"
    if void is OutcomeKind.REFUSAL:
        return "is a refusal"
    if void is OutcomeKind.EMPTY:
        return "is empty"
    names = list(dict.fromkeys(call.name for call in calls_of(reply)))
    return f"calls {', '.join(names)}" if names else "answers in words"
