"""Agents of other frameworks and SDKs on the task of :mod:`tests.support.agents`.

None of them needs code of ours: their http clients are wrapped, and their tools are functions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.support.agents import SYSTEM, TASK, Agent, Bench, open_valve, read_sensor
from tests.support.call_shapes import settled
from tests.support.recorded import API_KEY

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # or it looks for one on the net


# OpenAI Agents SDK


async def agents_sdk(bench: Bench, *, api: str = "chat", stream: bool = False) -> Any:
    """An agent of the OpenAI Agents SDK, on chat completions or responses."""
    from agents import (  # noqa: PLC0415 - each framework is imported where it is there
        Agent,
        OpenAIChatCompletionsModel,
        OpenAIResponsesModel,
        Runner,
        function_tool,
        set_tracing_disabled,
    )
    from openai import AsyncOpenAI  # noqa: PLC0415

    set_tracing_disabled(disabled=True)
    client = bench.client(AsyncOpenAI(api_key=API_KEY, base_url=f"{bench.url}/v1", max_retries=0))
    model_class = OpenAIChatCompletionsModel if api == "chat" else OpenAIResponsesModel
    tools = [function_tool(bench.tool(tool)) for tool in (read_sensor, open_valve)]
    agent = Agent(
        name="gardener",
        instructions=SYSTEM,
        model=model_class(model="m", openai_client=client),
        tools=tools,
    )
    try:
        if stream:
            result = Runner.run_streamed(agent, TASK)
            events = [event.type async for event in result.stream_events()]
        else:
            result, events = await Runner.run(agent, TASK), []
        items = [type(item).__name__ for item in result.new_items]
        return result.final_output, items, events, result.to_input_list()
    finally:
        await client.close()


# pydantic-ai


async def pydantic_ai(bench: Bench, *, provider: str = "openai", stream: bool = False) -> Any:
    """An agent of pydantic-ai over OpenAI or Anthropic."""
    from pydantic_ai import Agent  # noqa: PLC0415

    model, client = _pydantic_model(bench, provider)
    tools = [bench.tool(read_sensor), bench.tool(open_valve)]
    agent = Agent(model, instructions=SYSTEM, tools=tools)
    try:
        if stream:
            async with agent.run_stream(TASK) as result:
                pieces = [text async for text in result.stream_text(debounce_by=None)]
                messages = result.all_messages()
        else:
            done = await agent.run(TASK)
            pieces, messages = [done.output], done.all_messages()
        return pieces, [[type(p).__name__ for p in message.parts] for message in messages]
    finally:
        await client.close()


def _pydantic_model(bench: Bench, provider: str) -> tuple[Any, Any]:
    if provider == "openai":
        from openai import AsyncOpenAI  # noqa: PLC0415
        from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
        from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

        client: Any = AsyncOpenAI(api_key=API_KEY, base_url=f"{bench.url}/v1", max_retries=0)
        client = bench.client(client)
        return OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client)), client
    from anthropic import AsyncAnthropic  # noqa: PLC0415
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    client = bench.client(AsyncAnthropic(api_key=API_KEY, base_url=bench.url, max_retries=0))
    return AnthropicModel("m", provider=AnthropicProvider(anthropic_client=client)), client


# Loops of one's own, over SDKs that speak like OpenAI's

DEFINITIONS = [
    {
        "type": "function",
        "function": {
            "name": tool.__name__,
            "description": str(tool.__doc__),
            "parameters": {
                "type": "object",
                "properties": {"bed": {"type": "string"}},
                "required": ["bed"],
            },
        },
    }
    for tool in (read_sensor, open_valve)
]
MESSAGES: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]


async def loop(bench: Bench, complete: Callable[..., Any]) -> Any:
    """Ask, make the calls, ask again; `complete` is the SDK's function."""
    tools = {tool.__name__: bench.tool(tool) for tool in (read_sensor, open_valve)}
    messages = list(MESSAGES)
    for _ in range(6):
        done = await settled(complete(model="m", messages=messages, tools=DEFINITIONS))
        message = done.choices[0].message
        if not message.tool_calls:
            break
        said = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": "", "tool_calls": said})
        for call in message.tool_calls:
            result = tools[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": str(result)})
    return [*messages, message.content]


async def groq(bench: Bench) -> Any:
    """The Groq SDK."""
    from groq import Groq  # noqa: PLC0415

    client = bench.client(Groq(api_key=API_KEY, base_url=bench.url, max_retries=0))
    with client:
        return await loop(bench, client.chat.completions.create)


async def mistral(bench: Bench, *, is_async: bool = False) -> Any:
    """The Mistral SDK."""
    from mistralai.client import Mistral  # noqa: PLC0415

    client = bench.client(Mistral(api_key=API_KEY, server_url=bench.url))
    async with client:
        with client:
            return await loop(
                bench, client.chat.complete_async if is_async else client.chat.complete
            )


async def mistral_stream(bench: Bench) -> Any:
    """The Mistral SDK, streaming an answer without tools."""
    from mistralai.client import Mistral  # noqa: PLC0415

    client = bench.client(Mistral(api_key=API_KEY, server_url=bench.url))
    with client:
        pieces = client.chat.stream(model="m", messages=MESSAGES)
        return [piece.data.choices[0].delta.content for piece in pieces]


async def litellm(bench: Bench, *, is_async: bool = False) -> Any:
    """LiteLLM over a client of the OpenAI SDK."""
    from openai import AsyncOpenAI, OpenAI  # noqa: PLC0415

    made = AsyncOpenAI if is_async else OpenAI
    client: Any = made(api_key=API_KEY, base_url=f"{bench.url}/v1", max_retries=0)
    client = bench.client(client)
    function = _litellm().acompletion if is_async else _litellm().completion

    def complete(*, model: str, **options: Any) -> Any:
        return function(model=f"openai/{model}", client=client, **options)

    try:
        return await loop(bench, complete)
    finally:
        await settled(client.close())


async def litellm_stream(bench: Bench) -> Any:
    """LiteLLM over a client of the OpenAI SDK, streaming."""
    from openai import OpenAI  # noqa: PLC0415

    client = bench.client(OpenAI(api_key=API_KEY, base_url=f"{bench.url}/v1", max_retries=0))
    with client:
        options = {"client": client, "messages": MESSAGES, "tools": DEFINITIONS, "stream": True}
        pieces = _litellm().completion(model="openai/m", **options)
        return [piece.choices[0].delta.model_dump() for piece in pieces]


async def litellm_anthropic(bench: Bench, *, is_async: bool = False) -> Any:
    """LiteLLM speaks to Anthropic itself, over an httpx client in a handler of its own."""
    from litellm.llms.custom_httpx import http_handler  # noqa: PLC0415

    function = _litellm().acompletion if is_async else _litellm().completion
    made = http_handler.AsyncHTTPHandler if is_async else http_handler.HTTPHandler
    http = bench.client(made())

    def complete(*, model: str, **options: Any) -> Any:
        own = {"client": http, "api_base": bench.url, "api_key": API_KEY}
        return function(model=f"anthropic/{model}", **own, **options)

    try:
        return await loop(bench, complete)
    finally:
        await settled(http.close())


def _litellm() -> Any:
    import litellm as package  # noqa: PLC0415

    package.suppress_debug_info = True
    return package


# SDKs whose wire nobody here knows


async def ollama(bench: Bench) -> Any:
    """Ollama's own API."""
    from ollama import Client  # noqa: PLC0415

    client = bench.client(Client(host=bench.url))
    try:
        return client.chat(model="m", messages=MESSAGES).message.content
    finally:
        client._client.close()


async def google(bench: Bench) -> Any:
    """Google's API."""
    from google.genai import Client  # noqa: PLC0415

    client = bench.client(Client(api_key=API_KEY, http_options={"base_url": bench.url}))
    try:
        return client.models.generate_content(model="m", contents=TASK).text
    finally:
        client.close()
        await client.aio.aclose()


CASES: dict[str, tuple[str, Agent]] = {
    "agents-chat": ("agents", agents_sdk),
    "agents-chat-stream": ("agents", partial(agents_sdk, stream=True)),
    "agents-responses": ("agents", partial(agents_sdk, api="responses")),
    "agents-responses-stream": ("agents", partial(agents_sdk, api="responses", stream=True)),
    "pydantic-ai": ("pydantic_ai", pydantic_ai),
    "pydantic-ai-stream": ("pydantic_ai", partial(pydantic_ai, stream=True)),
    "pydantic-ai-anthropic": ("pydantic_ai", partial(pydantic_ai, provider="anthropic")),
    "pydantic-ai-anthropic-stream": (
        "pydantic_ai",
        partial(pydantic_ai, provider="anthropic", stream=True),
    ),
    "litellm": ("litellm", litellm),
    "litellm-async": ("litellm", partial(litellm, is_async=True)),
    "litellm-stream": ("litellm", litellm_stream),
    "litellm-anthropic": ("litellm", litellm_anthropic),
    "litellm-anthropic-async": ("litellm", partial(litellm_anthropic, is_async=True)),
    "groq": ("groq", groq),
    "mistral": ("mistralai", mistral),
    "mistral-async": ("mistralai", partial(mistral, is_async=True)),
    "mistral-stream": ("mistralai", mistral_stream),
}
"""By name: the package an agent needs, and the agent."""

UNKNOWN: dict[str, tuple[str, Agent]] = {
    "ollama": ("ollama", ollama),
    "google-genai": ("google.genai", google),
}
"""Those that cannot be recorded at the wire."""
