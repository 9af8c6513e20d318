"""The OpenAI SDK as a caller: OpenAI itself, Azure, and every server that speaks its shapes."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from runtape.models.sdk import CONNECT_SECONDS, SdkModel


class OpenAIModel(SdkModel):
    """Posts through ``openai.AsyncOpenAI``."""

    package = "openai"

    def _connect(self, sdk: ModuleType, key: str) -> Any:
        return sdk.AsyncOpenAI(
            api_key=key,
            base_url=self.endpoint.origin,
            timeout=sdk.Timeout(self.timeout, connect=min(CONNECT_SECONDS, self.timeout)),
            max_retries=self.retries,
            default_headers={"api-key": key} if self.endpoint.azure else None,
        )
