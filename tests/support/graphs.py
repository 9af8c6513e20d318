"""LangChain and LangGraph agents on the task of :mod:`tests.support.agents`."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import StructuredTool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from tests.support.agents import (
    SYSTEM,
    TASK,
    Agent,
    Bench,
    close_all,
    close_sync,
    open_valve,
    open_valve_slowly,
    read_sensor,
    read_sensor_slowly,
)
from tests.support.recorded import API_KEY

SYNC_TOOLS = (read_sensor, open_valve)
ASYNC_TOOLS = (read_sensor_slowly, open_valve_slowly)


def chat_model(bench: Bench, kind: str = "openai", **options: Any) -> Any:
    """A chat model of langchain-openai or langchain-anthropic at the bench's server, tapped."""
    common = {"api_key": API_KEY, "max_retries": 0, "timeout": bench.patience}
    if kind == "anthropic":
        from langchain_anthropic import ChatAnthropic  # noqa: PLC0415 - may be absent

        made: Any = ChatAnthropic(
            model="m", max_tokens=256, base_url=bench.url, **{**common, **options}
        )
    else:
        from langchain_openai import ChatOpenAI  # noqa: PLC0415

        responses = {"use_responses_api": True} if kind == "responses" else {}
        made = ChatOpenAI(
            model="m", base_url=f"{bench.url}/v1", **{**common, **responses, **options}
        )
    return bench.client(made)


def langchain_tools(functions: tuple[Any, ...] = SYNC_TOOLS) -> list[StructuredTool]:
    """The functions as LangChain tools."""
    return [
        StructuredTool.from_function(coroutine=f)
        if asyncio.iscoroutinefunction(f)
        else StructuredTool.from_function(f)
        for f in functions
    ]


def graph(
    model: Any, tools: list[StructuredTool], *, is_async: bool = False, **tool_options: Any
) -> Any:
    """A model and its tools, in turns."""
    bound = model.bind_tools(tools)

    def agent(state: MessagesState) -> Any:
        return {"messages": [bound.invoke([("system", SYSTEM), *state["messages"]])]}

    async def agent_async(state: MessagesState, config: RunnableConfig) -> Any:
        # Before Python 3.11 LangChain cannot hand the configuration on by itself.
        told = [("system", SYSTEM), *state["messages"]]
        return {"messages": [await bound.ainvoke(told, config)]}

    built = StateGraph(MessagesState)
    built.add_node("agent", agent_async if is_async else agent)
    built.add_node("tools", ToolNode(tools, **tool_options))
    built.add_edge(START, "agent")
    built.add_conditional_edges("agent", tools_condition)
    built.add_edge("tools", "agent")
    return built.compile()


def asked(task: str = TASK) -> Any:
    """The graph's input."""
    return {"messages": [("user", task)]}


def plain(message: Any) -> Any:
    """A message as data to compare, without the ids LangChain makes up."""
    if isinstance(message, tuple | list):
        return [plain(item) for item in message]
    if isinstance(message, dict):
        return {key: plain(item) for key, item in message.items() if not _is_id(key)}
    if not hasattr(message, "model_dump"):
        return message
    return [type(message).__name__, plain(message.model_dump())]


def _is_id(key: Any) -> bool:
    made_up = ("id", "created", "created_at", "completed_at", "run_id")
    return key in made_up or str(key).startswith(("langgraph_checkpoint", "checkpoint"))


def answered(state: Any) -> Any:
    """The messages of a graph's final state."""
    return [plain(message) for message in state["messages"]]


def invoked(bench: Bench, kind: str = "openai", task: str = TASK, *, tapped: bool = False) -> Any:
    """One run of the graph; with `tapped` its tools are tapped as functions, too."""
    model = chat_model(bench, kind)
    tools = langchain_tools(tuple(bench.tool(f) for f in SYNC_TOOLS) if tapped else SYNC_TOOLS)
    try:
        return answered(graph(model, tools).invoke(asked(task), {"callbacks": bench.callbacks}))
    finally:
        close_sync(model)


async def invoked_async(bench: Bench, kind: str = "openai", *, tapped: bool = False) -> Any:
    """The same, asynchronous through and through."""
    model = chat_model(bench, kind)
    functions = tuple(bench.tool(f) for f in ASYNC_TOOLS) if tapped else ASYNC_TOOLS
    built = graph(model, langchain_tools(functions), is_async=True)
    try:
        return answered(await built.ainvoke(asked(), {"callbacks": bench.callbacks}))
    finally:
        await close_all(model)


