"""What counts as the same decision.

A rule looks at one reply and says what kind of outcome it is. Replies that are no answer at all
(cut by max_tokens, refusals, empty) are outcomes of their own, never "changed" silently.
"""

from runtape.decision.outcome import (
    Decision,
    DecisionKind,
    DecisionRule,
    Judge,
    Outcome,
    OutcomeKind,
)
from runtape.decision.rules import make_rule
from runtape.decision.target import Target, decide

__all__ = [
    "Decision",
    "DecisionKind",
    "DecisionRule",
    "Judge",
    "Outcome",
    "OutcomeKind",
    "Target",
    "decide",
    "make_rule",
]
