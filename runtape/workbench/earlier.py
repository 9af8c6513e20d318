"""Other model calls, of the same run or of others, ready to be asked again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from runtape.attribution.provenance import origin_of, recorded_replies
from runtape.attribution.sampling import Place
from runtape.context import Context, Piece, build_context
from runtape.decision import Decision, DecisionKind, decide
from runtape.decision.reading import no_answer
from runtape.dialects.base import Reply
from runtape.errors import NotADecision, RequestError, TraceError, UsageError
from runtape.remedies.measuring import Other, Others
from runtape.tape.reader import Tape
from runtape.workbench.questions import Gates
from runtape.workbench.traces import Trace


def call_behind(tape: Tape, gates: Gates, context: Context, piece: Piece) -> Place:
    """The decision that brought a top-level piece of a context: this call with these arguments.

    Raises:
        NotADecision: no recorded reply asks for it.
        IncompleteContext: the tape lacks what a rerun of that model call needs.
    """
    origin = origin_of(tape, context, piece)
    if origin is None:
        raise NotADecision(
            f"no recorded reply asks for the call of {piece.tool or 'a tool'} behind {piece.ref}",
            path=str(tape.path),
            event=piece.event,
        )
    call = origin.asked.call
    decision = Decision(
        event=origin.event,
        request=origin.asked.request,
        kind=DecisionKind.TOOL,
        calls=(call,),
        tool=call.name,
    )
    return gates.beside(build_context(tape, decision.request), decision, exact_args=True)


async def other_decisions(
    trace: Trace, failed: Place, gates: Gates, also: Sequence[Trace], limit: int
) -> Others:
    """The decisions beside a failed one, and those of further traces, at most `limit` of each run.

    Those nearest to the failed one come first. Decisions of the same run that are the failed one
    again are not among them; in further traces they are: there they may have been wanted.
    """
    own = sorted(
        _decisions(trace.tape), key=lambda found: abs(found[0].request - failed.decision.request)
    )
    alike = [decision.event for decision, reply in own if await _is_failed(failed, decision, reply)]
    kept = [d for d, _ in own if d.request != failed.decision.request and d.event not in alike]
    runs = [(trace, "", kept)]
    runs += [(t, str(t.path), [d for d, _ in _decisions(t.tape)]) for t in also]
    places: list[list[Other]] = []
    lost = 0
    for run, label, decisions in runs:
        found = [_other(run.tape, gates, decision, label) for decision in decisions[:limit]]
        places.append([other for other in found if other is not None])
        lost += found.count(None)
    beyond = sum(max(0, len(decisions) - limit) for _, _, decisions in runs)
    in_turn = [other for group in zip_longest(*places) for other in group if other is not None]
    return Others(tuple(in_turn), beyond, tuple(sorted(alike)), lost)


def _decisions(tape: Tape) -> Iterator[tuple[Decision, Reply]]:
    """What each recorded reply decided, in order; of retries the last."""
    seen: dict[int, tuple[Decision, Reply]] = {}
    for response, reply in recorded_replies(tape):
        if response.parent is None or response.parent in seen or no_answer(reply) is not None:
            continue
        decision = decide(response.id, response.parent, reply)
        seen[response.parent] = (decision, reply)
    return iter(sorted(seen.values(), key=lambda found: found[0].event))


async def _is_failed(failed: Place, decision: Decision, reply: Reply) -> bool:
    """Whether another decision is the failed one again; a judge is not asked about it."""
    if failed.decision.kind is DecisionKind.JUDGE or decision.request == failed.decision.request:
        return False
    return (await failed.gate.rule.judge(reply)).same


def _other(tape: Tape, gates: Gates, decision: Decision, label: str) -> Other | None:
    """The decision ready to be run again; None when it cannot be."""
    try:
        context = build_context(tape, decision.request)
        return Other(gates.beside(context, decision, exact_args=False), label)
    except (RequestError, TraceError, UsageError):
        return None
