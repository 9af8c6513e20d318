"""The inbox agent as a loop of its own, without any SDK: works with nothing but the install."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from runtape.demo.inbox import SYSTEM, TASK, TOOLS, simulated_model
from runtape.dialects import dialect_for
from runtape.dialects.base import Reply, ToolCall
from runtape.jsonio import Json
from runtape.recording import record

_API = "openai.chat"
_MOST_TURNS = 12
_TYPES = {"str": "string", "int": "integer"}


def record_inbox(folder: Path) -> Path:
    """Let the stand-in go through the inbox and record the run; returns the file."""
    dialect = dialect_for(_API)
    with record("inbox-demo", folder, {"demo": True}) as rec:
        tools = {tool.__name__: rec.tool(tool) for tool in TOOLS}
        messages: list[Json] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": TASK},
        ]
        for turn in range(_MOST_TURNS):
            request = {"model": "stand-in", "messages": messages, "tools": _definitions()}
            event = rec.log_llm_request(request, api=_API)
            reply = _answer(request, call_id=f"call_{turn + 1}")
            document = dialect.render(reply, request)
            rec.log_llm_response(event, document)
            messages.append(document["choices"][0]["message"])
            for call in reply.tool_calls:
                result = tools[call.name](**call.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
            if not reply.tool_calls:
                break
        return rec.path


def _answer(request: Json, *, call_id: str) -> Reply:
    answer = simulated_model(request)
    if isinstance(answer, str):
        return Reply(text=answer)
    return Reply(None, (ToolCall(answer["tool"], answer["arguments"], call_id),))


def _definitions() -> list[Json]:
    return [{"type": "function", "function": _definition(tool)} for tool in TOOLS]


def _definition(tool: Any) -> Json:
    parameters = inspect.signature(tool).parameters.values()
    return {
        "name": tool.__name__,
        "description": inspect.getdoc(tool),
        "parameters": {
            "type": "object",
            "properties": {p.name: {"type": _TYPES[p.annotation]} for p in parameters},
            "required": [p.name for p in parameters],
        },
    }


def stand_in() -> str:
    """What ``--model-fn`` takes for the model of this story."""
    return f"{simulated_model.__module__}:{simulated_model.__qualname__}"
