"""What holds for every call shape of every SDK when it is recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runtape.dialects.base import Reply, Stop, ToolCall, Usage
from runtape.jsonio import Json
from runtape.recording import record
from tests.support.call_shapes import PARSED, Shape
from tests.support.loopback import Fault, Loopback, Wire
from tests.support.recorded import API_KEY, calls_on, sent_on, with_client

ANSWER = Reply(
    "It cools — slowly.",
    (ToolCall("look_up", {"query": "kiln", "limit": 3}, "call_7"),),
    Stop.TOOL_CALLS,
    usage=Usage(17, 5),
)


def answer_for(body: Json) -> Reply:
    """An answer that fits what the body asks for."""
    wants_weather = "json_schema" in str(body)
    return replace(ANSWER, text=PARSED, tool_calls=(), stop=Stop.END) if wants_weather else ANSWER


def check_shape(kind: str, shape: Shape, folder: Path, wire: Wire | None = None) -> None:
    """Recording changes nothing for the caller and puts the whole call on the tape."""
    with Loopback(lambda _api, body, _n: answer_for(body), wire) as server:
        alone = with_client(server.url, kind, shape)
        with record(dir=folder) as recorder:
            observed = with_client(server.url, kind, shape, recorder)
        unrecorded, recorded = server.requests
    assert observed == alone
    assert recorded.raw == unrecorded.raw
    assert without_port(recorded.headers) == without_port(unrecorded.headers)
    assert sent_on(recorder.path) == [recorded.raw]
    assert recorder.faults == 0
    [(request, response)] = calls_on(recorder.path)
    assert response is not None
    check_request(request.payload, recorded.path, recorded.body)
    check_response(
        response.payload, answer_for(recorded.body), streamed=recorded.body.get("stream", False)
    )
    assert API_KEY.encode() not in recorder.path.read_bytes()


def check_request(payload: Json, path: str, body: Json) -> None:
    """The request event says where the call went and what it was."""
    assert payload["path"] == path.partition("?")[0]
    assert payload["model"] == body["model"]
    assert payload["stream"] is body.get("stream", False)
    assert (payload["call"], payload["attempt"]) == (1, 1)
    assert payload["sdk"]["name"] in ("OpenAI", "Anthropic")


def check_response(payload: Json, answer: Reply, *, streamed: bool) -> None:
    """The response event holds the whole answer, as text and as what it says."""
    assert payload["status"] == 200
    assert payload["terminal"] is True
    assert payload["end"] in ("eof", "closed")
    assert payload["error"] is None
    assert sum(size for size, _ in payload["chunks"]) > 0
    [reply] = payload["derived"]["replies"]
    said = Reply.from_json(reply)
    assert (said.text, said.tool_calls, said.stop) == (answer.text, answer.tool_calls, answer.stop)
    assert ("response" in payload["derived"]) is streamed


def without_port(headers: dict[str, str]) -> dict[str, str]:
    """Request headers that two runs against one server have in common."""
    return {name: value for name, value in headers.items() if name != "idempotency-key"}


def check_error(kind: str, shape: Shape, folder: Path, fault: Fault, ends: str) -> tuple[Any, Any]:
    """A failing call fails alike with and without a recorder; returns the event pair.

    `ends` has the possible ends: of a stream that reports an error some SDKs read the rest.
    """
    with Loopback(lambda *_: fault) as server:
        errors = []
        for recorded in (False, True):
            with record(dir=folder) as recorder, pytest.raises(Exception) as caught:  # noqa: PT011 - which one is compared
                with_client(server.url, kind, shape, recorder if recorded else None, timeout=0.5)
            errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]
    [(request, response)] = calls_on(recorder.path)
    assert response is not None
    assert response.payload["end"] in ends.split()
    return request, response
