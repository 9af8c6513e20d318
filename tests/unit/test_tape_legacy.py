from __future__ import annotations

from pathlib import Path

import pytest

from runtape.errors import IncompleteContext, TraceCorrupt
from runtape.tape.events import Request
from tests.support.tapes import event, line, open_lines, start, write_lines

TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]
OTHER_TOOLS = [{"name": "other", "input_schema": {"type": "object"}}]


def chat(id: int, **payload: object) -> dict[str, object]:  # noqa: A002
    """A version 1 request to a chat completions endpoint."""
    common = {
        "provider": "openai",
        "model": "m-1",
        "api": "chat.completions",
        "endpoint": "https://llm.example:8443/v1/",
    }
    return event(id, "llm_request", payload={**common, **payload})


def claude(id: int, **payload: object) -> dict[str, object]:  # noqa: A002
    """A version 1 request to a messages endpoint."""
    common = {"provider": "anthropic", "model": "c-1", "api": "messages", "endpoint": None}
    return event(id, "llm_request", payload={**common, **payload})


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def source_of(request: Request, text: str) -> int:
    """The request a text first came with, by the spans."""
    at = request.text.index(text)
    return next(span.event for span in request.spans if span.start <= at < span.end)


def test_chat_request_becomes_the_body_that_was_meant(tmp_path: Path) -> None:
    """Messages along the chain, sticky tools and parameters make one chat body."""
    tape = open_lines(
        tmp_path,
        start(1),
        chat(1, tools=TOOLS, messages=[user("one")], params={"max_tokens": 5}),
        chat(2, base=1, messages_append=[user("two"), user("zwei")], params={"max_tokens": 5}),
        chat(3, base=2, messages_append=[user("drei")], params={"stream": True}),
    )
    request = tape.request(3)
    assert request.body == {
        "model": "m-1",
        "messages": [user("one"), user("two"), user("zwei"), user("drei")],
        "tools": TOOLS,
        "stream": True,
    }
    assert (request.api, request.provider, request.stream) == ("openai.chat", "openai", True)
    assert (request.origin, request.path) == ("https://llm.example:8443", "/v1/chat/completions")
    assert tape.request(2).body["max_tokens"] == 5
    assert not tape.verify()


def test_spans_name_the_request_of_each_message(tmp_path: Path) -> None:
    """Each message, and the tools, belong to the request that stated them; spans have no gap."""
    tape = open_lines(
        tmp_path,
        start(1),
        chat(1, tools=TOOLS, messages=[user("one")]),
        chat(4, base=1, messages_append=[user("two")]),
        chat(9, base=4, messages_append=[user("drei")], params={"seed": 77}),
    )
    request = tape.request(9)
    places = {"one": 1, "two": 4, "drei": 9, "look_up": 1, "77": 9}
    assert {text: source_of(request, text) for text in places} == places
    ends = [span.end for span in request.spans]
    assert [span.start for span in request.spans] == [0, *ends[:-1]]
    assert ends[-1] == len(request.text)


def test_anthropic_request_keeps_system_on_its_own(tmp_path: Path) -> None:
    """System stands beside the messages and is sticky like tools; an unknown endpoint is None."""
    tape = open_lines(
        tmp_path,
        start(1),
        claude(1, system="Be kind.", tools=OTHER_TOOLS, messages=[user("one")]),
        claude(2, base=1, messages_append=[user("two")], params={"max_tokens": 9}),
    )
    request = tape.request(2)
    assert request.body == {
        "model": "c-1",
        "system": "Be kind.",
        "messages": [user("one"), user("two")],
        "tools": OTHER_TOOLS,
        "max_tokens": 9,
    }
    assert (request.api, request.origin, request.path) == ("anthropic.messages", None, None)
    assert source_of(request, "Be kind.") == 1


def test_sticky_parts_are_per_provider_and_can_be_taken_back(tmp_path: Path) -> None:
    """Tools of one provider say nothing about another's; null and [] mean none from then on."""
    tape = open_lines(
        tmp_path,
        chat(0, messages=[user("before any tools")]),
        chat(1, tools=TOOLS, messages=[user("a")]),
        claude(2, messages=[user("b")]),
        chat(3, messages=[user("c")]),
        chat(4, tools=None, messages=[user("d")]),
        chat(5, messages=[user("e")]),
        chat(6, tools=TOOLS, messages=[user("f")]),
        chat(7, tools=[], messages=[user("g")]),
    )
    for _ in range(2):
        requests = [tape.request(head.id) for head in tape.of_type("llm_request")]
        assert [request.event for request in requests if "tools" in request.body] == [1, 3, 6]


def test_history_stated_anew_replaces_the_old(tmp_path: Path) -> None:
    """A request with `messages` starts over whatever came before."""
    tape = open_lines(
        tmp_path,
        start(1),
        chat(1, messages=[user("one")]),
        chat(2, messages=[user("summary")]),
        chat(3, base=2, messages_append=[]),
    )
    assert tape.request(3).body["messages"] == [user("summary")]


def test_responses_request_uses_its_own_names(tmp_path: Path) -> None:
    """The responses shape takes input and instructions."""
    tape = open_lines(
        tmp_path, start(1), chat(1, api="responses", system="Be kind.", messages=[user("one")])
    )
    request = tape.request(1)
    assert request.body == {"model": "m-1", "instructions": "Be kind.", "input": [user("one")]}
    assert (request.api, request.path) == ("openai.responses", "/v1/responses")


def test_follow_up_requests_are_composed_too(tmp_path: Path) -> None:
    """Requests that arrive while following see the sticky parts stated before."""
    tape = open_lines(tmp_path, start(1), chat(1, tools=TOOLS, messages=[user("one")]))
    assert tape.request(1).body["tools"] == TOOLS
    with tape.path.open("ab") as file:
        file.write(line(chat(2, base=1, messages_append=[user("two")])))
    assert tape.refresh() == 1
    assert tape.request(2).body["tools"] == TOOLS


def test_missing_base_is_corrupt(tmp_path: Path) -> None:
    """A chain with a lost link is refused and found by verify; without content it is incomplete."""
    tape = open_lines(
        tmp_path,
        start(1),
        chat(1, messages=[user("one")]),
        b"lost\n",
        chat(3, base=2, messages_append=[user("three")]),
        chat(4),
    )
    with pytest.raises(TraceCorrupt, match=r"request 2.*missing"):
        tape.request(3)
    with pytest.raises(IncompleteContext):
        tape.request(4)
    assert [problem.line for problem in tape.verify()] == [3, 4]


def test_long_chain_resolves(tmp_path: Path) -> None:
    """Thousands of links are walked without recursion."""
    path = tmp_path / "long.jsonl"
    links = (chat(n, base=n - 1, messages_append=[user(f"message {n}")]) for n in range(2, 3000))
    write_lines(path, [start(1), chat(1, messages=[user("message 1")]), *links])
    tape = open_lines(tmp_path, path.read_bytes())
    assert len(tape.request(2999).body["messages"]) == 2999
