from __future__ import annotations

import hashlib
import json
import random
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.tape import delta as delta_module
from runtape.tape.bodies import Bodies
from runtape.tape.delta import History
from runtape.tape.events import LLM_REQUEST, Event, Span

Text = TypeVar("Text", str, bytes)


class Written:
    """Requests as a tape would hold them, without a file."""

    def __init__(self) -> None:
        self.history = History()
        self.events: dict[int, Event] = {}
        self.bodies = Bodies(self.events.__getitem__)

    def add(self, body: bytes) -> Event:
        delta = self.history.delta(body)
        payload = json.loads(json.dumps(delta.fields()))
        event = Event(len(self.events), 0.0, LLM_REQUEST, payload=payload)
        self.events[event.id] = event
        self.history.remember(event.id, delta)
        return event

    def resolve(self, event: Event) -> tuple[bytes, tuple[Span, ...]]:
        text, spans = self.bodies.resolve(event)
        return text.encode("utf-8", "surrogateescape"), spans


def chat(messages: list[str], tail: str = '],"model":"m","tools":[]}') -> bytes:
    """A request body with its parameters behind the messages, as the SDKs send it."""
    inner = ",".join(json.dumps({"role": "user", "content": m}) for m in messages)
    return f'{{"messages":[{inner}{tail}'.encode()


@st.composite
def edited(draw: st.DrawFn, parts: st.SearchStrategy[Text]) -> list[Text]:
    """A list of bodies, each an arbitrary edit of an arbitrary earlier one."""
    bodies = [draw(parts) * draw(st.integers(1, 40))]
    for _ in range(draw(st.integers(1, 8))):
        old = draw(st.sampled_from(bodies))
        start = draw(st.integers(0, len(old)))
        end = draw(st.integers(start, len(old)))
        bodies.append(old[:start] + draw(parts) + old[end:])
    return bodies


@given(edited(st.binary(max_size=200)))
@settings(deadline=None)
def test_bodies_of_any_bytes_come_back_exactly(bodies: list[bytes]) -> None:
    """Whatever was sent and however the history was edited, the resolved body equals it."""
    written = Written()
    events = [written.add(body) for body in bodies]
    for event, body in zip(events, bodies, strict=True):
        assert written.resolve(event)[0] == body


@given(edited(st.text(max_size=100)))
@settings(deadline=None)
def test_text_is_stored_as_text_and_spans_cover_it(bodies: list[str]) -> None:
    """UTF-8 bodies are never split inside a character, and spans cover the text without a gap."""
    written = Written()
    for body in bodies:
        event = written.add(body.encode())
        assert "body_base64" not in event.payload
        text, spans = written.bodies.resolve(event)
        assert text == body
        assert [span.start for span in spans] == [0, *(span.end for span in spans)][: len(spans)]
        assert (spans[-1].end if spans else 0) == len(text)


@given(edited(st.binary(max_size=200)))
@settings(deadline=None)
def test_digest_and_inserted_describe_the_body(bodies: list[bytes]) -> None:
    """The digest is the SHA-256 of the whole body although only new bytes are hashed."""
    written = Written()
    for body in bodies:
        delta = written.history.delta(body)
        assert delta.digest.sha256 == hashlib.sha256(body).hexdigest()
        assert len(delta.inserted) == len(body) - delta.head - delta.tail
        assert delta.base is None or delta.text == delta.inserted.decode()
        written.add(body)


@pytest.mark.parametrize(("old", "new"), [("é", "©"), ("é", "è"), ("😀", "😁"), ("😀", "🀀")])
def test_characters_that_share_bytes_are_not_split(old: str, new: str) -> None:
    """Where two characters begin or end with the same bytes, the whole character is new."""
    written = Written()
    before, after = "before " * 20, " after" * 20
    written.add((before + old + after).encode())
    event = written.add((before + new + after).encode())
    assert event.payload["splice"]["insert"] == new
    assert written.resolve(event)[0].decode() == before + new + after


def test_appended_message_costs_itself() -> None:
    """A longer history stores only the new message, wherever the parameters stand."""
    written = Written()
    messages = ["the first message " * 20]
    written.add(chat(messages))
    for n in range(50):
        messages.append(f"message {n}")
        event = written.add(chat(messages))
        assert event.payload["base"] == event.id - 1
        insert = event.payload["splice"]["insert"]
        assert json.loads(insert.lstrip(",")) == {"role": "user", "content": f"message {n}"}


