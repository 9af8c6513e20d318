"""Traces for the terminal app: a small one for its pictures, a hostile one, a long one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runtape.dialects import dialect_for
from runtape.dialects.base import Reply, Stop, ToolCall, Usage
from runtape.jsonio import Json, dumps, dumps_text, loads
from runtape.tape.writer import TapeWriter
from tests.support.hostile import PAYLOADS

_CLOCK = 1_790_000_000.0
_SYSTEM = "You plan the menu of a small canteen.\n\nUse the tools. Ask before you order anything."
_TASK = "What shall we cook on Friday? Look at the stock first."
_STOCK = {
    "shelf": "B2",
    "items": [
        {"name": "lentils", "kg": 12, "note": "Soak them. They were opened on Monday."},
        {"name": "leeks", "kg": 4, "note": "Use these first."},
    ],
}
_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Tool of the kitchen: {name.replace('_', ' ')}.",
            "parameters": {
                "type": "object",
                "properties": {"what": {"type": "string", "description": "What it is about."}},
            },
        },
    }
    for name in ("read_stock", "find_recipe")
]


class Script:
    """Writes a run step by step."""

    def __init__(self, folder: Path, name: str, model: str = "m-1") -> None:
        self.folder, self.name, self.model = folder, name, model
        self.writer = TapeWriter.create(folder, name)
        self.messages: list[Json] = []
        self._calls = 0
        self.add("run_start", {"python": "3.12", "tags": {}})

    def add(self, kind: str, payload: Json, **more: Any) -> int:
        """One event."""
        return self.writer.append(kind, payload, **more)

    def call(self, reply: Reply, *, latency_ms: float = 800.0, **payload: Any) -> int:
        """A model call and its reply; returns the event of the reply."""
        body = {"model": self.model, "messages": self.messages, "tools": _TOOLS}
        delta = self.writer.delta(dumps(body))
        request = self.writer.append_request(
            {
                "api": "openai.chat",
                "provider": "openai",
                "origin": "https://llm.example",
                "path": "/v1/chat/completions",
                "headers": {},
                "query": {},
                "model": self.model,
                "stream": False,
                "attempt": 1,
                **payload,
            },
            delta,
        )
        document = dialect_for("openai.chat").render(reply, body)
        self.messages.append(document["choices"][0]["message"])
        answer = {
            "status": 200,
            "headers": {},
            "body": dumps_text(document),
            "end": "eof",
            "terminal": True,
            "derived": {"replies": [reply.to_json()]},
        }
        return self.add("llm_response", answer, parent=request, meta={"latency_ms": latency_ms})

    def tool(self, name: str, arguments: Json, result: Any, *, error: str | None = None) -> int:
        """The model calls a tool, the tool answers; returns the event of the result."""
        self._calls += 1
        call = ToolCall(name, arguments, f"call_{self._calls}")
        self.call(
            Reply(
                None, (call,), Stop.TOOL_CALLS, usage=Usage(400 * self._calls, 30), model=self.model
            )
        )
        made = {"name": name, "arguments": arguments, "call_id": call.id}
        parent = self.add("tool_call", made)
        text = result if isinstance(result, str) else dumps_text(result)
        self.messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        answer = {"name": name, "result": None if error else result}
        if error:
            answer["error"] = {"type": "KeyError", "message": error}
        return self.add("tool_result", answer, parent=parent, meta={"latency_ms": 40.0})

    def say(self, text: str) -> int:
        """The model answers in words; returns the event of the reply."""
        return self.call(
            Reply(text, (), Stop.END, usage=Usage(1500, 60), model=self.model), latency_ms=2400.0
        )

    def end(self) -> Path:
        """The run is over: the same file every time, one second between events."""
        self.add("run_end", {"status": "ok", "duration_ms": 14_000.0})
        self.writer.close()
        path = self.folder / f"{self.name}.jsonl"
        path.write_bytes(b"".join(self._settled()))
        self.writer.path.unlink()
        return path

    def _settled(self) -> Iterator[bytes]:
        for line in self.writer.path.read_bytes().splitlines():
            event = loads(line)
            event["ts"] = _CLOCK + event["id"]
            if event["type"] == "run_start":
                event["payload"] |= {"run_id": "0123456789ab", "started_at": _CLOCK}
            yield dumps(event) + b"\n"


def canteen(folder: Path) -> Path:
    """A small run: two lookups, one of which fails, and an answer; 14 events."""
    script = Script(folder, "canteen")
    script.messages += [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": _TASK},
    ]
    script.tool("read_stock", {"what": "vegetables"}, _STOCK)
    script.tool("find_recipe", {"what": "lentil soup"}, "", error="no recipe of that name")
    script.say("Leek and lentil soup: the leeks should be used first.")
    script.add("note", {"text": "shown to the cook"})
    return script.end()


def hostile(folder: Path) -> Path:
    """A run in which every text is an attack on the terminal or on the reader."""
    everything = "\n".join(PAYLOADS.values())
    name = PAYLOADS["osc52"] + PAYLOADS["csi"]
    script = Script(folder, "hostile", model=everything.replace("\n", " "))
    script.messages += [
        {"role": "system", "content": everything},
        {"role": "user", "content": f"<!-- {everything} -->"},
    ]
    document = {f"key {kind} {text}": text for kind, text in PAYLOADS.items()}
    script.tool(name, {"list": list(PAYLOADS.values()), **document}, document)
    script.tool(name, {"text": everything}, everything, error=everything)
    script.add("note", {"text": everything})
    script.add("state", {"key": everything, "value": document})
    script.add("error", {"error": {"type": everything, "message": everything}})
    script.add(f"odd {everything}", {"anything": document})
    script.say(everything)
    return script.end()


def long_run(folder: Path, events: int) -> Path:
    """Many small events, some of them errors."""
    script = Script(folder, "long")
    for payload in _notes(events - 2):
        script.add("note", payload)
    return script.end()


def _notes(count: int) -> Iterator[Json]:
    for number in range(count):
        yield {"text": f"remark {number} about {'leeks' if number % 7 else 'lentils'}"}
