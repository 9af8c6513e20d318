"""What each code of an investigation means, said honestly."""

from __future__ import annotations

from runtape.attribution.facts import Phase, PieceState, Role, Verdict

VERDICT_WORDS = {
    Verdict.ATTRIBUTED: "attributed",
    Verdict.ONLY_REQUIRED: "no text pushes the model to this; it only needs these inputs",
    Verdict.NOTHING_FOUND: "no cause found",
    Verdict.DID_NOT_RECUR: "the decision did not recur",
    Verdict.TOO_RARE: "too rare to explain",
    Verdict.BUDGET_SPENT: "the budget ended first",
    Verdict.INCOMPLETE_CONTEXT: "the trace lacks what a rerun needs",
    Verdict.PROVIDER_FAILED: "the provider failed",
    Verdict.INTERRUPTED: "interrupted",
}
"""One line for each verdict."""

ROLE_WORDS = {
    Role.CAUSE: "the cause",
    Role.REQUIRED: "needed as input",
    Role.JOINT: "causes it together with others",
    Role.EACH_ENOUGH: "each is enough",
    Role.MASKED: "a masked cause",
    Role.CONTRIBUTES: "contributes",
    Role.DIFFUSE: "spread over the context",
}

STATE_WORDS = {
    PieceState.UNTESTED: "not tested",
    PieceState.RUNNING: "running",
    PieceState.IN_GROUP: "no effect in a group",
    PieceState.SUSPECTED: "suspected",
    PieceState.NO_EFFECT: "no effect seen",
    PieceState.CAUSE: "cause",
    PieceState.REQUIRED: "needed",
    PieceState.CONTRIBUTES: "contributes",
}

STATE_GLYPHS = {
    PieceState.UNTESTED: " ",
    PieceState.RUNNING: "◌",
    PieceState.IN_GROUP: "·",
    PieceState.SUSPECTED: "◍",
    PieceState.NO_EFFECT: "○",
    PieceState.CAUSE: "●",
    PieceState.REQUIRED: "◐",
    PieceState.CONTRIBUTES: "◔",
}
"""One glyph for each state, told apart without colour."""

PHASE_WORDS = {
    Phase.BASELINE: "does it happen again",
    Phase.SCREEN: "removing pieces",
    Phase.NARROW: "narrowing down",
    Phase.CONFIRM: "confirming",
    Phase.COMBINE: "trying sets",
    Phase.DESCRIBE: "describing",
}
