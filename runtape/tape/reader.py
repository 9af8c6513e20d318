"""Reading a tape: everything about one run, looked at only where somebody looks."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from runtape.errors import (
    EventNotFound,
    IncompleteContext,
    NotADecision,
    TraceCorrupt,
    TraceNotFound,
    TraceUnreadable,
)
from runtape.jsonio import Json
from runtape.tape.bodies import Bodies
from runtape.tape.events import LLM_REQUEST, LLM_RESPONSE, VERSION, Event, Head, Problem, Request
from runtape.tape.index import Index
from runtape.tape.integrity import Checker
from runtape.tape.legacy import LegacyBodies, address_of, is_legacy, shape_of
from runtape.tape.lines import parse_line
from runtape.tape.rope import lay_out
from runtape.tape.source import Source


class Tape:
    """One run, of format version 1 or 2, possibly still being written.

    Opening reads the file once and keeps where each event is; events are parsed when asked for.
    Damaged places are skipped and listed in :attr:`problems`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._refreshing = threading.Lock()
        self._load()

    @classmethod
    def open(cls, path: Path) -> Tape:
        """Open a tape; raises TraceNotFound, or TraceUnreadable when the file holds no event."""
        return cls(Path(path))

    @property
    def run_id(self) -> str:
        """The run's id, empty when its run_start is lost."""
        return _text(self._index.start.get("run_id"))

    @property
    def name(self) -> str:
        """What the run was called, or the file's stem when its run_start is lost."""
        return _text(self._index.start.get("name")) or self.path.stem

    @property
    def version(self) -> int:
        """Format version the file states; the current one when its run_start is lost."""
        version = self._index.start.get("version")
        return version if isinstance(version, int) else VERSION

    @property
    def ended(self) -> bool:
        """Whether the run has ended properly."""
        return self._index.ended

    @property
    def heads(self) -> Sequence[Head]:
        """Heads of all events, in file order."""
        return self._index.heads

    @property
    def problems(self) -> Sequence[Problem]:
        """What was skipped or is odd, found while opening; :meth:`verify` looks deeper."""
        return self._index.problems

    def refresh(self) -> int:
        """Read what was added since, and return the number of new events.

        If the file was truncated or replaced it is read anew, all its events count as new, and
        ids may mean something else. Raises TraceUnreadable when it then holds no event.
        """
        with self._refreshing:
            if self._source.replaced(self._index.end, self._signature):
                self._load()
                return len(self)
            return self._index.extend(self._source)

    def __len__(self) -> int:
        return len(self._index.heads)

    def __iter__(self) -> Iterator[Event]:
        return map(self.event, self._index.heads)

    def __getitem__(self, id: int) -> Event:  # noqa: A002 - event ids are called id everywhere
        head = self._index.by_id.get(id)
        if head is None:
            raise EventNotFound(
                f"there is no event {id} in {self.path.name}",
                hint=f"it has {len(self)} events, the last is {self.heads[-1].id}",
                path=str(self.path),
                event=id,
            )
        return self.event(head)

    def event(self, head: Head) -> Event:
        """The event a head stands for; raises TraceCorrupt when the file changed underneath."""
        try:
            return parse_line(self.line(head))
        except ValueError as reason:
            raise TraceCorrupt(
                f"event {head.id} can no longer be read: {reason}",
                hint="the file was changed after it was opened: open it again",
                path=str(self.path),
                event=head.id,
            ) from None

    def line(self, head: Head) -> bytes:
        """The bytes of an event's line, for searching without parsing."""
        return self._source.read(head.offset, head.length)

    def of_type(self, *types: str) -> list[Head]:
        """Heads of these types, in file order."""
        if len(types) == 1:
            return list(self._index.by_type.get(types[0], ()))
        return [head for head in self._index.heads if head.type in types]

    def children(self, id: int) -> list[Head]:  # noqa: A002
        """Heads of the events whose parent is `id`, in file order."""
        return list(self._index.by_parent.get(id, ()))

    def request(self, id: int) -> Request:  # noqa: A002
        """The model call of a request event, its body as it was sent.

        Raises EventNotFound, NotADecision when the event is no request, TraceCorrupt when the body
        or one it builds on is damaged, IncompleteContext when the content was not recorded.
        """
        event = self[id]
        if event.type != LLM_REQUEST:
            raise NotADecision(
                f"event {id} is a {event.type}, not a model request",
                hint="name an llm_request event",
                path=str(self.path),
                event=id,
            )
        if is_legacy(event.payload):
            return self._legacy_request(event)
        return self._request(event)

    def response_to(self, request_id: int) -> Event | None:
        """The last response to a request, or None when there is none yet."""
        responses = [h for h in self.children(request_id) if h.type == LLM_RESPONSE]
        return self.event(responses[-1]) if responses else None

    def verify(self) -> list[Problem]:
        """All problems: skipped lines, and requests whose body is damaged, by position in the file.

        Puts every request together and compares it with its SHA-256.
        """
        found = list(self.problems)
        checker = Checker(self._bodies)
        for head in self.of_type(LLM_REQUEST):
            found += self._damage(head, checker)
        return sorted(found, key=lambda problem: (problem.offset, problem.line))

    def _damage(self, head: Head, checker: Checker) -> list[Problem]:
        """What is wrong with a request's body; nothing is when it was left out on purpose."""
        try:
            event = self.event(head)
            if is_legacy(event.payload):
                self._legacy.compose(event)
            else:
                checker.check(event)
        except TraceCorrupt as error:
            return [self._index.report(head, error.message)]
        except IncompleteContext:
            return []
        return []

    def _load(self) -> None:
        source, index = _scan(self.path)
        self._source, self._index, self._signature = source, index, source.signature()
        self._bodies = Bodies(self.__getitem__)
        self._legacy = LegacyBodies(self.__getitem__, lambda: index.by_type.get(LLM_REQUEST, ()))

    def _request(self, event: Event) -> Request:
        payload = event.payload
        text, spans = self._bodies.resolve(event)
        return Request(
            event=event.id,
            api=_text(payload.get("api")),
            provider=_text(payload.get("provider")),
            origin=_text(payload.get("origin")) or None,
            path=_text(payload.get("path")) or None,
            headers=_texts(payload.get("headers")),
            query=_texts(payload.get("query")),
            text=text,
            spans=spans,
            stream=payload.get("stream") is True,
            fidelity=_texts(payload.get("fidelity")),
        )

    def _legacy_request(self, event: Event) -> Request:
        payload = event.payload
        text, spans = lay_out(self._legacy.compose(event))
        origin, path = address_of(payload)
        return Request(
            event=event.id,
            api=shape_of(payload).api,
            provider=_text(payload.get("provider")),
            origin=origin,
            path=path,
            headers={},
            query={},
            text=text,
            spans=spans,
            stream=_dict(payload.get("params")).get("stream") is True,
        )


def _scan(path: Path) -> tuple[Source, Index]:
    """The file and its index; raises TraceNotFound or TraceUnreadable."""
    index = Index()
    try:
        source = Source(path)
        index.extend(source)
    except FileNotFoundError:
        raise TraceNotFound(
            f"there is no trace {path}", hint="`runtape ls` lists the traces here", path=str(path)
        ) from None
    except OSError as error:
        raise TraceUnreadable(
            f"cannot read {path}: {error.strerror}",
            hint="name a .jsonl file you may read",
            path=str(path),
        ) from error
    if not index.heads:
        raise _not_a_tape(path, source)
    return source, index


def _not_a_tape(path: Path, source: Source) -> TraceUnreadable:
    start = source.signature()
    what = "is binary, not a tape" if b"\0" in start else "is not a tape"
    hint = "a tape is a .jsonl file that begins with a run_start line"
    if not start:
        what, hint = "is empty", "the run wrote nothing, or has not started yet"
    return TraceUnreadable(f"{path} {what}", hint=hint, path=str(path))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> dict[str, str]:
    return {key: _text(item) for key, item in _dict(value).items()}
