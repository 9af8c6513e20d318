"""A short exchange with a model, logged without any SDK."""

from __future__ import annotations

from runtape.dialects import dialect_for
from runtape.dialects.base import Reply, ToolCall, Usage
from runtape.jsonio import Json
from runtape.recording import Recorder

BODY = {"model": "m", "messages": [{"role": "user", "content": "Where is the kiln? " * 20}]}
CHAT = dialect_for("openai.chat")
ANSWER = Reply("In the yard.", (ToolCall("look", {"at": "yard"}, "call_1"),), usage=Usage(9, 4))


def talk(recorder: Recorder, body: Json | None = None, answer: Reply = ANSWER) -> None:
    """Log one call and its answer."""
    body = body or BODY
    request = recorder.log_llm_request(body)
    recorder.log_llm_response(request, CHAT.render(answer, body))
