"""The hook that answers from the tape in place of the wire."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from runtape.dialects import dialect_of_path
from runtape.errors import UsageError
from runtape.jsonio import dumps, loads_exact
from runtape.playback.answers import Answer, answer_of
from runtape.playback.divergence import ReplayDiverged, ReplayWarning
from runtape.playback.haste import note_failure
from runtape.playback.matching import RecordedCall, RecordedCalls
from runtape.playback.options import OnDiverge, ReplayOptions
from runtape.playback.responses import Played, library_of
from runtape.recording.attempts import tried_again
from runtape.recording.calls import Sent
from runtape.recording.secrets import Secrets
from runtape.recording.wire import read_request
from runtape.tape.events import LLM_RESPONSE, TOOL_RESULT, Event
from runtape.tape.reader import Tape


class Live(NamedTuple):
    """A request that is really sent, as it is or edited."""

    request: Any


class Course:
    """How far a replay has come, shared by model calls and tools.

    Attributes:
        until: id of the request or tool call at which the tape is left, or None.
        secrets: finds what recorders replace, credentials the program signs with included.
        live: whether everything really happens from here on.
        divergence: what stopped the replay; every later call raises it again.
    """

    def __init__(self, tape: Tape, options: ReplayOptions) -> None:
        self.tape = tape
        self.options = options
        self.until = _start_of(tape, options.until)
        self.secrets = Secrets()
        self.live = False
        self.divergence: ReplayDiverged | None = None
        self.went_live: list[Callable[[str], None]] = []
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raise what stopped the replay earlier."""
        if self.divergence is not None:
            raise self.divergence

    def stop(self, divergence: ReplayDiverged) -> ReplayDiverged:
        """Note why the replay ends here; returns what to raise."""
        with self._lock:
            self.divergence = self.divergence or divergence
        return self.divergence

    def go_live(self, why: str) -> None:
        """From here on everything really happens; `why` is left in the new run."""
        with self._lock:
            first, self.live = not self.live, True
        if first:
            for told in self.went_live:
                told(why)

    def arrived(self, until: int) -> ReplayDiverged:
        """What to leave the tape with where the replay was asked to end."""
        return ReplayDiverged(
            f"The replay has come to event {until}.",
            hint='on_diverge="live" goes on from here',
            path=str(self.tape.path),
            event=until,
        )

    def leave(self, divergence: ReplayDiverged) -> None:
        """The program left the tape: raises, or goes live, as the options say."""
        if self.options.on_diverge is not OnDiverge.LIVE:
            raise self.stop(divergence)
        self.go_live(f"live from here on: {divergence.message}")


