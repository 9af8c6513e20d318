"""Model calls through a provider's SDK, which brings connections, retries and proxies."""

from __future__ import annotations

import asyncio
import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

from runtape.dialects.base import Dialect, Reply
from runtape.errors import MissingPackage, ProviderError
from runtape.jsonio import Json, dumps, loads
from runtape.models.endpoint import Endpoint

CONNECT_SECONDS = 10.0
_TRIES = 2
"""Times a body is posted when what comes back, with a good status, is no answer."""

_TRANSIENT = (408, 409, 425, 429)
_SERVER_ERRORS = 500
_NEEDS_STREAM = (400, 405, 422, 501)
_SAYS_STREAM = re.compile(r"stream", re.IGNORECASE)
_QUOTA = ("insufficient_quota", "billing_hard_limit_reached")
_SHOWN = 300

_HINTS = {
    400: "the model or its server does not take this request",
    401: "check the key in {variable}",
    403: "check what the key in {variable} may use",
    404: "check the model's name (--model) and the server (--base-url)",
    429: "use fewer --workers, or wait: replies so far are kept",
}


class SdkModel(ABC):
    """Posts recorded bodies with an SDK's own client; nothing of the body is changed on the way.

    The SDK is imported and connected at the first real call, in a thread: a job that the cache
    answers needs neither the package nor a key.
    """

    package: ClassVar[str]
    """Name of the SDK, to import and to install."""

    retries: ClassVar[int] = 4
    """Times the SDK tries again, honouring ``Retry-After``, before a failure is one."""

    def __init__(
        self, endpoint: Endpoint, dialect: Dialect, *, timeout: float, model: str | None = None
    ) -> None:
        """Prepare calls; nothing is imported or connected yet.

        Args:
            endpoint: where bodies are posted.
            dialect: the shape they speak.
            timeout: seconds without a byte after which a call has failed.
            model: asked for instead of the model the bodies name.
        """
        self.endpoint = endpoint
        self.identity = f"{dialect.name} {endpoint.identity}" + (f" as {model}" if model else "")
        self.batches = dialect.batches
        self.drifts = not endpoint.on_this_machine
        self._dialect = dialect
        self.timeout = timeout
        self._model = model
        self._opening = asyncio.Lock()
        self._sdk: Any = None
        self._client: Any = None
        self._streams = False

    async def sample(self, body: Json, n: int) -> list[Reply]:
        """Post the body once; raises ProviderError, MissingKey or MissingPackage."""
        client = await self._connected()
        final = self._dialect.rerun_body(body, n=n)
        if self._model is not None:
            final = self._dialect.with_model(final, self._model)
        problem: ValueError | None = None
        for _ in range(_TRIES):
            content = await self._post(client, final)
            try:
                return self._read(content)
            except ValueError as error:
                problem = error
        raise ProviderError(
            f"{self.endpoint.host} sent no answer: {_line(str(problem))}", transient=True
        )

    async def aclose(self) -> None:
        """Close connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()

    @abstractmethod
    def _connect(self, sdk: ModuleType, key: str) -> Any:
        """The SDK's async client for this endpoint."""

    async def _connected(self) -> Any:
        async with self._opening:
            if self._client is None:
                key = self.endpoint.key()
                self._sdk = await asyncio.to_thread(self._import)
                self._client = self._connect(self._sdk, key)
            return self._client

    def _import(self) -> ModuleType:
        try:
            return importlib.import_module(self.package)
        except ImportError as error:
            raise MissingPackage(
                f"Calls of {self._dialect.name} need the {self.package} package.",
                hint=f"pip install {self.package}",
            ) from error

    async def _post(self, client: Any, body: Json) -> bytes:
        if self._streams:
            return await self._send(client, _streamed(body))
        try:
            return await self._send(client, body)
        except ProviderError as error:
            if error.status not in _NEEDS_STREAM or not _SAYS_STREAM.search(error.message):
                raise
            refusal = error
        try:
            content = await self._send(client, _streamed(body))
        except ProviderError:
            raise refusal from None
        self._streams = True
        return content

    async def _send(self, client: Any, body: Json) -> bytes:
        options = {"headers": dict(self.endpoint.headers), "params": dict(self.endpoint.query)}
        try:
            sent: bytes = await client.post(
                self.endpoint.path, cast_to=bytes, body=body, options=options
            )
        except self._sdk.APIStatusError as error:
            raise self._refused(error.status_code, error.response.text) from error
        except self._sdk.APITimeoutError as error:
            raise ProviderError(
                f"{self.endpoint.host} did not answer within {self.timeout:g} seconds.",
                transient=True,
                hint="RUNTAPE_TIMEOUT sets the limit",
            ) from error
        except self._sdk.APIConnectionError as error:
            raise ProviderError(
                f"{self.endpoint.origin} cannot be reached: {_line(str(error.__cause__ or error))}",
                transient=True,
            ) from error
        return sent

    def _refused(self, status: int, text: str) -> ProviderError:
        variable = self.endpoint.variables[0] if self.endpoint.variables else "the environment"
        out_of_money = any(code in text for code in _QUOTA)
        return ProviderError(
            f"{self.endpoint.host} answered {status}: {_message(text)}",
            status=status,
            transient=not out_of_money and (status in _TRANSIENT or status >= _SERVER_ERRORS),
            hint="" if out_of_money else _HINTS.get(status, "").format(variable=variable),
        )

    def _read(self, content: bytes) -> list[Reply]:
        """The choices of a response, folded when it was streamed; raises ValueError."""
        text = content.decode("utf-8", "replace")
        if text.lstrip().startswith(("data:", "event:", ":")):
            folded = self._dialect.fold(text)
            if folded.error is not None or not folded.terminal:
                raise ValueError(_message(dumps(folded.error).decode()) if folded.error else "cut")
            replies = self._dialect.replies(folded.response)
        else:
            replies = self._dialect.replies(loads(content))
        if not replies:
            raise ValueError("no choices")
        return replies


def _streamed(body: Json) -> Json:
    return {**body, "stream": True}


def _message(text: str) -> str:
    """The sentence inside an error document, on one line."""
    try:
        document = loads(text)
    except ValueError:
        return _line(text)
    error = document.get("error", document) if isinstance(document, Mapping) else document
    if isinstance(error, Mapping):
        said = error.get("message") or error.get("detail") or error.get("error")
        error = said if isinstance(said, str) else text
    return _line(error if isinstance(error, str) else text)


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"
