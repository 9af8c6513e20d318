"""The LangChain handler in tests: a model that echoes, and where recorded calls belong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runtape.dialects.base import Reply, Usage
from runtape.jsonio import Json
from runtape.recording import Recorder
from runtape.tape.events import Event
from tests.support.recorded import calls_on, sent_on

MEANWHILE: Any = [{"role": "user", "content": "And meanwhile?"}]


def echo(_api: str, body: Json, _number: int) -> Reply:
    """A model that says what it was told last."""
    told = body["messages"][-1]["content"]
    return Reply(f"{told}!", usage=Usage(3, 2))


def config(recorder: Recorder) -> Any:
    """LangChain's configuration with the recorder's handler."""
    return {"callbacks": [recorder.langchain()]}


def place(event: Event) -> Any:
    """Where in LangChain an event belongs; None: nowhere."""
    return event.payload["scope"].get("langchain")


def said_of(path: Path) -> list[tuple[bytes, Any]]:
    """What was sent in each model call, and where that belongs."""
    events = [request for request, _ in calls_on(path)]
    return [(text, place(event)) for text, event in zip(sent_on(path), events, strict=True)]
