"""Wire shapes: one module each, behind :class:`runtape.dialects.base.Dialect`, listed here."""

from __future__ import annotations

from runtape.dialects.anthropic_messages import AnthropicMessages
from runtape.dialects.base import Dialect
from runtape.dialects.openai_chat import OpenAIChat
from runtape.dialects.openai_responses import OpenAIResponses
from runtape.errors import UsageError

__all__ = ["DIALECTS", "dialect_for", "dialect_of_path"]

DIALECTS: tuple[Dialect, ...] = (OpenAIChat(), OpenAIResponses(), AnthropicMessages())
"""All known shapes."""


def dialect_for(api: str) -> Dialect:
    """The dialect of that name, such as ``openai.chat``; UsageError names the known ones."""
    for dialect in DIALECTS:
        if dialect.name == api:
            return dialect
    known = ", ".join(dialect.name for dialect in DIALECTS)
    raise UsageError(f"No API shape is called {api!r}.", hint=f"known are {known}")


def dialect_of_path(url_path: str) -> Dialect | None:
    """The dialect whose model calls are posted to this URL path; None for any other path."""
    return next((dialect for dialect in DIALECTS if dialect.accepts(url_path)), None)
