"""What stands on a tape: events, and model requests put together from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runtape.jsonio import Json, loads_exact

FORMAT = "runtape"
VERSION = 2
"""Version of the format this package writes; it reads 1 as well."""

RUN_START = "run_start"
RUN_END = "run_end"
LLM_REQUEST = "llm_request"
LLM_RESPONSE = "llm_response"
TOOL_CALL = "tool_call"
TOOL_RESULT = "tool_result"
STATE = "state"
NOTE = "note"
ERROR = "error"
RECORD_ERROR = "record_error"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a tape.

    Attributes:
        id: number of the event, unique within the run, ascending.
        ts: Unix time, seconds.
        type: event type; unknown types are kept.
        parent: id of the event this one belongs to, or None.
        payload: content; unknown fields are kept.
        meta: measurements (latency, tokens) that are not content.
        extra: envelope fields this version does not know, kept as they stand.
    """

    id: int
    ts: float
    type: str
    parent: int | None = None
    payload: Json = field(default_factory=dict)
    meta: Json = field(default_factory=dict)
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Head:
    """What the index keeps of a line without parsing the rest.

    Attributes:
        id: event id.
        ts: Unix time, seconds.
        type: event type.
        parent: parent id or None.
        offset: byte offset of the line in the file.
        length: byte length without the newline.
    """

    id: int
    ts: float
    type: str
    parent: int | None
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A damaged place that was skipped: line number (from 1), byte offset, what is wrong."""

    line: int
    offset: int
    what: str


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start:end`` of a resolved body that first entered with the request `event`."""

    start: int
    end: int
    event: int


@dataclass(frozen=True, slots=True)
class Request:
    """One model call as it was sent, history put back together.

    Attributes:
        event: id of the request event.
        api: wire shape, such as ``openai.chat``.
        provider: ``openai``, ``anthropic``, or what the recorder was told.
        origin: scheme, host and port the call went to, or None when unknown.
        path: URL path, such as ``/v1/chat/completions``; None when unknown.
        headers: recorded (allow-listed) request headers, lower-case names.
        query: recorded query parameters.
        text: the body exactly as sent (UTF-8 text).
        spans: which request each part of `text` first entered with; consecutive, covering all of
            it.
        stream: whether the caller asked for a stream.
        fidelity: part → ``exact | assumed | missing | callback`` where it is known; empty means
            exact.
    """

    event: int
    api: str
    provider: str
    origin: str | None
    path: str | None
    headers: dict[str, str]
    query: dict[str, str]
    text: str
    spans: tuple[Span, ...]
    stream: bool = False
    fidelity: dict[str, str] = field(default_factory=dict)

    @property
    def body(self) -> Any:
        """The parsed body."""
        return loads_exact(self.text)
