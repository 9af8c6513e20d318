"""Other model calls of a run, ready to be asked again."""

from __future__ import annotations

from runtape.attribution.provenance import origin_of
from runtape.attribution.sampling import Place
from runtape.context import Context, Piece, build_context
from runtape.decision import Decision, DecisionKind
from runtape.errors import NotADecision
from runtape.tape.reader import Tape
from runtape.workbench.questions import Gates


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
