"""Reruns of calls that no wire showed: a framework told of them, and not of their server."""

from __future__ import annotations

import pytest

from runtape.attribution.facts import Warned
from runtape.dialects import dialect_for
from runtape.errors import UsageError
from runtape.models.endpoint import endpoint_of
from runtape.reports.warnings import warning_text
from runtape.tape.events import Request

CHAT = dialect_for("openai.chat")
TOLD = {"body": "callback"}


def told(provider: str) -> Request:
    """A request that LangChain's callback told of."""
    return Request(1, CHAT.name, provider, None, None, {}, {}, "{}", (), fidelity=TOLD)


@pytest.mark.parametrize(
    ("provider", "url"),
    [
        ("openai", "https://api.openai.com/v1/chat/completions"),
        ("groq", "https://api.groq.com/openai/v1/chat/completions"),
        ("mistral", "https://api.mistral.ai/v1/chat/completions"),
    ],
)
def test_a_provider_we_know_is_asked(provider, url, monkeypatch):
    """The name LangChain gives the provider is enough where there is one public API."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert endpoint_of(told(provider), CHAT).url == url


def test_nobody_else_is_asked_instead():
    """A fake model's call, or Bedrock's, does not go to OpenAI because its shape is chat."""
    with pytest.raises(UsageError, match="amazon_bedrock") as caught:
        endpoint_of(told("amazon_bedrock"), CHAT)
    assert "--model-fn" in caught.value.hint
    chosen = endpoint_of(told("amazon_bedrock"), CHAT, base_url="http://localhost:8000/v1")
    assert chosen.url == "http://localhost:8000/v1/chat/completions"


def test_the_report_says_where_it_is_from():
    """In words, not in the tape's."""
    words = warning_text(Warned("fidelity", {"body": "callback", "tools": "missing"}))
    assert "body as a framework told it" in words
    assert "tools missing" in words
