"""Which recorded model call a request is: same path, same body; the first unused one of equals."""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from runtape.errors import IncompleteContext, RuntapeError
from runtape.jsonio import Json, canonical, loads_exact
from runtape.playback.divergence import Difference, first_difference
from runtape.recording.calls import Sent
from runtape.recording.secrets import Secrets
from runtape.tape.events import LLM_REQUEST, TOOL_CALL, Event
from runtape.tape.reader import Tape

IGNORED = frozenset(
    (
        *("metadata", "user", "safety_identifier", "prompt_cache_key"),
        *("stream_options", "service_tier"),
    )
)
"""Top-level body fields that change nothing about what the model is asked."""

_COMPARED = 40
"""Unused calls that are compared to find the one a stray request was probably meant to be."""


@dataclass(slots=True, eq=False)
class RecordedCall:
    """One recorded request.

    Attributes:
        event: id of the request event.
        path: URL path; where it is unknown, the API shape.
        sha256: of the body as it stands on the tape; None when it says none.
        attempt: which attempt of its logical call it is.
        nested: whether it happened within a tool call.
        used: whether it has been played.
    """

    event: int
    path: str
    sha256: str | None
    attempt: int
    nested: bool
    used: bool = False


class Closest(NamedTuple):
    """The unused call that is most like a request, and where the two differ first."""

    call: RecordedCall
    difference: Difference | None


class RecordedCalls:
    """The model calls of a tape; each is given out once. Safe to use from several threads."""

    def __init__(self, tape: Tape, secrets: Secrets) -> None:
        self._tape = tape
        self._lock = threading.Lock()
        self._secrets = secrets
        self.all = list(_calls(tape))
        self._by_hash = _grouped(self.all, lambda call: (call.path, call.sha256))
        self._by_body: dict[Any, list[RecordedCall]] | None = None

    @property
    def unused(self) -> list[RecordedCall]:
        """What has not been played yet, in the order of the tape."""
        return [call for call in self.all if not call.used]

    def take(self, sent: Sent, before: int | None = None) -> RecordedCall | None:
        """The recorded call that was this request; None when none is left before event `before`.

        A retry prefers the attempt with its number.
        """
        with self._lock:
            found = self._fitting(sent)
            first = [call for call in found if call.attempt == (sent.retries or 0) + 1]
            for call in (*first, *found):
                if before is None or call.event < before:
                    call.used = True
                    return call
        return None

    def was_meant(self, sent: Sent) -> RecordedCall | None:
        """The call that :meth:`take` would give, wherever it is; it is not used up."""
        with self._lock:
            return next(iter(self._fitting(sent)), None)

    def next_like(self, sent: Sent) -> RecordedCall | None:
        """The next unused call to the same path whose last message has the same role; used up."""
        role = _role(_parsed(sent.body))
        with self._lock:
            for call in self.unused:
                if call.path in _paths(sent) and _role(self._body(call)) == role:
                    call.used = True
                    return call
        return None

    def closest(self, sent: Sent) -> Closest | None:
        """The unused call to the same path that has most in common with the request."""
        now = _asked(self._scrubbed(sent.body))
        best, longest = None, -1
        for call in [call for call in self.unused if call.path in _paths(sent)][:_COMPARED]:
            recorded = _asked(self._body(call))
            common = _common(canonical(recorded), canonical(now))
            if common > longest:
                best, longest = Closest(call, first_difference(recorded, now)), common
        return best

    def _fitting(self, sent: Sent) -> list[RecordedCall]:
        """Unused calls with this request's path and body, in the order they are given out."""
        bodies = [sent.body or b""]
        clean = self._secrets.scrub_new(bodies[0], bodies[0])
        if clean is not bodies[0]:
            bodies.append(clean)
        for body in bodies:
            digest = hashlib.sha256(body).hexdigest()
            found = _unused(self._by_hash[path, digest] for path in _paths(sent))
            if found:
                return found
        if self._by_body is None:
            self._by_body = _grouped(self.all, lambda call: (call.path, _key(self._body(call))))
        keys = [_key(_parsed(body)) for body in bodies]
        return _unused(self._by_body[path, key] for key in keys for path in _paths(sent))

    def _body(self, call: RecordedCall) -> Any:
        """The recorded body; None when the tape does not have it (any more)."""
        try:
            return self._tape.request(call.event).body
        except (RuntapeError, ValueError):
            return None

    def _scrubbed(self, body: bytes | None) -> Any:
        """The body as the recorder would have written it."""
        return _parsed(self._secrets.scrub_new(body or b"", body or b""))


