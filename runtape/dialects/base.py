"""What every API shape can be asked: the vocabulary of requests and replies, without any SDK.

A *dialect* is one wire shape (``openai.chat``, ``openai.responses``, ``anthropic.messages``). All
that is peculiar to it is in the modules of its name, behind :class:`Dialect`; the rest of the
package speaks slots and replies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeAlias

from runtape.jsonio import Json

JsonPath: TypeAlias = tuple[str | int, ...]
"""Keys and indices from the root of a JSON document to a value."""

REMOVED = "[content removed]"
"""What stands where content was taken out and the API allows no gap."""


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
        message: index of the message (or input item) it belongs to; None for system and tools that
            stand outside the message list. A plain-string ``input`` counts as message 0.
        block: index of the content block within the message (or of the call within ``tool_calls``);
            None when the content is one string. Parts inside one block share its index.
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
    """A tool call of the model.

    `arguments` is the parsed object, or the raw text when it is not JSON. Calls that the server
    runs itself (web search, MCP) count too.
    """

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
    """Tokens as the provider reported them; None where it reported nothing (never 0 for unknown).

    Attributes:
        input_tokens: the whole prompt, cached tokens included (where providers differ, dialects
            level it).
        output_tokens: everything generated, reasoning included.
        cached_tokens: the part of `input_tokens` read from a prompt cache.
    """

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
    """All that is peculiar to one API shape: pure functions on plain JSON.

    Inputs are never changed; results share what did not change with them.
    """

    @property
    def name(self) -> str:
        """Shape, such as ``openai.chat``."""

    @property
    def provider(self) -> str:
        """Whose SDK speaks it: ``openai`` or ``anthropic``."""

    @property
    def default_origin(self) -> str:
        """Origin and path prefix of the public API, such as ``https://api.openai.com/v1``."""

    @property
    def path(self) -> str:
        """Where its calls are posted, below :attr:`default_origin`: ``/chat/completions``."""

    def accepts(self, url_path: str) -> bool:
        """Whether a POST to this URL path is a model call of this shape; prefixes may vary."""

    def slots(self, body: Json) -> list[Slot]:
        """All content slots in the order the model reads them: system, messages, tool definitions.

        Tool definitions that stand in the message list (listings of MCP servers) come at their
        place. The value of a slot is a non-empty string, except MEDIA (the whole part) and
        TOOL_CALL on shapes whose arguments are an object. Reasoning and encrypted parts are no
        slots. Never raises on odd bodies.
        """

    def tool_calls(self, body: Json) -> list[ToolCall]:
        """Calls the assistant made earlier in this context, oldest first, with their ids."""

    def without(self, body: Json, path: JsonPath) -> Json:
        """The body with the content block or media part at `path` deleted and the rest kept valid.

        `path` may also be that of a slot: its block goes; what cannot go is emptied or replaced by
        :data:`REMOVED`. Raises LookupError when there is no such place.
        """

    def without_all(self, body: Json, paths: Iterable[JsonPath]) -> Json:
        """Like :meth:`without` for several places at once; every path is one of `body` itself."""

    def repaired(self, body: Json) -> Json:
        """The body after edits, made valid again: no empty content, call/result pairs, alternation.

        A body that its API accepts comes back as it is.
        """

    def with_system(self, body: Json, text: str, *, append: bool) -> Json:
        """The body with its system prompt replaced by `text`, or with `text` appended to it."""

    def model(self, body: Json) -> str | None:
        """The model the body asks for; None when the URL names it."""

    def with_model(self, body: Json, name: str) -> Json:
        """The body asking for another model."""

    def with_params(self, body: Json, params: Json) -> Json:
        """The body with top-level parameters set; a value of None drops the parameter."""

    def temperature(self, body: Json) -> float | None:
        """The sampling temperature asked for; None when it is left to the provider."""

    def server_held(self, body: Json) -> str | None:
        """The field through which the server adds earlier turns, such as ``previous_response_id``.

        None when the body holds the whole conversation.
        """

    def question(self, text: str, model: str) -> Json:
        """A body that asks `model` one thing, without tools or parameters."""

    def rerun_body(self, body: Json, *, n: int = 1) -> Json:
        """The body to post for a rerun: not streamed, not stored, `n` choices where there are any.

        `n` is ignored by shapes that cannot batch. Parameters stay, but for a
        seed: servers that honour it would give the same sample every time, and reruns have to be
        independent.
        """

    @property
    def batches(self) -> bool:
        """Whether the shape has an `n` parameter."""

    def replies(self, response: Json) -> list[Reply]:
        """All choices of a response document, at least one; usage stands on the first.

        Raises ValueError that says what the document is when it is no response (an error, say).
        A stream that was cut and folded is read as far as it goes, with stop OTHER.
        """

    def fold(self, stream: str) -> FoldedStream:
        """Fold the text of an SSE stream, cut anywhere; never raises."""

    def render(self, reply: Reply, body: Json) -> Json:
        """The response a server would send for `reply` to `body`: ``replies(render(r, b)) == [r]``.

        Made-up ids are the same for the same reply to the same body.
        """

    def render_choices(self, replies: Sequence[Reply], body: Json) -> Json:
        """Like :meth:`render` with a choice per reply; shapes without batches take the first."""

    def render_stream(self, reply: Reply, body: Json) -> list[str]:
        """The same answer as server-sent events, one element each, the last one terminal.

        Folded, they give `reply` again, save that chat completions report usage only to bodies with
        ``stream_options.include_usage``.
        """
