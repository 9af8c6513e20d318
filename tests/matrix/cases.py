"""Every way a model call can go, over the SDKs: recorded from a server, replayed without it."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from runtape.dialects.base import Reply, Usage
from runtape.jsonio import Json
from tests.matrix import answers
from tests.support import call_shapes
from tests.support.call_checks import answer_for
from tests.support.call_shapes import (
    CHAT,
    MESSAGES,
    PROMPT,
    RESPONSES,
    Shape,
    each,
    plain,
    settled,
)
from tests.support.loopback import Fault, Handler, Wire

QUICK = {"retry-after-ms": "1"}


def answering(_api: str, body: Json, _number: int) -> Reply:
    """The usual answer."""
    return answer_for(body)


def first(fault: Fault, times: int = 1) -> Handler:
    """Fail a few times, then answer."""
    return lambda api, body, n: fault if n < times else answering(api, body, n)


def always(answer: Any) -> Handler:
    """The same answer every time."""
    return lambda *_: answer


@dataclass(frozen=True)
class Case:
    """One row of the matrix.

    Attributes:
        name: of the row.
        sdk: ``openai``, ``azure`` (of the same package) or ``anthropic``.
        shape: what the program does.
        handler: what the server answers.
        wire: how the answer travels.
        options: of the client.
        needs: dotted attribute of the client without which an SDK cannot do it.
        is_async: only asynchronous programs can do this.
    """

    name: str
    sdk: str
    shape: Shape
    handler: Handler = answering
    wire: Wire | None = None
    options: dict[str, Any] = field(default_factory=dict)
    needs: str = ""
    is_async: bool = False


# What a program does, beyond the plain shapes


def is_async(client: Any) -> bool:
    """Whether its calls are to be awaited."""
    return type(client).__name__.startswith("Async")


async def chat_tools(client: Any) -> Any:
    """A call with tools, the answer's calls sent back."""
    create = client.chat.completions.create
    said = await settled(create(**CHAT, tools=answers.TOOLS))
    message = said.choices[0].message
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": "cold"} for call in message.tool_calls
    ]
    turns = [*CHAT["messages"], message.model_dump(exclude_none=True), *results]
    return plain(said), plain(await settled(create(model="m", messages=turns)))


async def chat_many(client: Any) -> Any:
    """Several calls at once, each with its own answer."""
    create = client.chat.completions.create
    asked = [[{"role": "user", "content": f"{PROMPT} {n}"}] for n in range(5)]
    if is_async(client):
        made = await asyncio.gather(*(create(model="m", messages=turns) for turns in asked))
    else:
        made = [create(model="m", messages=turns) for turns in asked]
    return [plain(item) for item in made]


async def chat_choices(client: Any) -> Any:
    return plain(await settled(client.chat.completions.create(**CHAT, n=3, logprobs=True)))


async def chat_image(client: Any) -> Any:
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    content = [{"type": "text", "text": PROMPT}, part]
    create = client.chat.completions.create
    return plain(await settled(create(model="m", messages=[{"role": "user", "content": content}])))


async def chat_post(client: Any) -> Any:
    """The SDK's own way out: any path, any type."""
    made = client.post("/chat/completions", body=CHAT, cast_to=object)
    return plain(await settled(made))


async def early_close(client: Any) -> Any:
    """A stream that is left after its second chunk."""
    stream = await settled(client.chat.completions.create(**CHAT, stream=True))
    seen = []
    async for chunk in each(stream):
        seen.append(plain(chunk))
        if len(seen) == 2:
            break
    await settled(stream.close())
    return seen


async def never_read(client: Any) -> Any:
    """A stream nobody reads."""
    stream = await settled(client.chat.completions.create(**CHAT, stream=True))
    status = stream.response.status_code
    await settled(stream.close())
    return status


async def cancelled(client: Any) -> Any:
    """A call whose consumer gives up waiting."""
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(client.chat.completions.create(**CHAT), 0.1)
    return "gave up"


async def cancelled_stream(client: Any) -> Any:
    """A stream whose consumer gives up in the middle."""
    seen: list[Any] = []

    async def read() -> None:
        stream = await client.chat.completions.create(**CHAT, stream=True)
        async for chunk in stream:
            seen.append(plain(chunk))  # noqa: PERF401 - what came before it breaks counts

    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(read(), 0.3)
    return seen


