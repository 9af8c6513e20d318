"""What of an event may go to the file: no secrets, what `redact` lets through, or no content.

Every event passes through :meth:`Policy.clean` on its way to the writer, and nothing else decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from enum import Enum
from typing import Any, TypeAlias

from runtape.errors import RecordingError
from runtape.jsonio import Json, dumps
from runtape.recording.secrets import Secrets
from runtape.tape.events import (
    ERROR,
    LLM_REQUEST,
    LLM_RESPONSE,
    RECORD_ERROR,
    RUN_END,
    RUN_START,
    STATE,
    TOOL_CALL,
    TOOL_RESULT,
)

Redact: TypeAlias = Callable[[Json], Json]
"""Takes ``{"type": …, "payload": …}`` and returns it changed, or another of the same form."""


class Content(Enum):
    """Whether what was said is recorded, or only that something was said."""

    ON = "on"
    OFF = "off"
    """Ids, names of tools and models, sizes, hashes, tokens and times; no content."""


_KEPT: dict[str, frozenset[str]] = {
    kind: frozenset(fields.split())
    for kind, fields in {
        RUN_START: "format version run_id name started_at python tags git replay_of",
        RUN_END: "status duration_ms faults",
        LLM_REQUEST: "api provider origin path query headers model stream attempt call scope sdk "
        "fidelity sha256 bytes redacted",
        LLM_RESPONSE: "status headers chunks first_byte_ms end terminal",
        TOOL_CALL: "name call_id scope",
        TOOL_RESULT: "name yielded end",
        STATE: "key",
        ERROR: "type class",
        RECORD_ERROR: "doing",
    }.items()
}
"""By event type, the payload fields that hold no content."""

_PLAIN_VALUES = frozenset((TOOL_CALL, TOOL_RESULT, STATE))
"""Events with values of the program, where a secret may be replaced by an object."""


class Policy:
    """Decides what is kept of each event.

    Attributes:
        secrets: the built-in redaction, or None when it is turned off.
        redact: the user's function, or None.
        content: whether content is kept at all.
    """

    def __init__(self, secrets: Secrets | None, redact: Redact | None, content: Content) -> None:
        self.secrets = secrets
        self.redact = redact
        self.content = content

    def learn(self, credential: str) -> None:
        """Note a credential the agent uses, so that it is recognised anywhere else."""
        if self.secrets is not None:
            self.secrets.learn(credential)

    def clean(self, kind: str, payload: Json) -> Json:
        """The payload as it may be written. Raises RedactFailed when `redact` let us down."""
        if self.secrets is not None:
            payload = self._scrubbed(kind, payload, self.secrets)
        if self.redact is not None:
            payload = self._redacted(kind, payload, self.redact)
        return withheld(kind, payload) if self.content is Content.OFF else payload

    def _scrubbed(self, kind: str, payload: Json, secrets: Secrets) -> Json:
        clean: Json = secrets.scrub_json(payload, whole=kind in _PLAIN_VALUES)
        if kind == LLM_RESPONSE and clean is not payload:
            in_pieces = secrets.find(dumps(payload.get("derived")))
            body = str(payload.get("body")).encode("utf-8", "surrogatepass")
            if any(literal not in body for literal in in_pieces):
                # Streamed in pieces, the secret cannot be cut out of the stream's text.
                return {**clean, "body": None, "fidelity": {"body": "withheld"}}
        return clean

    def _redacted(self, kind: str, payload: Json, redact: Redact) -> Json:
        try:
            event = redact({"type": kind, "payload": payload})
            clean = event["payload"]
            if not isinstance(clean, dict):
                raise TypeError(f"redact returned a payload of type {type(clean).__name__}")  # noqa: TRY301 - one edge for all that a user's function can do wrong
            dumps(clean)
        except Exception as error:
            raise RedactFailed(withheld(kind, payload)) from error
        return clean


class RedactFailed(RecordingError):  # noqa: N818 - reads as what happened
    """The user's `redact` raised or returned something else.

    Attributes:
        payload: what may be written instead: the event without its content.
    """

    def __init__(self, payload: Json) -> None:
        super().__init__("redact failed: the content was dropped, the event kept")
        self.payload = payload


def withheld(kind: str, payload: Json) -> Json:
    """The payload without content; size and hash of what was left out stand under ``withheld``."""
    kept = _KEPT.get(kind, frozenset())
    out: Json = {name: value for name, value in payload.items() if name in kept}
    left = {
        name: value for name, value in payload.items() if name not in kept and value is not None
    }
    dropped = {name: _measured(value) for name, value in left.items() if name != "error"}
    if kind == LLM_RESPONSE:
        replies = (payload.get("derived") or {}).get("replies", [])
        out["derived"] = {"replies": [_silent(reply) for reply in replies]}
        dropped.pop("derived", None)
    error = payload.get("error")
    if isinstance(error, dict):
        out["error"] = {"type": error.get("type"), "message": None}
    return {**out, "withheld": dropped} if dropped else out


def writable(payload: Json) -> Json:
    """The payload without the fields that have no JSON form: writers give up at some depth."""
    lost = [name for name, value in payload.items() if not _has_json(value)]
    kept = {name: value for name, value in payload.items() if name not in lost}
    return {**kept, "unwritable": lost}


def _has_json(value: Any) -> bool:
    try:
        dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _silent(reply: Json) -> Json:
    calls = [{**call, "arguments": None} for call in reply["tool_calls"]]
    return {**reply, "text": None, "refusal": None, "tool_calls": calls}


def _measured(value: Any) -> Json:
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else dumps(value)
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
