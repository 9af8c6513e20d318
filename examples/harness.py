"""The agent loop the examples share, with the OpenAI or the Anthropic SDK.

Each example brings its tools, a system prompt, a task, and a rule-based stand-in for the model.
Options::

    python examples/inbox_agent.py                                offline, the stand-in answers
    python examples/inbox_agent.py --local http://127.0.0.1:11434/v1 qwen3
    python examples/inbox_agent.py --openai gpt-5-mini            needs OPENAI_API_KEY
    python examples/inbox_agent.py --anthropic claude-sonnet-5    needs ANTHROPIC_API_KEY
"""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from offline import serve

import runtape

_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_MOST_TURNS = 20


@dataclass(frozen=True)
class Story:
    """One example: its agent, its task, its tools, and who stands in for the model."""

    name: str
    system: str
    task: str
    tools: tuple[Callable[..., str], ...]
    stand_in: Callable[[dict], Any]


def main(story: Story) -> None:
    """Run the story as the command line says, record it, and say what to try next."""
    args = arguments(story.task)
    with runtape.record(name=story.name) as rec:
        tools = {tool.__name__: rec.tool(tool) for tool in story.tools}
        if args.openai:
            answer = _run_openai(rec, story, tools, model=args.openai)
        elif args.local:
            url, model = args.local
            answer = _run_openai(rec, story, tools, model=model, base_url=url, api_key="local")
        elif args.anthropic:
            answer = _run_anthropic(rec, story, tools, model=args.anthropic)
        else:
            with serve(story.stand_in) as url:
                answer = _run_openai(
                    rec, story, tools, model="stand-in", base_url=f"{url}/v1", api_key="offline"
                )
    print(answer)
    print(f"\nrecorded: {rec.path}")


def _run_openai(rec: Any, story: Story, tools: dict, *, model: str, **options: str) -> str:
    from openai import OpenAI  # noqa: PLC0415 - only the SDK that is asked for is needed

    client = rec.wrap(OpenAI(**options))
    messages: list[dict] = [
        {"role": "system", "content": story.system},
        {"role": "user", "content": story.task},
    ]
    definitions = [
        {"type": "function", "function": definition(t, "parameters")} for t in story.tools
    ]
    for _ in range(_MOST_TURNS):
        reply = client.chat.completions.create(model=model, messages=messages, tools=definitions)
        message = reply.choices[0].message
        messages.append(message.to_dict())
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            result = tools[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return "(gave up)"


def _run_anthropic(rec: Any, story: Story, tools: dict, *, model: str) -> str:
    from anthropic import Anthropic  # noqa: PLC0415 - only the SDK that is asked for is needed

    client = rec.wrap(Anthropic())
    messages: list[dict] = [{"role": "user", "content": story.task}]
    definitions = [definition(t, "input_schema") for t in story.tools]
    for _ in range(_MOST_TURNS):
        reply = client.messages.create(
            model=model, max_tokens=1000, system=story.system, messages=messages, tools=definitions
        )
        messages.append({"role": "assistant", "content": [b.to_dict() for b in reply.content]})
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in reply.content if block.type == "text")
        results = [
            {"type": "tool_result", "tool_use_id": c.id, "content": tools[c.name](**c.input)}
            for c in calls
        ]
        messages.append({"role": "user", "content": results})
    return "(gave up)"


def definition(tool: Callable[..., str], schema_key: str) -> dict:
    """Describe a tool to the model from its signature and docstring."""
    parameters = inspect.signature(tool).parameters.values()
    return {
        "name": tool.__name__,
        "description": inspect.cleandoc(tool.__doc__ or ""),
        schema_key: {
            "type": "object",
            "properties": {p.name: {"type": _TYPES[p.annotation]} for p in parameters},
            "required": [p.name for p in parameters],
        },
    }


def arguments(task: str, *, anthropic: bool = True) -> argparse.Namespace:
    """Read from the command line who answers; `anthropic` says whether the agent can ask that."""
    parser = argparse.ArgumentParser(description=task)
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--openai", metavar="MODEL", help="ask OpenAI (needs OPENAI_API_KEY)")
    if anthropic:
        help_text = "ask Anthropic (needs ANTHROPIC_API_KEY)"
        who.add_argument("--anthropic", metavar="MODEL", help=help_text)
    who.add_argument(
        "--local", nargs=2, metavar=("URL", "MODEL"), help="ask an OpenAI-compatible server"
    )
    return parser.parse_args()
