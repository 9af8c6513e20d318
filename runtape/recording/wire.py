"""The hook at the wire: an SDK's http client, replaced by a twin whose `send` goes through a hook.

One place sees all that an SDK can do (create, stream, parse, raw responses, retries, helpers):
all of it ends in ``send`` of an httpx or httpx2 client. Nothing of the SDK is patched, and the
library is taken from the client given: nothing is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any, Protocol

from runtape.dialects.base import Dialect
from runtape.jsonio import Json
from runtape.recording.calls import Sent

LIBRARIES = ("httpx", "httpx2")
"""The http libraries of the SDKs, by the name they are imported under."""

_REQUEST_HEADERS = frozenset(("anthropic-version", "anthropic-beta", "openai-beta"))
_RESPONSE_HEADERS = frozenset(
    (
        *("content-type", "content-encoding", "x-request-id", "request-id"),
        *("retry-after", "retry-after-ms", "x-should-retry"),
        *("openai-processing-ms", "openai-version", "openai-model"),
    )
)
_CREDENTIALS = frozenset(("authorization", "x-api-key", "api-key", "x-goog-api-key"))
_SDK = frozenset(("user-agent", "x-stainless-package-version", "x-stainless-retry-count"))
_QUERY = frozenset(("api-version", "beta"))
"""Recorded query parameters and headers: all others may hold keys, or names of accounts."""


class Hook(Protocol):
    """Stands between an SDK and the wire: to record, or to answer in its place."""

    def send(self, proceed: Callable[..., Any], request: Any, *, stream: bool) -> Any:
        """Return the response; ``proceed(request, stream=…)`` sends as if there were no hook."""

    async def send_async(self, proceed: Callable[..., Any], request: Any, *, stream: bool) -> Any:
        """The same for asynchronous clients; `proceed` is awaited."""


def http_library(client: Any) -> type | None:
    """The ``Client`` or ``AsyncClient`` of httpx or httpx2 that `client` is one of, or None."""
    for base in reversed(type(client).__mro__):
        library = base.__module__.partition(".")[0]
        if library in LIBRARIES and base.__name__ in ("Client", "AsyncClient"):
            return base
    return None


def twin(http: Any, hook: Hook) -> Any:
    """A client like `http`, sharing all its state, whose requests go through `hook`.

    It is an instance of a subclass of the original's own class. Closing it closes the original;
    dropping it does not. Raises TypeError when `http` is no client of httpx or httpx2.
    """
    library = http_library(http)
    if library is None:
        raise TypeError(f"no http client: {type(http).__qualname__}")
    kind: Any = type(http)
    made: Any = object.__new__(_twin_class(kind, library.__name__ == "AsyncClient"))
    made.__dict__ = http.__dict__
    made.runtape_original = http
    made.runtape_hook = hook
    return made


def is_hooked(http: Any, hook: Hook) -> bool:
    """Whether requests of this client go through `hook`."""
    while _is_twin(http):
        if http.runtape_hook is hook:
            return True
        http = http.runtape_original
    return False


def unhooked(http: Any, hook: Hook) -> Any:
    """The client without the twin that has `hook`, wherever it is among the twins around it."""
    if not _is_twin(http):
        return http
    inner = unhooked(http.runtape_original, hook)
    if http.runtape_hook is hook:
        return inner
    http.runtape_original = inner
    return http


def _is_twin(http: Any) -> bool:
    return hasattr(type(http), "runtape_original")


def _send(self: Any, request: Any, *, stream: bool = False, **options: Any) -> Any:
    proceed = partial(self.runtape_original.send, **options)
    return self.runtape_hook.send(proceed, request, stream=stream)


async def _send_async(self: Any, request: Any, *, stream: bool = False, **options: Any) -> Any:
    proceed = partial(self.runtape_original.send, **options)
    return await self.runtape_hook.send_async(proceed, request, stream=stream)


def _close(self: Any) -> None:
    self.runtape_original.close()


async def _aclose(self: Any) -> None:
    await self.runtape_original.aclose()


def _del(_self: Any) -> None:
    """Nothing: some SDK clients close themselves when dropped, and the original lives on."""


@cache
def _twin_class(cls: type, is_async: bool) -> type:  # noqa: FBT001 - the cache's key
    """The subclass; slots keep what is ours out of the shared ``__dict__``."""
    methods = (
        {"send": _send_async, "aclose": _aclose} if is_async else {"send": _send, "close": _close}
    )
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    slots = ("runtape_original", "runtape_hook")
    return type(cls.__name__, (cls,), {**names, "__slots__": slots, "__del__": _del, **methods})


def read_request(request: Any, dialect: Dialect, learn: Callable[[str], None]) -> Sent:
    """What may be recorded of an httpx request. A body that can be read only once is left alone.

    `learn` is told the headers that sign the request.
    """
    url = request.url
    headers, sdk = {}, {}
    for raw, value in request.headers.raw:
        name, use = _use_of(raw)
        if use is _REQUEST_HEADERS:
            headers[name] = value.decode("latin-1")
        elif use is _SDK:
            sdk[name] = value.decode("latin-1")
        elif use is _CREDENTIALS:
            learn(value.decode("latin-1"))
    return Sent(
        api=dialect.name,
        provider=dialect.provider,
        dialect=dialect,
        origin=f"{url.scheme}://{url.netloc.decode('ascii')}",  # netloc has no user or password
        path=url.path,
        query={k: v for k, v in url.params.items() if k in _QUERY} if url.query else {},
        headers=headers,
        body=_body(request),
        retries=_count(sdk.get("x-stainless-retry-count")),
        sdk=_sdk(sdk.get("user-agent"), sdk.get("x-stainless-package-version")),
    )


@lru_cache(maxsize=256)
def _use_of(raw: bytes) -> tuple[str, frozenset[str] | None]:
    """Lower-case name of a request header, and which of the sets above it is in."""
    name = raw.decode("latin-1").lower()
    for use in (_REQUEST_HEADERS, _SDK, _CREDENTIALS):
        if name in use:
            return name, use
    return name, None


def read_headers(response: Any) -> dict[str, str]:
    """The response headers that may be recorded, lower-case names."""
    return {
        name: value
        for name, value in response.headers.items()
        if name in _RESPONSE_HEADERS or "ratelimit" in name
    }


def unpacker(response: Any) -> Callable[[bytes], bytes]:
    """What undoes the response's content encoding: the client library's own decoders."""
    encoding = response.headers.get("content-encoding")
    if encoding is None:
        return bytes
    cls = type(response)

    def unpack(raw: bytes) -> bytes:
        content: bytes = cls(200, headers={"content-encoding": encoding}, content=raw).content
        return content

    return unpack


def _body(request: Any) -> bytes | None:
    try:
        body = request.content
    except Exception:  # noqa: BLE001 - each library has its own error for a body not read yet
        return None
    return body if isinstance(body, bytes) else None


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _sdk(user_agent: str | None, version: str | None) -> Json | None:
    """``OpenAI/Python 3.57.0`` says it well enough."""
    if user_agent is None:
        return None
    name, _, rest = user_agent.partition("/")
    return {"name": name.removeprefix("Async"), "version": version or rest.rpartition(" ")[2]}
