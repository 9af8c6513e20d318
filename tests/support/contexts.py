"""Runs for tests of contexts: recorded step by step with the real writer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runtape.context import Context, Piece, build_context
from runtape.dialects import dialect_for
from runtape.tape.events import LLM_RESPONSE, RUN_START, TOOL_CALL, TOOL_RESULT
from runtape.tape.reader import Tape
from runtape.tape.writer import TapeWriter

SYSTEM = "You are an assistant. Be careful."


class Run:
    """A run that is written event by event; each method returns the id of its last event."""

    def __init__(self, folder: Path, api: str = "openai.chat") -> None:
        self.api = api
        self._writer = TapeWriter.create(folder, "run")
        self._writer.append(RUN_START, {})

    def request(self, body: dict[str, Any]) -> int:
        """A model call with this body."""
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        payload = {"api": self.api, "provider": self.api.split(".", 1)[0]}
        return self._writer.append_request(payload, self._writer.delta(data))

    def response(self, request: int, document: dict[str, Any]) -> int:
        """Its answer."""
        replies = dialect_for(self.api).replies(document)
        derived = {"replies": [reply.to_json() for reply in replies], "response": None}
        payload = {"status": 200, "body": json.dumps(document), "derived": derived}
        return self._writer.append(LLM_RESPONSE, payload, parent=request)

    def tool(self, name: str, arguments: Any, result: Any, call_id: str | None = None) -> int:
        """A tool's call and result."""
        call = {"name": name, "arguments": arguments, "call_id": call_id}
        parent = self._writer.append(TOOL_CALL, call)
        payload = {"name": name, "result": result}
        return self._writer.append(TOOL_RESULT, payload, parent=parent)

    @property
    def path(self) -> Path:
        """The tape's file."""
        return self._writer.path

    def close(self) -> None:
        """Write no more."""
        self._writer.close()

    def context(self, request: int) -> Context:
        """The context of one of its calls."""
        self.close()
        return build_context(Tape.open(self.path), request)


def chat(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A chat completions body with a system prompt."""
    system = {"role": "system", "content": SYSTEM}
    return {"model": "m", "messages": [system, *messages], **fields}


def read(result: Any, *, name: str = "read", call_id: str = "c1") -> list[dict[str, Any]]:
    """A user's question, the assistant's call of a tool, and its result."""
    text = result if isinstance(result, str) else json.dumps(result)
    function = {"name": name, "arguments": '{"id": 1}'}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "user", "content": "What does it say?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": text},
    ]


def reading(folder: Path, result: Any) -> Context:
    """The context of a call whose newest message is the result of a tool."""
    run = Run(folder)
    return run.context(run.request(chat(*read(result))))


def every(context: Context) -> Iterator[Piece]:
    """All pieces, the whole before its parts, in reading order."""
    waiting = list(reversed(context.roots))
    while waiting:
        piece = waiting.pop()
        yield piece
        waiting += reversed(context.children(piece))


def leaves(context: Context) -> list[str]:
    """Texts of all pieces that are not divided further."""
    return [piece.text for piece in every(context) if not context.children(piece)]
