"""From an event to what the tabs show of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from enum import Enum

from runtape.context import Context, build_context
from runtape.errors import NotADecision, RuntapeError
from runtape.reports.cells import one_line
from runtape.reports.sheet import Tone
from runtape.reports.timeline import KINDS
from runtape.reports.words import plural
from runtape.tape.events import LLM_REQUEST, Request
from runtape.tape.reader import Tape
from runtape.workbench import Trace, find_call
from runtape_tui.view_models.diff import Diff, compare
from runtape_tui.view_models.document import DocumentModel
from runtape_tui.view_models.event_sections import event_sections, raw_sections
from runtape_tui.view_models.sections import Section

_KEPT = 6
"""Contexts kept: moving between the events of one call costs nothing."""


class Tab(Enum):
    """What is shown of an event; the value is its title."""

    CONTEXT = "context"
    EVENT = "event"
    DIFF = "diff"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What one tab shows of one event.

    Attributes:
        event: the event.
        tab: the tab.
        subject: what it is about, in a few words.
        document: the text, for all tabs but the diff.
        diff: the diff, or None.
        news: the section to start at, or None: the top.
        key: equal for what looks the same: the events of one call have one context.
    """

    event: int
    tab: Tab
    subject: str
    key: tuple[Tab, int, int]
    document: DocumentModel | None = None
    diff: Diff | None = None
    news: Section | None = None

    def about(self, other: Loaded) -> Loaded:
        """This content, said to be about what `other` is about."""
        return replace(self, event=other.event, subject=other.subject)


class Loader:
    """Loads tabs, from any thread; keeps the contexts it put together last."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._contexts: OrderedDict[int, Context] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, event: int, tab: Tab, against: int | None = None) -> Loaded:
        """What a tab shows of an event; what went wrong is in the text.

        Args:
            event: the event.
            tab: the tab.
            against: the event a diff compares with; None: the model call before.
        """
        try:
            if tab is Tab.CONTEXT:
                return self._context(event)
            if tab is Tab.DIFF:
                return self._diff(event, against)
            return self._event(event, tab)
        except RuntapeError as error:
            return _note(event, tab, _problem(error))
        except Exception as error:  # noqa: BLE001 - an event nobody foresaw must not end the app
            return _note(event, tab, _fault(error))

    def context(self, request: int) -> Context:
        """The context of a model call; raises what ``build_context`` raises."""
        with self._lock:
            found = self._contexts.get(request)
            if found is None:
                found = self._contexts[request] = build_context(self._trace.tape, request)
                if len(self._contexts) > _KEPT:
                    self._contexts.popitem(last=False)
            self._contexts.move_to_end(request)
            return found

    def forget(self) -> None:
        """Forget everything: the file is another one now."""
        with self._lock:
            self._contexts.clear()

    def _event(self, event: int, tab: Tab) -> Loaded:
        tape = self._trace.tape
        found = tape[event]
        make = event_sections if tab is Tab.EVENT else raw_sections
        subject = f"#{event} {KINDS.get(found.type, found.type)}"
        return Loaded(event, tab, subject, (tab, event, 0), DocumentModel(make(tape, found)))

    def _context(self, event: int) -> Loaded:
        request, own = request_of(self._trace, event)
        if request is None:
            return _note(event, Tab.CONTEXT, _NO_CALL)
        context = self.context(request)
        since = call_before(self._trace.tape, context.request)
        model = DocumentModel.of_context(context, since)
        news = next((section for section in model.sections if section.since is not None), None)
        subject = _subject(context, own=own)
        if not model.sections:
            model = DocumentModel(_EMPTY)
        return Loaded(event, Tab.CONTEXT, subject, (Tab.CONTEXT, request, 0), model, news=news)

    def _diff(self, event: int, against: int | None) -> Loaded:
        request, _ = request_of(self._trace, event)
        if request is None:
            return _note(event, Tab.DIFF, _NO_CALL)
        context = self.context(request)
        if against is None:
            other = call_before(self._trace.tape, context.request)
        else:
            other, _ = request_of(self._trace, against)
        if other is None or other == request:
            return _note(event, Tab.DIFF, _nothing_before(other))
        diff = compare(self.context(other), context)
        subject = f"model call #{other} → #{request} · {plural(diff.changed, 'change')}"
        return Loaded(event, Tab.DIFF, subject, (Tab.DIFF, request, other), diff=diff)


def request_of(trace: Trace, event: int) -> tuple[int | None, bool]:
    """The model call that decided an event, else the last one before it; and whether it decided."""
    try:
        return find_call(trace, event).request, True
    except NotADecision:
        before = [head.id for head in trace.tape.of_type(LLM_REQUEST) if head.id <= event]
        return (before[-1] if before else None), False


def call_before(tape: Tape, request: Request) -> int | None:
    """The model call before this one in the same conversation, else the one before in the run."""
    same = [span.event for span in request.spans if span.event < request.event]
    if same:
        return max(same)
    before = [head.id for head in tape.of_type(LLM_REQUEST) if head.id < request.event]
    return before[-1] if before else None


def _subject(context: Context, *, own: bool) -> str:
    call = f"{'' if own else 'before this: '}model call #{context.request.event}"
    model = one_line(context.dialect.model(context.body) or context.request.api, 24)
    return " · ".join((call, model, plural(len(context.roots), "piece")))


def _note(event: int, tab: Tab, sections: tuple[Section, ...]) -> Loaded:
    """A remark in place of what cannot be shown."""
    told = hash(tuple(section.text for section in sections))
    return Loaded(event, tab, "", (tab, -1, told), DocumentModel(sections))


def _problem(error: RuntapeError) -> tuple[Section, ...]:
    text = f"{error.message}\n\n{error.hint}" if error.hint else error.message
    return (Section("problem", title="cannot be shown", text=text, tone=Tone.WARN),)


def _fault(error: Exception) -> tuple[Section, ...]:
    text = f"{type(error).__name__}: {error}\n\nThis is a fault in runtape; raw (4) may still work."
    return (Section("fault", title="cannot be shown", text=text, tone=Tone.WARN),)


def _nothing_before(other: int | None) -> tuple[Section, ...]:
    if other is None:
        text = "This is the first model call of its conversation: there is nothing to compare with."
    else:
        text = "Both events belong to the same model call.\n\nMark another event with m, then d."
    return (Section("nothing", title="nothing to compare", text=text, tone=Tone.QUIET),)


_EMPTY = (
    Section(
        "empty",
        title="nothing in it",
        text="This request carries neither messages nor tools; raw (4) shows it as recorded.",
        tone=Tone.QUIET,
    ),
)
_NO_CALL = (
    Section(
        "none",
        title="no model call yet",
        text="No model was asked up to this event. ] goes to the next model call.",
        tone=Tone.QUIET,
    ),
)
