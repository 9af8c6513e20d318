"""The hook at the wire: an SDK's http client, replaced by a twin whose `send` goes through a hook.

One place sees all that an SDK can do (create, stream, parse, raw responses, retries, helpers):
all of it ends in ``send`` of an httpx or httpx2 client. Nothing of the SDK is patched, and the
library is taken from the client given: nothing is imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Protocol

from runtape.dialects.base import Dialect
from runtape.jsonio import Json
from runtape.recording.calls import Sent

_LIBRARIES = frozenset(("httpx", "httpx2"))

_REQUEST_HEADERS = frozenset((b"anthropic-version", b"anthropic-beta", b"openai-beta"))
_RESPONSE_HEADERS = frozenset(
    (
        *(b"content-type", b"content-encoding", b"x-request-id", b"request-id"),
        *(b"retry-after", b"retry-after-ms", b"x-should-retry"),
        *(b"openai-processing-ms", b"openai-version", b"openai-model"),
    )
)
_CREDENTIALS = frozenset((b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key"))
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
    for base in type(client).__mro__:
        library = base.__module__.partition(".")[0]
        if library in _LIBRARIES and base.__name__ in ("Client", "AsyncClient"):
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


def hooks_of(http: Any) -> list[Hook]:
    """The hooks that requests of this client go through, outermost first."""
    hooks = []
    while hasattr(type(http), "runtape_original"):
        hooks.append(http.runtape_hook)
        http = http.runtape_original
    return hooks


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


def read_request(request: Any, dialect: Dialect) -> Sent:
    """What may be recorded of an httpx request. A body that can be read only once is left alone."""
    url = request.url
    headers, seen = {}, {}
    for name, value in request.headers.raw:
        lower = name.lower()
        if lower in _REQUEST_HEADERS:
            headers[lower.decode("ascii")] = value.decode("latin-1")
        elif lower.startswith(b"x-stainless-") or lower == b"user-agent":
            seen[lower] = value.decode("latin-1")
    return Sent(
        api=dialect.name,
        provider=dialect.provider,
        dialect=dialect,
        origin=f"{url.scheme}://{url.netloc.decode('ascii')}",  # netloc has no user or password
        path=url.path,
        query={k: v for k, v in url.params.items() if k in _QUERY} if url.query else {},
        headers=headers,
        body=_body(request),
        retries=_count(seen.get(b"x-stainless-retry-count")),
        sdk=_sdk(seen.get(b"user-agent"), seen.get(b"x-stainless-package-version")),
    )


def credentials(request: Any) -> list[str]:
    """Values of the headers that sign a request."""
    return [
        value.decode("latin-1")
        for name, value in request.headers.raw
        if name.lower() in _CREDENTIALS
    ]


def read_headers(response: Any) -> dict[str, str]:
    """The response headers that may be recorded, lower-case names."""
    return {
        name.lower().decode("ascii"): value.decode("latin-1")
        for name, value in response.headers.raw
        if name.lower() in _RESPONSE_HEADERS or b"ratelimit" in name.lower()
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


@cache
def _sdk(user_agent: str | None, version: str | None) -> Json | None:
    """``OpenAI/Python 3.57.0`` says it well enough."""
    if user_agent is None:
        return None
    name, _, rest = user_agent.partition("/")
    return {"name": name.removeprefix("Async"), "version": version or rest.rpartition(" ")[2]}