async def partial_stream(client: Any) -> Any:
    """A stream that breaks: what came before it does, and how."""
    seen: list[Any] = []
    try:
        async for chunk in each(await settled(client.chat.completions.create(**CHAT, stream=True))):
            seen.append(plain(chunk))  # noqa: PERF401 - what came before it breaks counts
    except Exception as error:  # noqa: BLE001 - which one is what is compared
        return seen, failure(error)
    return seen


async def responses_chain(client: Any) -> Any:
    first_one = await settled(client.responses.create(**RESPONSES))
    create = client.responses.create
    again = await settled(create(model="m", input="go on", previous_response_id=first_one.id))
    return plain(first_one), plain(again)


async def messages_thinking(client: Any) -> Any:
    options = {**MESSAGES, "max_tokens": 2048}
    thinking = {"type": "enabled", "budget_tokens": 1024}
    return plain(await settled(client.messages.create(**options, thinking=thinking)))


async def messages_cached(client: Any) -> Any:
    system = [{"type": "text", "text": PROMPT, "cache_control": {"type": "ephemeral"}}]
    return plain(await settled(client.messages.create(**MESSAGES, system=system)))


async def messages_partial(client: Any) -> Any:
    seen: list[Any] = []
    try:
        async for event in each(await settled(client.messages.create(**MESSAGES, stream=True))):
            seen.append(plain(event))  # noqa: PERF401 - what came before it breaks counts
    except Exception as error:  # noqa: BLE001 - which one is what is compared
        return seen, failure(error)
    return seen


async def tool_runner(client: Any) -> Any:
    """Anthropic's own loop over tools."""
    import anthropic  # noqa: PLC0415 - the versions differ

    if is_async(client):

        @anthropic.beta_async_tool
        async def look_up(query: str, limit: int) -> str:
            """Look something up."""
            return f"{query} {limit}"
    else:

        @anthropic.beta_tool
        def look_up(query: str, limit: int) -> str:
            """Look something up."""
            return f"{query} {limit}"

    options = {"model": "m", "max_tokens": 64, "messages": MESSAGES["messages"]}
    return [
        plain(message)
        async for message in each(client.beta.messages.tool_runner(**options, tools=[look_up]))
    ]


def runner_answers(api: str, body: Json, number: int) -> Reply:
    """Ask for the tool once."""
    return answering(api, body, number) if number == 0 else Reply("cold", usage=Usage(9, 2))


def failure(error: BaseException) -> Any:
    """All that a program can see of an exception."""
    response = getattr(error, "response", None)
    seen = ("content-type", "retry-after-ms", "x-request-id")
    headers = None if response is None else {name: response.headers.get(name) for name in seen}
    return [
        *(type(error).__qualname__, str(error), getattr(error, "status_code", None)),
        *(plain(getattr(error, "body", None)), headers, getattr(error, "request_id", None)),
        # (what the http library itself caught is a matter of sockets)
        None if response is None else type(error.__cause__).__qualname__,
    ]


async def attempt(shape: Shape, client: Any) -> Any:
    """What the shape returns, or the exception it ends in."""
    try:
        return plain(await shape(client))
    except Exception as error:  # noqa: BLE001 - which one is what is compared
        return failure(error)


class Slow:
    """A gate that holds a stream back for long after its first chunks."""

    def __call__(self, number: int) -> None:
        if number == 3:
            time.sleep(0.6)


_PLAIN = [
    *(Case(shape.__name__, "openai", shape) for shape in call_shapes.OPENAI),
    *(Case(shape.__name__, "anthropic", shape) for shape in call_shapes.ANTHROPIC),
]
_STREAMS: tuple[tuple[str, Shape], ...] = (
    ("openai", call_shapes.chat_create_streamed),
    ("openai", call_shapes.responses_create_streamed),
    ("anthropic", call_shapes.messages_create_streamed),
)
_WIRES = {
    "gzip": lambda: Wire(gzip=True),
    "CRLF": lambda: Wire(crlf=True),
    "7-byte chunks": lambda: Wire(chunk=7),
    "gzip, odd chunks": lambda: Wire(gzip=True, chunk=11),
}
_TRAVELS = [
    Case(f"{shape.__name__}, {name}", sdk, shape, wire=wire())
    for sdk, shape in _STREAMS
    for name, wire in _WIRES.items()
]
_CREATES: tuple[tuple[str, Shape], ...] = (
    ("openai", call_shapes.chat_create),
    ("openai", call_shapes.responses_create),
    ("anthropic", call_shapes.messages_create),
)


