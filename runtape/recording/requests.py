"""Request bodies on their way to the tape: at a cost that grows with what is new in them."""

from __future__ import annotations

from dataclasses import dataclass

from runtape.jsonio import Json, dumps, loads
from runtape.recording.journal import Journal
from runtape.recording.policy import Content
from runtape.tape.delta import Delta
from runtape.tape.events import LLM_REQUEST

_MARGIN = 256
"""Bytes beside the new part that are searched too: a secret may straddle the seam."""
_REMEMBERED = 32


@dataclass(frozen=True, slots=True)
class Facts:
    """What the request event says of its body without anybody parsing it again.

    Attributes:
        size: bytes of the body.
        model: the model it names.
        stream: whether it asks for a stream.
    """

    size: int
    model: str | None
    stream: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A body ready to be written: without secrets, relative to an earlier one."""

    delta: Delta
    facts: Facts
    redacted: bool


class Requests:
    """Prepares and writes the request events of one run."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: dict[int, Facts] = {}

    def prepare(self, body: bytes) -> Prepared:
        """The body as it will stand on the tape; nothing is written yet."""
        writer, secrets = self._journal.writer, self._journal.policy.secrets
        clean = body if secrets is None else secrets.scrub_known(body)
        delta = writer.delta(clean)
        if secrets is not None:
            cleaner = secrets.scrub_new(clean, _new_part(delta))
            if cleaner is not clean:
                clean, delta = cleaner, writer.delta(cleaner)
        return Prepared(delta, self._facts(delta), clean is not body)

    def write(self, payload: Json, prepared: Prepared, parent: int | None) -> int | None:
        """Write a request event; its id, or None when it could not be written."""
        facts = prepared.facts
        payload = {**payload, "model": facts.model, "stream": facts.stream}
        if prepared.redacted:
            payload["redacted"] = True
        event = self._journal.attempt(
            lambda: self._append(payload, prepared.delta, parent), may_wait=False
        )
        if event is not None:
            self._known[event] = facts
            if len(self._known) > _REMEMBERED:
                self._known.pop(next(iter(self._known)), None)
        return event

    def _append(self, payload: Json, delta: Delta, parent: int | None) -> int:
        journal = self._journal
        measured = {"sha256": delta.digest.sha256, "bytes": len(delta.body)}
        kept: Delta | None = delta
        if journal.policy.redact is None:
            payload = journal.clean(LLM_REQUEST, payload)
        else:
            payload, kept = self._redacted(payload, delta)
        if kept is None or journal.policy.content is Content.OFF:
            return journal.writer.append(LLM_REQUEST, {**payload, **measured}, parent=parent)
        return journal.writer.append_request(payload, kept, parent=parent)

    def _redacted(self, payload: Json, delta: Delta) -> tuple[Json, Delta | None]:
        """Payload and body after `redact`, which sees the body as text; None: it is dropped."""
        text = None if delta.text is None else delta.body.decode("utf-8")
        payload = dict(self._journal.clean(LLM_REQUEST, {**payload, "body": text}))
        body = payload.pop("body", None)
        if body is None or body == text:
            return payload, delta if body is not None else None
        data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else dumps(body)
        return {**payload, "redacted": True}, self._journal.writer.delta(data)

    def _facts(self, delta: Delta) -> Facts:
        """Model and stream flag: those of the base unless the new part could have changed them."""
        base = None if delta.base is None else self._known.get(delta.base)
        new = delta.inserted
        only_added = base is not None and delta.head + delta.tail == base.size
        if base is not None and only_added and b'"model"' not in new and b'"stream"' not in new:
            return Facts(len(delta.body), base.model, base.stream)
        try:
            body = loads(delta.body)
        except (ValueError, RecursionError):
            body = None
        body = body if isinstance(body, dict) else {}
        model = body.get("model")
        return Facts(
            len(delta.body), model if isinstance(model, str) else None, body.get("stream") is True
        )


def _new_part(delta: Delta) -> bytes:
    """What has to be searched: the new bytes and a margin around them."""
    end = len(delta.body) - delta.tail + _MARGIN
    return delta.body[max(delta.head - _MARGIN, 0) : end]