def ensure_playable(tape: Tape) -> None:
    """Raise IncompleteContext when no model call of the tape can be put together."""
    error: RuntapeError | None = None
    for head in tape.of_type(LLM_REQUEST):
        reason = _why_not(tape, head.id)
        if reason is None:
            return
        error = error or reason
    if error is not None:
        raise IncompleteContext(
            f"Nothing of {tape.path.name} can be replayed: {error.message}.",
            hint=error.hint or "`runtape check` tells what is missing",
            path=str(tape.path),
            event=error.event,
        )


def _why_not(tape: Tape, request: int) -> RuntapeError | None:
    try:
        tape.request(request)
    except RuntapeError as reason:
        return reason
    return None


def _calls(tape: Tape) -> Iterator[RecordedCall]:
    inside = nested_events(tape)
    for head in tape.of_type(LLM_REQUEST):
        event = tape.event(head)
        attempt = event.payload.get("attempt")
        yield RecordedCall(
            event.id,
            _path_of(tape, event),
            event.payload.get("sha256"),
            attempt if isinstance(attempt, int) else 1,
            inside(head.parent),
        )


def nested_events(tape: Tape) -> Callable[[int | None], bool]:
    """A function that tells whether an event with this parent happened within a tool call."""
    parents = {head.id: (head.type, head.parent) for head in tape.heads}

    def inside(parent: int | None) -> bool:
        seen: set[int] = set()
        while parent in parents and parent not in seen:
            seen.add(parent)
            kind, above = parents[parent]
            if kind == TOOL_CALL:
                return True
            parent = above
        return False

    return inside


def _path_of(tape: Tape, event: Event) -> str:
    path = event.payload.get("path")
    if isinstance(path, str):
        return path
    try:
        request = tape.request(event.id)  # version 1 keeps it elsewhere
    except RuntapeError:
        return str(event.payload.get("api"))
    return request.path or request.api


def _paths(sent: Sent) -> tuple[str, str]:
    return sent.path or "", sent.api


def _grouped(
    calls: Iterable[RecordedCall], key: Callable[[RecordedCall], Any]
) -> dict[Any, list[RecordedCall]]:
    """Calls by key; those within tool calls last: their tool need not run in a replay."""
    groups: dict[Any, list[RecordedCall]] = defaultdict(list)
    for call in sorted(calls, key=lambda call: (call.nested, call.event)):
        groups[key(call)].append(call)
    return groups


def _unused(groups: Iterable[list[RecordedCall]]) -> list[RecordedCall]:
    return [call for group in groups for call in group if not call.used]


def _parsed(body: bytes | None) -> Any:
    try:
        return loads_exact((body or b"").decode("utf-8"))
    except (ValueError, RecursionError):
        return body


def _asked(body: Any) -> Any:
    """What a body asks: without the ignored fields."""
    if not isinstance(body, dict):
        return None if isinstance(body, bytes) else body
    return {name: value for name, value in body.items() if name not in IGNORED}


def _key(body: Any) -> bytes:
    if isinstance(body, bytes):
        return body
    try:
        return hashlib.sha256(canonical(_asked(body))).digest()
    except (TypeError, ValueError, RecursionError):
        return b""


def _role(body: Any) -> str:
    """The role (or type) of the last message of a body."""
    fields: Json = body if isinstance(body, dict) else {}
    for name in ("messages", "input", "contents"):
        turns = fields.get(name)
        if isinstance(turns, list) and turns and isinstance(turns[-1], dict):
            return str(turns[-1].get("role") or turns[-1].get("type"))
    return "user"


def _common(left: bytes, right: bytes) -> int:
    """How many bytes two texts have in common at their beginning and end."""
    shorter = min(len(left), len(right))
    head = _prefix(left, right, shorter)
    return head + _prefix(left[::-1], right[::-1], shorter - head)


def _prefix(left: bytes, right: bytes, most: int) -> int:
    """Length of the common beginning, at most `most`; halving, since comparing slices is fast."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