def streamed(bench: Bench, kind: str = "openai") -> Any:
    """Its messages, piece by piece."""
    model = chat_model(bench, kind)
    built = graph(model, langchain_tools())
    try:
        config: Any = {"callbacks": bench.callbacks}
        return [plain(m) for m, _ in built.stream(asked(), config, stream_mode="messages")]
    finally:
        close_sync(model)


async def streamed_async(bench: Bench, kind: str = "openai") -> Any:
    """Its messages, piece by piece, asynchronous."""
    model = chat_model(bench, kind)
    built = graph(model, langchain_tools(ASYNC_TOOLS), is_async=True)
    config: Any = {"callbacks": bench.callbacks}
    try:
        pieces = built.astream(asked(), config, stream_mode="messages")
        return [plain(message) async for message, _ in pieces]
    finally:
        await close_all(model)


TASKS = ("Look at bed a and bed b.", "Look at bed c and bed d.", "Look at bed e and bed f.")


def batched(bench: Bench) -> Any:
    """Three tasks at once, in threads."""
    model = chat_model(bench)
    built = graph(model, langchain_tools())
    try:
        states = built.batch([asked(task) for task in TASKS], {"callbacks": bench.callbacks})
        return [answered(state) for state in states]
    finally:
        close_sync(model)


async def gathered(bench: Bench) -> Any:
    """Three tasks at once, in tasks of one loop."""
    model = chat_model(bench)
    built = graph(model, langchain_tools(ASYNC_TOOLS), is_async=True)
    config: Any = {"callbacks": bench.callbacks}
    try:
        runs = [built.ainvoke(asked(task), config) for task in TASKS]
        return [answered(state) for state in await asyncio.gather(*runs)]
    finally:
        await close_all(model)


def nested(bench: Bench) -> Any:
    """A graph in a graph, with a node before it that calls the SDK and no LangChain at all."""
    model = chat_model(bench)
    sdk = model.root_client

    def ponder(_: MessagesState) -> Any:
        said = sdk.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Which bed?"}]
        )
        return {"messages": [("assistant", said.choices[0].message.content)]}

    built = StateGraph(MessagesState)
    built.add_node("ponder", ponder)
    built.add_node("garden", graph(model, langchain_tools()))
    built.add_edge(START, "ponder")
    built.add_edge("ponder", "garden")
    built.add_edge("garden", END)
    try:
        return answered(built.compile().invoke(asked(), {"callbacks": bench.callbacks}))
    finally:
        close_sync(model)


def delegating(bench: Bench) -> Any:
    """A tool that is an agent: model calls within a tool call."""
    model = chat_model(bench)
    inner = graph(model, langchain_tools())

    def look_after(beds: str) -> str:
        """Have the beds looked after."""
        return str(inner.invoke(asked(beds))["messages"][-1].content)

    outer = StructuredTool.from_function(look_after)
    call = {"name": "look_after", "args": {"beds": TASK}, "id": "call_out", "type": "tool_call"}
    chain = RunnableLambda(lambda _: [call]) | RunnableLambda(lambda calls: outer.invoke(calls[0]))
    try:
        return plain(chain.invoke("go", {"callbacks": bench.callbacks}))
    finally:
        close_sync(model)


def failing(bench: Bench) -> Any:
    """A tool raises; the graph goes on with what the error says."""
    model = chat_model(bench)
    built = graph(model, langchain_tools(), handle_tool_errors=True)
    try:
        return answered(built.invoke(asked("Look at bed z."), {"callbacks": bench.callbacks}))
    finally:
        close_sync(model)


CASES: dict[str, Agent] = {
    "invoke": invoked,
    "invoke-anthropic": partial(invoked, kind="anthropic"),
    "invoke-responses": partial(invoked, kind="responses"),
    "ainvoke": invoked_async,
    "ainvoke-anthropic": partial(invoked_async, kind="anthropic"),
    "stream": streamed,
    "stream-anthropic": partial(streamed, kind="anthropic"),
    "stream-responses": partial(streamed, kind="responses"),
    "astream": streamed_async,
    "astream-anthropic": partial(streamed_async, kind="anthropic"),
    "batch": batched,
    "gather": gathered,
    "nested": nested,
    "delegating": delegating,
    "failing": failing,
    "tapped": partial(invoked, tapped=True),
    "tapped-async": partial(invoked_async, tapped=True),
}
"""Every way to run the graph, by name."""
