"""What a recorded response says, derived from its text."""

from __future__ import annotations

from dataclasses import dataclass, field

from runtape.dialects.base import Dialect, Reply
from runtape.jsonio import Json, dumps_text, loads


@dataclass(frozen=True, slots=True)
class Derived:
    """What a response's text comes to.

    Attributes:
        replies: the model's answers, empty when the text holds none.
        response: for streams, the document a call without streaming would have returned.
        terminal: whether the end of the answer was seen.
        error: type and message of an error reported within a stream.
    """

    replies: list[Reply] = field(default_factory=list)
    response: Json | None = None
    terminal: bool = False
    error: Json | None = None

    def to_json(self) -> Json:
        """The ``derived`` field of a response event."""
        out: Json = {"replies": [reply.to_json() for reply in self.replies]}
        return out if self.response is None else {**out, "response": self.response}


def read_document(dialect: Dialect, text: str) -> Derived:
    """Read a response that was not streamed; half of one, or an error, says nothing."""
    try:
        document = loads(text)
    except (ValueError, RecursionError):
        return Derived()
    return Derived(_replies(dialect, document), terminal=True)


def read_stream(dialect: Dialect, text: str) -> Derived:
    """Read a server-sent-event stream, cut anywhere."""
    folded = dialect.fold(text)
    error = None if folded.error is None else _error(folded.error)
    return Derived(_replies(dialect, folded.response), folded.response, folded.terminal, error)


def _replies(dialect: Dialect, document: Json) -> list[Reply]:
    try:
        return dialect.replies(document)
    except ValueError:
        return []


def _error(document: Json) -> Json:
    """Providers wrap ``{"type", "message"}`` in different ways."""
    inner = document.get("error")
    inner = inner if isinstance(inner, dict) else document
    return {
        "type": str(inner.get("type") or inner.get("code") or "error"),
        "message": str(inner.get("message") or dumps_text(inner)),
    }