def test_spans_name_the_request_a_message_came_with() -> None:
    """Each message is attributed to the request that first carried it; the tail to the first."""
    written = Written()
    messages: list[str] = []
    for n in range(5):
        messages.append(f"message number {n} " * 10)
        event = written.add(chat(messages))
    body, spans = written.resolve(event)
    for n, message in enumerate(messages):
        at = body.decode().index(message)
        assert next(s.event for s in spans if s.start <= at < s.end) == n
    assert spans[-1].event == 0


def test_interleaved_conversations_find_their_own_history() -> None:
    """Agents taking turns are each stored as continuations of themselves."""
    written = Written()
    conversations = [[f"agent {n} " * 30] for n in range(6)]
    for turn in range(10):
        for n, messages in enumerate(conversations):
            messages.append(f"turn {turn} of {n}")
            event = written.add(chat(messages))
            if turn:
                assert event.payload["base"] == event.id - 6
                assert len(event.payload["splice"]["insert"]) < 60


def test_truncated_and_edited_history_stays_small() -> None:
    """Going back, cutting the middle or changing an old message stores little but the change."""
    written = Written()
    messages = [f"message {n} " * 20 for n in range(30)]
    written.add(chat(messages))
    for change in (
        messages[:10],
        messages[:3] + messages[20:],
        [*messages[:9], "x", *messages[10:]],
    ):
        event = written.add(chat(change))
        assert len(event.payload["splice"]["insert"]) < 400
        assert written.resolve(event)[0] == chat(change)
        written.add(chat(messages))


@pytest.mark.parametrize("small", [b"", b"{}", chat(["the first message " * 9])])
def test_small_body_does_not_hide_the_conversation(small: bytes) -> None:
    """After an empty, a tiny or a repeated first request the long history is still the base."""
    written = Written()
    messages = ["the first message " * 9, *(f"message {n} " * 9 for n in range(20))]
    written.add(chat(messages))
    written.add(small)
    event = written.add(chat([*messages, "one more"]))
    assert event.payload["base"] == 0
    assert written.resolve(event)[0] == chat([*messages, "one more"])


def test_unrelated_body_is_stored_whole() -> None:
    """A body that shares too little with the history has no base."""
    written = Written()
    written.add(chat(["one " * 100]))
    assert "base" not in written.add(b'{"input":"something else"}').payload


def test_body_that_is_not_utf8_is_stored_as_base64() -> None:
    """Binary bodies survive and are never a base for text."""
    written = Written()
    first = written.add(b"\xff\xfe" * 200)
    second = written.add(b"\xff\xfe" * 200 + b"x")
    assert "body_base64" in first.payload
    assert "body_base64" in second.payload
    assert written.resolve(second)[0] == b"\xff\xfe" * 200 + b"x"


def test_history_longer_than_the_window_is_forgotten_not_broken() -> None:
    """With more conversations than are kept, bodies are stored whole and still resolve."""
    written = Written()
    bodies = [chat([f"conversation {n} {random.Random(n).random()} " * 20]) for n in range(30)]
    events = [written.add(body) for body in bodies * 2]
    for event, body in zip(events, bodies * 2, strict=True):
        assert written.resolve(event)[0] == body


class CountingHasher:
    """A SHA-256 that counts the bytes it is fed."""

    fed = 0

    def __init__(self, inner: object = None) -> None:
        self.inner = inner or hashlib.new("sha256")

    def update(self, data: memoryview) -> None:
        CountingHasher.fed += len(data)
        self.inner.update(data)

    def copy(self) -> CountingHasher:
        return CountingHasher(self.inner.copy())

    def hexdigest(self) -> str:
        return self.inner.hexdigest()


def test_hashing_costs_new_bytes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the history, a new message feeds the hasher itself and the tail behind it."""
    monkeypatch.setattr(delta_module.hashlib, "sha256", CountingHasher)
    history, messages = History(), ["word " * 50]
    for n in range(200):
        messages.append("word " * 50)
        before = CountingHasher.fed
        history.remember(n, history.delta(chat(messages)))
        if n > 1:
            assert CountingHasher.fed - before < 600


def test_hashing_survives_a_marker_that_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark that moves from message to message (prompt caching) does not hash all again."""
    monkeypatch.setattr(delta_module.hashlib, "sha256", CountingHasher)
    history, messages = History(), ["word " * 50 for _ in range(40)]
    for n in range(40):
        messages.append("word " * 50)
        body = chat([*messages[:-1], messages[-1] + " [cached]"])
        before = CountingHasher.fed
        delta = history.delta(body)
        history.remember(n, delta)
        assert delta.digest.sha256 == hashlib.new("sha256", body).hexdigest()
        if n > 1:
            assert CountingHasher.fed - before < 1500
