"""From an event to the document that shows what the model saw there."""

from __future__ import annotations

from dataclasses import dataclass

from runtape.context import Context, build_context
from runtape.errors import NotADecision, RuntapeError
from runtape.tape.events import LLM_REQUEST, Request
from runtape.tape.reader import Tape
from runtape.workbench import Trace, find_call
from runtape_tui.view_models.document import DocumentModel


@dataclass(frozen=True, slots=True)
class Seen:
    """What the model saw at the call an event belongs to.

    Attributes:
        event: the event.
        request: the model call, or None when there is none.
        own: whether that call decided the event; else it is the last one before it.
        context: the context, or None when it cannot be put together.
        model: the document to show.
        problem: why there is no context, or None.
    """

    event: int
    request: int | None
    own: bool
    context: Context | None
    model: DocumentModel
    problem: RuntapeError | None = None


def load_context(trace: Trace, event: int) -> Seen:
    """What the model saw at an event; never raises a RuntapeError, it is in the answer."""
    request, own = request_of(trace, event)
    if request is None:
        return Seen(event, None, False, None, DocumentModel(()))
    try:
        context = build_context(trace.tape, request)
    except RuntapeError as error:
        return Seen(event, request, own, None, DocumentModel(()), error)
    since = call_before(trace.tape, context.request)
    return Seen(event, request, own, context, DocumentModel.of_context(context, since))


def request_of(trace: Trace, event: int) -> tuple[int | None, bool]:
    """The model call that decided an event, else the last one before it, and which it is."""
    try:
        return find_call(trace, event).request, True
    except NotADecision:
        before = [head.id for head in trace.tape.of_type(LLM_REQUEST) if head.id <= event]
        return (before[-1] if before else None), False


def call_before(tape: Tape, request: Request) -> int | None:
    """The model call before this one in the same conversation; else the one before it in the run."""
    same = [span.event for span in request.spans if span.event < request.event]
    if same:
        return max(same)
    before = [head.id for head in tape.of_type(LLM_REQUEST) if head.id < request.event]
    return before[-1] if before else None
