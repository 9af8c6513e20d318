"""A decision in words, and what was counted as making it again."""

from __future__ import annotations

from runtape.decision import Decision, DecisionKind
from runtape.jsonio import Json
from runtape.reports.words import call, listed, quoted


def decision_words(decision: Decision) -> str:
    """What the model did: ``calls f(x=1)``, ``answers “…”``, ``matches /…/``."""
    calls = [made for made in decision.calls if decision.tool in {None, made.name}]
    if calls and decision.kind is not DecisionKind.MATCH:
        return "calls " + listed([call(made.name, made.arguments) for made in calls])
    if decision.kind in {DecisionKind.TOOL, DecisionKind.TOOLS} and decision.tool:
        return f"calls {decision.tool}"
    if decision.kind is DecisionKind.MATCH and decision.pattern is not None:
        return f"matches /{decision.pattern}/"
    return f"answers {quoted(decision.text or '', 120)}"


def sameness_words(decision: Decision, settings: Json) -> str:
    """How sameness was decided; `settings` as in a report (``exact_args``, ``judge``)."""
    called = list(dict.fromkeys(made.name for made in decision.calls))
    names = listed([decision.tool] if decision.tool else called)
    exact = settings.get("exact_args")
    arguments = "with the same arguments" if exact else "whatever the arguments"
    return {
        DecisionKind.TOOL: f"a call of {names}, {arguments}",
        DecisionKind.TOOLS: f"calls of {names} and no other tool, {arguments}",
        DecisionKind.TEXT: "the same answer but for case, punctuation and white space",
        DecisionKind.MATCH: "whatever matches the pattern",
        DecisionKind.JUDGE: f"what the judge {settings.get('judge') or ''} calls the same",
    }[decision.kind]


def decided_tools(decision: Decision) -> frozenset[str]:
    """Names of the tools the decision calls."""
    return frozenset([decision.tool] if decision.tool else [c.name for c in decision.calls])
