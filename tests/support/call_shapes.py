"""Every way to call a model that the SDKs offer, each written once for sync and async clients.

A shape takes a client and returns everything the caller got, as plain data with type names: two
runs of one shape can be compared.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from pydantic import BaseModel

Shape = Callable[[Any], Awaitable[Any]]

PROMPT = "What is the kiln doing? Zoë asks — «now»."
CHAT = {"model": "m", "messages": [{"role": "user", "content": PROMPT}]}
RESPONSES = {"model": "m", "input": PROMPT}
MESSAGES = {"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": PROMPT}]}


class Weather(BaseModel):
    """What `.parse()` is asked to make of the answer."""

    city: str
    degrees: int


VOLATILE = {"created", "created_at", "completed_at"}
"""Fields that differ from answer to answer."""

PARSED = '{"city":"Ghent","degrees":17}'
"""The answer that fits :class:`Weather`."""


async def settled(value: Any) -> Any:
    """The value, awaited if it is awaitable."""
    return await value if inspect.isawaitable(value) else value


async def each(items: Any) -> AsyncIterator[Any]:
    """The items of a sync or async iterable."""
    if hasattr(items, "__aiter__"):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item


class Entered:
    """``async with`` for sync and async context managers."""

    def __init__(self, manager: Any) -> None:
        self.manager = manager
        self.is_async = hasattr(manager, "__aenter__")

    async def __aenter__(self) -> Any:
        if self.is_async:
            return await self.manager.__aenter__()
        return self.manager.__enter__()

    async def __aexit__(self, *error: object) -> Any:
        if self.is_async:
            return await self.manager.__aexit__(*error)
        return self.manager.__exit__(*error)


def plain(value: Any) -> Any:
    """The value as data to compare: models by type and content, without times of creation."""
    if isinstance(value, BaseModel):
        return [type(value).__qualname__, plain(value.model_dump(warnings=False))]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in VOLATILE}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


async def _all(items: Any) -> list[Any]:
    return [plain(item) async for item in each(items)]


# OpenAI chat completions


async def chat_create(client: Any) -> Any:
    return plain(await settled(client.chat.completions.create(**CHAT)))


async def chat_create_streamed(client: Any) -> Any:
    return await _all(await settled(client.chat.completions.create(**CHAT, stream=True)))


async def chat_stream_helper(client: Any) -> Any:
    async with Entered(client.chat.completions.stream(**CHAT)) as stream:
        events = await _all(stream)
        return events, plain(await settled(stream.get_final_completion()))


async def chat_parse(client: Any) -> Any:
    parse = client.chat.completions.parse
    return plain(await settled(parse(**CHAT, response_format=Weather)))


async def chat_raw(client: Any) -> Any:
    raw = await settled(client.chat.completions.with_raw_response.create(**CHAT))
    return raw.status_code, type(raw).__qualname__, plain(raw.parse()), raw.retries_taken


async def chat_raw_streamed(client: Any) -> Any:
    create = client.chat.completions.with_raw_response.create
    raw = await settled(create(**CHAT, stream=True))
    return await _all(raw.parse())


async def chat_streaming_raw(client: Any) -> Any:
    create = client.chat.completions.with_streaming_response.create
    async with Entered(create(**CHAT)) as response:
        return [line[:9] async for line in each(response.iter_lines())], response.status_code


async def chat_streaming_raw_parsed(client: Any) -> Any:
    create = client.chat.completions.with_streaming_response.create
    async with Entered(create(**CHAT, stream=True)) as response:
        return await _all(await settled(response.parse()))


async def chat_with_options(client: Any) -> Any:
    derived = client.with_options(timeout=7, max_retries=1)
    return plain(await settled(derived.chat.completions.create(**CHAT)))


async def chat_extras(client: Any) -> Any:
    """Headers, query and body that the SDK does not know of."""
    create = client.chat.completions.create
    extras = {"extra_headers": {"x-team": "kiln"}, "extra_query": {"trace": "on"}}
    return plain(await settled(create(**CHAT, **extras, extra_body={"top_k": 3})))


# OpenAI Responses


async def responses_create(client: Any) -> Any:
    return plain(await settled(client.responses.create(**RESPONSES)))


async def responses_create_streamed(client: Any) -> Any:
    return await _all(await settled(client.responses.create(**RESPONSES, stream=True)))


async def responses_stream_helper(client: Any) -> Any:
    async with Entered(client.responses.stream(**RESPONSES)) as stream:
        events = await _all(stream)
        return events, plain(await settled(stream.get_final_response()))


async def responses_parse(client: Any) -> Any:
    return plain(await settled(client.responses.parse(**RESPONSES, text_format=Weather)))


async def responses_raw(client: Any) -> Any:
    raw = await settled(client.responses.with_raw_response.create(**RESPONSES))
    return plain(raw.parse())


# Anthropic Messages


async def messages_create(client: Any) -> Any:
    return plain(await settled(client.messages.create(**MESSAGES)))


async def messages_create_streamed(client: Any) -> Any:
    return await _all(await settled(client.messages.create(**MESSAGES, stream=True)))


async def messages_stream_helper(client: Any) -> Any:
    async with Entered(client.messages.stream(**MESSAGES)) as stream:
        events = await _all(stream)
        return events, plain(await settled(stream.get_final_message()))


async def messages_text_stream(client: Any) -> Any:
    async with Entered(client.messages.stream(**MESSAGES)) as stream:
        return await _all(stream.text_stream)


async def messages_parse(client: Any) -> Any:
    return plain(await settled(client.messages.parse(**MESSAGES, output_format=Weather)))


async def messages_raw(client: Any) -> Any:
    raw = await settled(client.messages.with_raw_response.create(**MESSAGES))
    return raw.status_code, type(raw).__qualname__, plain(await settled(raw.parse()))


async def messages_streaming_raw(client: Any) -> Any:
    create = client.messages.with_streaming_response.create
    async with Entered(create(**MESSAGES)) as response:
        return [line[:9] async for line in each(response.iter_lines())], response.status_code


async def messages_with_options(client: Any) -> Any:
    derived = client.with_options(timeout=7, max_retries=1)
    return plain(await settled(derived.messages.create(**MESSAGES)))


async def beta_messages_create(client: Any) -> Any:
    create = client.beta.messages.create
    return plain(await settled(create(**MESSAGES, betas=["context-management-2025-06-27"])))


async def beta_messages_streamed(client: Any) -> Any:
    return await _all(await settled(client.beta.messages.create(**MESSAGES, stream=True)))


async def beta_messages_stream_helper(client: Any) -> Any:
    async with Entered(client.beta.messages.stream(**MESSAGES)) as stream:
        events = await _all(stream)
        return events, plain(await settled(stream.get_final_message()))


OPENAI: tuple[Shape, ...] = (
    chat_create,
    chat_create_streamed,
    chat_stream_helper,
    chat_parse,
    chat_raw,
    chat_raw_streamed,
    chat_streaming_raw,
    chat_streaming_raw_parsed,
    chat_with_options,
    chat_extras,
    responses_create,
    responses_create_streamed,
    responses_stream_helper,
    responses_parse,
    responses_raw,
)
ANTHROPIC: tuple[Shape, ...] = (
    messages_create,
    messages_create_streamed,
    messages_stream_helper,
    messages_text_stream,
    messages_parse,
    messages_raw,
    messages_streaming_raw,
    messages_with_options,
    beta_messages_create,
    beta_messages_streamed,
    beta_messages_stream_helper,
)
