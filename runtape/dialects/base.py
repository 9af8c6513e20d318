"""What every API shape can be asked: the vocabulary of requests and replies, without any SDK.

A *dialect* is one wire shape (``openai.chat``, ``openai.responses``, ``anthropic.messages``). All that is
peculiar to it is in its own module, behind :class:`Dialect`; the rest of the package speaks slots and
replies.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeAlias

from runtape.jsonio import Json

JsonPath: TypeAlias = tuple[str | int, ...]
"""Keys and indices from the root of a JSON document to a value."""


class SlotKind(Enum):
    """What a piece of a request is to the model."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL_CALL = "tool_call"
    """Arguments of a call the assistant made earlier."""
    TOOL_RESULT = "tool_result"
    TOOL_DEFINITION = "tool_definition"
    """Natural-language text of a tool: its description or a parameter's."""
    MEDIA = "media"
    """An image, audio or file part: removable as a whole, not readable."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One place in a request body that holds content the model reads.

    Attributes:
        path: where the value lives in the body.
        kind: what it is.
        message: index of the message (or input item) it belongs to; None for system and tools that stand
            outside the message list.
        block: index of the content block within the message; None when the content is one string.
        name: tool name, for tool calls, results and definitions, where known.
        call_id: provider's id of the tool call, for calls and results.
    """

    path: JsonPath
    kind: SlotKind
    message: int | None = None
    block: int | None = None
    name: str | None = None
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of the model; `arguments` is the parsed object, or the raw text when it is not JSON."""

    name: str
    arguments: Any
    id: str | None = None


class Stop(Enum):
    """Why a reply ended."""

    END = "end"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    REFUSAL = "refusal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider reported them; None where it reported nothing (never 0 for unknown)."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One complete answer of a model (one choice), whatever the API shape."""

    text: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    stop: Stop = Stop.END
    refusal: str | None = None
    usage: Usage = Usage()
    model: str | None = None

    def to_json(self) -> Json:
        """Plain JSON form; :meth:`from_json` restores it."""
        return {
            "text": self.text,
            "tool_calls": [
                {"name": c.name, "arguments": c.arguments, "id": c.id} for c in self.tool_calls
            ],
            "stop": self.stop.value,
            "refusal": self.refusal,
            "usage": {
                "input_tokens": self.usage.input_tokens,
                "output_tokens": self.usage.output_tokens,
                "cached_tokens": self.usage.cached_tokens,
            },
            "model": self.model,
        }

    @classmethod
    def from_json(cls, data: Json) -> Reply:
        """Restore what :meth:`to_json` wrote."""
        return cls(
            text=data["text"],
            tool_calls=tuple(ToolCall(**call) for call in data["tool_calls"]),
            stop=Stop(data["stop"]),
            refusal=data["refusal"],
            usage=Usage(**data["usage"]),
            model=data["model"],
        )


@dataclass(frozen=True, slots=True)
class FoldedStream:
    """A server-sent-event stream folded into the response a non-streaming call would have returned.

    Attributes:
        response: the final response document; partial when the stream was cut.
        terminal: whether the protocol's end marker was seen.
        error: the error document of an in-stream error event, or None.
    """

    response: Json
    terminal: bool
    error: Json | None = None


class Dialect(Protocol):
    """All that is peculiar to one API shape. Pure functions on plain JSON; inputs are never changed."""

    @property
    def name(self) -> str:
        """Shape, such as ``openai.chat``."""

    @property
    def provider(self) -> str:
        """Whose SDK speaks it: ``openai`` or ``anthropic``."""

    @property
    def default_origin(self) -> str:
        """Origin and path prefix of the public API, such as ``https://api.openai.com/v1``."""

    def accepts(self, url_path: str) -> bool:
        """Whether a POST to this URL path is a model call of this shape (prefixes vary by server)."""

    def slots(self, body: Json) -> list[Slot]:
        """All content slots, in the order the model reads them: system, messages; tool definitions last."""

    def tool_calls(self, body: Json) -> list[ToolCall]:
        """Calls the assistant made earlier in this context, oldest first, with their ids."""

    def without(self, body: Json, path: JsonPath) -> Json:
        """The body with the content block or media part at `path` deleted and the rest kept valid."""

    def repaired(self, body: Json) -> Json:
        """The body after edits, made valid again: no empty content, call/result pairs, alternation."""

    def with_system(self, body: Json, text: str, *, append: bool) -> Json:
        """The body with its system prompt replaced by `text`, or with `text` appended to it."""

    def rerun_body(self, body: Json, *, n: int = 1) -> Json:
        """The body to post for a rerun: not streamed, not stored, `n` choices where the shape has them."""

    @property
    def batches(self) -> bool:
        """Whether the shape has an `n` parameter."""

    def replies(self, response: Json) -> list[Reply]:
        """All choices of a complete response document; raises ValueError when it is not one."""

    def fold(self, stream: str) -> FoldedStream:
        """Fold the text of an SSE stream, cut anywhere; never raises."""

    def render(self, reply: Reply, body: Json) -> Json:
        """The response document a server would send for `reply` to `body`: the inverse of :meth:`replies`."""
