"""Who answers a rerun."""

from __future__ import annotations

from typing import Protocol

from runtape.dialects.base import Reply
from runtape.jsonio import Json


class Model(Protocol):
    """Answers request bodies; one instance serves one job."""

    @property
    def identity(self) -> str:
        """What its answers are cached under: provider and origin, or a function's source hash."""

    @property
    def batches(self) -> bool:
        """Whether one request can return several choices."""

    @property
    def drifts(self) -> bool:
        """Whether it may change for reasons of its own, as a service on the internet may."""

    async def sample(self, body: Json, n: int) -> list[Reply]:
        """Post the body once and return the choices that really came back, at least one.

        Raises ProviderError (transient ones were already retried), MissingKey, MissingPackage or
        ModelFunctionError.
        """

    async def aclose(self) -> None:
        """Release connections."""
