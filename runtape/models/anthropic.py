"""The Anthropic SDK as a caller."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from runtape.models.sdk import CONNECT_SECONDS, SdkModel


class AnthropicModel(SdkModel):
    """Posts through ``anthropic.AsyncAnthropic``."""

    package = "anthropic"

    def _connect(self, sdk: ModuleType, key: str) -> Any:
        return sdk.AsyncAnthropic(
            api_key=key,
            base_url=self.endpoint.origin,
            timeout=sdk.Timeout(self.timeout, connect=min(CONNECT_SECONDS, self.timeout)),
            max_retries=self.retries,
        )