class Player:
    """Answers the model calls of the clients it is the hook of."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._tape = course.tape
        self._options = course.options
        self.calls = RecordedCalls(course.tape, course.secrets)

    def send(self, proceed: Callable[..., Any], request: Any, *, stream: bool) -> Any:
        """See :class:`~runtape.recording.wire.Hook`."""
        step = self._step(request)
        if isinstance(step, Live):
            return proceed(step.request, stream=stream)
        response = step.respond()
        if not stream:
            try:
                response.read()
            except BaseException:
                response.close()
                raise
        return response

    async def send_async(self, proceed: Callable[..., Any], request: Any, *, stream: bool) -> Any:
        """See :class:`~runtape.recording.wire.Hook`."""
        step = self._step(request)
        if isinstance(step, Live):
            return await proceed(step.request, stream=stream)
        response = await step.respond_async()
        if not stream:
            try:
                await response.aread()
            except BaseException:
                await response.aclose()
                raise
        return response

    def _step(self, request: Any) -> Played | Live:
        """What is done about a request; raises ReplayDiverged."""
        self._course.check()
        note_failure(failed=False)
        if self._course.live:
            return Live(request)
        sent = self._sent(request)
        if sent is None:
            self._course.leave(self._unknown(request))
            return Live(request)
        call = self.calls.take(sent, self._course.until)
        if call is None:
            call = self._not_found(sent)
        if call is None:
            return Live(self._edited(request, sent))
        return self._play(call, request)

    def _sent(self, request: Any) -> Sent | None:
        """The model call that a request is; None for everything that recorders let pass."""
        dialect = dialect_of_path(request.url.path) if request.method == "POST" else None
        learn = self._course.secrets.learn
        return None if dialect is None else read_request(request, dialect, learn)

    def _not_found(self, sent: Sent) -> RecordedCall | None:
        """A request that is not on the tape (before `until`): the call to take for it, or None."""
        until = self._course.until
        if until is not None and self.calls.was_meant(sent) is not None:
            self._course.leave(self._course.arrived(until))
            return None
        divergence = self._difference(sent)
        if self._options.on_diverge is OnDiverge.WARN:
            call = self.calls.next_like(sent)
            if call is not None:
                warnings.warn(str(divergence), ReplayWarning, stacklevel=2)
                return call
        self._course.leave(divergence)
        return None

    def _play(self, call: RecordedCall, request: Any) -> Played:
        answer = self._answer(call)
        if isinstance(answer, str):
            raise self._course.stop(self._unanswered(call, answer))
        failed = answer.status is None or tried_again(answer.status)
        note_failure(failed=failed)
        return Played(answer, request, lambda: self._course.stop(self._overdue(call)))

    def _answer(self, call: RecordedCall) -> Answer | str:
        response: Event | None = self._tape.response_to(call.event)
        if response is None:
            return "the tape has no response to it"
        return answer_of(response, self._tape.request(call.event))

    def _edited(self, request: Any, sent: Sent) -> Any:
        """The first live request, with its body edited when it is the one that `until` names."""
        edit, meant = self._options.edit, self.calls.was_meant(sent)
        if edit is None or meant is None or meant.event != self._course.until:
            return request
        body = edit(loads_exact((sent.body or b"").decode("utf-8")))
        if not isinstance(body, dict):
            raise UsageError("edit returned no request body.", hint="return the changed dict")
        return _with_body(request, dumps(body))

    # What can be wrong

    def _about(self, message: str, **more: Any) -> ReplayDiverged:
        return ReplayDiverged(message, path=str(self._tape.path), **more)

    def _unknown(self, request: Any) -> ReplayDiverged:
        what = f"{request.method} {request.url.path}"
        return self._about(
            f"The program asks for {what}, which is no model call: the tape has no answer.",
            hint='on_diverge="live" lets it through',
        )

    def _unanswered(self, call: RecordedCall, why: str) -> ReplayDiverged:
        return self._about(
            f"The model call at event {call.event} cannot be replayed: {why}.",
            event=call.event,
            hint=f"replay up to it and go on live: until={call.event}, on_diverge='live'",
        )

    def _overdue(self, call: RecordedCall) -> ReplayDiverged:
        message = f"The recorded program stopped waiting at event {call.event}; this one goes on."
        return self._about(message, event=call.event)

    def _difference(self, sent: Sent) -> ReplayDiverged:
        """Where the request first differs from the call it was probably meant to be."""
        name = self._tape.path.name
        closest = self.calls.closest(sent)
        if closest is None:
            left = [call for call in self.calls.unused if not call.nested]
            rest = f"its {len(self.calls.all)} model calls have all been replayed"
            if left:
                rest = f"the {len(left)} calls left in it go elsewhere, event {left[0].event} to "
                rest += left[0].path
            message = f"The program makes a model call that {name} does not have: {rest}."
            return self._about(message + self._damage())
        call, difference = closest
        where = f" at {difference.place}" if difference is not None else ""
        message = f"The program's request differs from event {call.event} of {name}{where}."
        message += self._damage()
        return self._about(message, event=call.event, difference=difference)

    def _damage(self) -> str:
        count = len(self._tape.problems)
        lines = "1 damaged line" if count == 1 else f"{count} damaged lines"
        return f" (The tape has {lines}: see runtape check.)" if count else ""


def _start_of(tape: Tape, event: int | None) -> int | None:
    """The request or tool call that an event belongs to: those are what is left or replayed."""
    if event is None:
        return None
    found = tape[event]
    answers = found.type in {LLM_RESPONSE, TOOL_RESULT} and found.parent is not None
    return found.parent if answers else event


def _with_body(request: Any, body: bytes) -> Any:
    """The request with another body, and everything else as it was."""
    measured = ("content-length", "transfer-encoding")
    headers = [
        (k, v) for k, v in request.headers.raw if k.decode("latin-1").lower() not in measured
    ]
    return library_of(request).Request(
        request.method, request.url, headers=headers, content=body, extensions=request.extensions
    )