def _faults(sdk: str, shape: Shape) -> list[Case]:
    name = shape.__name__
    retries = {"max_retries": 2}
    plenty = {**retries, "timeout": 0.25}
    return [
        Case(f"{name}, 429 → ok", sdk, shape, first(Fault(429, QUICK)), options=retries),
        Case(f"{name}, 500 → ok", sdk, shape, first(Fault(500, QUICK), 2), options=retries),
        Case(f"{name}, retries exhausted", sdk, shape, always(Fault(503, QUICK)), options=retries),
        Case(f"{name}, 400", sdk, shape, always(Fault(400))),
        Case(f"{name}, timeout", sdk, shape, always(Fault(hang=True)), options={"timeout": 0.2}),
        Case(f"{name}, timeout → ok", sdk, shape, first(Fault(hang=True)), options=plenty),
        Case(f"{name}, cut off", sdk, shape, always(Fault(reply=answers.SAID, cut=20))),
        Case(f"{name}, no JSON", sdk, shape, always(Fault(200, body=b"<html>"))),
    ]


_MORE = [
    Case("chat with tools", "openai", chat_tools),
    Case("chat, several at once", "openai", chat_many),
    Case("chat, n and logprobs", "openai", chat_choices, always(answers.CHOICES)),
    Case("chat, image", "openai", chat_image),
    Case("chat, refusal", "openai", call_shapes.chat_create, always(answers.REFUSAL)),
    Case("Azure, chat", "azure", call_shapes.chat_create),
    Case("Azure, streamed", "azure", call_shapes.chat_create_streamed),
    Case("client.post", "openai", chat_post),
    Case("stream left early", "openai", early_close),
    Case("stream never read", "openai", never_read),
    Case("stream cut off", "openai", partial_stream, always(Fault(reply=answers.SAID, cut=300))),
    Case("stream, error event", "openai", partial_stream, always(answers.ERROR_EVENT)),
    Case("cancelled", "openai", cancelled, always(Fault(hang=True)), is_async=True),
    Case("stream cancelled", "openai", cancelled_stream, wire=Wire(gate=Slow()), is_async=True),
    Case("responses, chained", "openai", responses_chain, needs="responses"),
    Case("messages, thinking", "anthropic", messages_thinking, always(answers.THINKING)),
    Case(
        "messages, thinking streamed",
        "anthropic",
        call_shapes.messages_stream_helper,
        always(answers.THINKING_STREAM),
    ),
    Case("messages, citations", "anthropic", call_shapes.messages_create, always(answers.CITED)),
    Case("messages, prompt cache", "anthropic", messages_cached, always(answers.CACHED)),
    Case("messages, refusal", "anthropic", call_shapes.messages_create, always(answers.REFUSED)),
    Case(
        "messages, stream cut off",
        "anthropic",
        messages_partial,
        always(Fault(reply=answers.SAID, cut=300)),
    ),
    Case("messages, error event", "anthropic", messages_partial, always(answers.ERROR_EVENT)),
    Case(
        "tool runner", "anthropic", tool_runner, runner_answers, needs="beta.messages.tool_runner"
    ),
]

CASES: list[Case] = [
    *_PLAIN,
    *_TRAVELS,
    *(case for sdk, shape in _CREATES for case in _faults(sdk, shape)),
    *_MORE,
]
_NEEDS = {
    "chat_stream_helper": "chat.completions.stream",
    "chat_parse": "chat.completions.parse",
    "messages_parse": "messages.parse",
    "beta_messages_stream_helper": "beta.messages.stream",
    "responses": "responses",
}


def missing(case: Case, client: Any) -> bool:
    """Whether the SDK in use has no such call."""
    found: Any = client
    needs = case.needs or next((v for k, v in _NEEDS.items() if case.name.startswith(k)), "")
    for name in filter(None, needs.split(".")):
        found = getattr(found, name, None)
    return found is None
