"""Recording in tests: SDK clients at a loopback server, and what then stands on the tape."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

from runtape.jsonio import Json
from runtape.recording import Recorder
from runtape.tape.events import LLM_REQUEST, Event
from runtape.tape.reader import Tape
from tests.support.call_shapes import settled

API_KEY = "sk-test-0123456789-kiln-key"
"""The key the clients sign with: it must never be found in a file."""

CLIENTS: dict[str, Any] = {
    "openai": OpenAI,
    "openai-async": AsyncOpenAI,
    "anthropic": Anthropic,
    "anthropic-async": AsyncAnthropic,
}


def client_at(url: str, kind: str, **options: Any) -> Any:
    """An SDK client of this kind that talks to the server at `url`, without retries."""
    base = f"{url}/v1" if kind.startswith("openai") else url
    return CLIENTS[kind](api_key=API_KEY, base_url=base, **{"max_retries": 0, **options})


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    """Run a coroutine function in a loop of its own."""

    async def main() -> Any:
        return await work()

    return asyncio.run(main())


def with_client(
    url: str,
    kind: str,
    use: Callable[[Any], Awaitable[Any]],
    recorder: Recorder | None = None,
    **options: Any,
) -> Any:
    """What `use` returns for a client, recorded or not; the client is closed."""

    async def work() -> Any:
        client = client_at(url, kind, **options)
        try:
            return await use(client if recorder is None else recorder.wrap(client))
        finally:
            await settled(client.close())

    return run(work)


def calls_on(path: Path) -> list[tuple[Event, Event | None]]:
    """The request events of a tape with their responses, in order."""
    tape = Tape.open(path)
    assert tape.verify() == []
    requests = [tape[head.id] for head in tape.of_type(LLM_REQUEST)]
    return [(request, tape.response_to(request.id)) for request in requests]


def sent_on(path: Path) -> list[bytes]:
    """The request bodies of a tape, put together again."""
    tape = Tape.open(path)
    return [tape.request(head.id).text.encode() for head in tape.of_type(LLM_REQUEST)]


def events_on(path: Path, *types: str) -> list[Event]:
    """The events of these types, all but run_start and run_end without any."""
    tape = Tape.open(path)
    return [e for e in tape if (e.type in types if types else not e.type.startswith("run_"))]


def payloads_on(path: Path, kind: str) -> list[Json]:
    """The payloads of the events of one type."""
    return [event.payload for event in events_on(path, kind)]
