"""What a job will probably cost, before anything is called."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from runtape.attribution.facts import Investigation
from runtape.attribution.options import WhyOptions
from runtape.attribution.variants import PieceTree
from runtape.context import Context
from runtape.context.pieces import Piece
from runtape.decision import Decision
from runtape.remedies.options import FixOptions
from runtape.tape.events import LLM_REQUEST
from runtape.workbench.questions import Question, answerer, asked_model
from runtape.workbench.tariffs import Tariff

_CHARACTERS_PER_TOKEN = 4
"""Rule of thumb for English and JSON, used where the recording says nothing."""
_USUAL_REMEDIES = 5
"""Rule, guard, both, delimiting, removal."""
_REPLY_TOKENS = 300
"""Of a reply, where the recording says nothing: on the high side for a decision."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A dry run.

    Attributes:
        decision: what the job is about.
        pieces: top-level pieces it would test; none for `rerun` and `odds`.
        calls: model replies it will probably take; cached ones count too.
        most: replies it can take at most.
        input_tokens: tokens of all `calls` together.
        output_tokens: of all `calls`.
        assumed: whether the tokens are a guess from the length instead of recorded.
        model: the recorded model, or the one asked for; None when unknown.
        cost_usd: price of all `calls`; None when it is not known.
    """

    decision: Decision
    pieces: tuple[Piece, ...]
    calls: int
    most: int
    input_tokens: int
    output_tokens: int
    assumed: bool
    model: str | None = None
    cost_usd: float | None = None


def plan_why(question: Question, context: Context, options: WhyOptions) -> Plan:
    """The dry run of a `why`; raises RefNotFound for a ref in ``expand`` that is not there."""
    pieces = PieceTree(context, options.expand).pieces
    count = min(len(pieces), options.max_pieces or len(pieces))
    calls = _why_calls(count, deterministic=context.dialect.temperature(context.body) == 0)
    if options.chain:  # a step back costs as much again; most chains are short
        calls *= 1 + min(options.depth, 2, max(0, _recorded_calls(question) - 1))
    return _plan(question, context, pieces, calls)


def plan_samples(question: Question, context: Context, runs: int) -> Plan:
    """The dry run of a `rerun` or `odds` with this many runs in all."""
    return _plan(question, context, (), runs)


def plan_fix(
    question: Question,
    context: Context,
    options: FixOptions,
    explained: Investigation | None = None,
) -> Plan:
    """The dry run of a `fix`: a `why` (unless it is there), the remedies, and what they break.

    How many remedies help is not known before: half of the usual ones, and those that were named.
    """
    why = plan_why(question, context, options.for_why())
    named = len(options.rules) + bool(options.model_name)
    remedies = _USUAL_REMEDIES + named
    others = min(options.others, _recorded_calls(question) - 1)
    checks = options.checks * others * (1 + remedies // 2 + named)
    calls = (0 if explained else why.calls) + options.runs * remedies + checks
    return _plan(question, context, why.pieces, calls)


def _recorded_calls(question: Question) -> int:
    return len(question.trace.tape.of_type(LLM_REQUEST))


def _plan(question: Question, context: Context, pieces: tuple[Piece, ...], calls: int) -> Plan:
    options, name = question.options, asked_model(question, context)
    tariff = Tariff(answerer(question, context), name)
    recorded = _recorded_tokens(question)
    ins = recorded.get("input") or max(1, len(context.request.text) // _CHARACTERS_PER_TOKEN)
    outs = recorded.get("output") or _REPLY_TOKENS
    calls = min(calls, options.budget)
    return Plan(
        decision=question.decision,
        pieces=pieces,
        calls=calls,
        most=options.budget if pieces else calls,
        input_tokens=ins * calls,
        output_tokens=outs * calls,
        assumed="input" not in recorded,
        model=name,
        cost_usd=tariff.cost(calls, ins * calls, outs * calls),
    )


def _why_calls(pieces: int, *, deterministic: bool) -> int:
    """Median of the quality suite's simulated worlds, from 7 to 300 pieces, as a curve.

    Sampled: 45, 60, 75 and 85 calls for 7, 20, 80 and 300 pieces; temperature 0: 28 and 35 for 20
    and 80. Intermittent decisions take two to three times as many.
    """
    doublings = log2(max(2, pieces))
    return round(15 + 3.1 * doublings) if deterministic else round(23 + 8 * doublings)


def _recorded_tokens(question: Question) -> dict[str, int]:
    """What the recorded call took; only what was reported."""
    response = question.trace.tape.response_to(question.decision.request)
    tokens = response.meta.get("tokens") if response else None
    counts = tokens.items() if isinstance(tokens, dict) else ()
    return {name: n for name, n in counts if isinstance(n, int) and n > 0}
