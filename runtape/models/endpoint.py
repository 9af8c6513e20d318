"""Where a rerun is posted, and whose key goes with it."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from runtape.dialects.base import Dialect
from runtape.errors import MissingKey, UsageError
from runtape.tape.events import Request

HEADERS = ("openai-beta", "anthropic-version", "anthropic-beta")
"""Recorded request headers that change the answer and are sent again."""

_NEAR = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
_BARE_NAME = re.compile(r"[a-z][a-z0-9_-]*")
"""A name without dots; ``134744072`` and ``0x8080808`` are addresses in disguise."""

_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
_PLACEHOLDER = "runtape"


@dataclass(frozen=True, slots=True)
class Provider:
    """A public API: its base URL and the variable that holds its key."""

    base_url: str
    variable: str


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "anthropic": Provider("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "deepseek": Provider("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "fireworks": Provider("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "gemini": Provider("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "groq": Provider("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": Provider("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "together": Provider("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "xai": Provider("https://api.x.ai/v1", "XAI_API_KEY"),
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One URL that model calls are posted to.

    Attributes:
        origin: scheme, host and port.
        path: URL path.
        variables: environment variables whose key may be sent there, the most fitting first. A
            server on the internet that only the trace names gets none but its own: a trace from
            somebody else must not be able to send keys where it likes.
        query: query parameters.
        headers: recorded headers that are sent again.
    """

    origin: str
    path: str
    variables: tuple[str, ...]
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Origin and path."""
        return self.origin + self.path

    @property
    def host(self) -> str:
        """Host name, without port."""
        return _host(self.origin)

    @property
    def on_this_machine(self) -> bool:
        """Whether it is a loopback server."""
        address = _address(self.host)
        return _is_localhost(self.host) or (address is not None and address.is_loopback)

    @property
    def azure(self) -> bool:
        """Whether it takes its key in a header of its own."""
        return self.host.endswith(_AZURE)

    @property
    def identity(self) -> str:
        """What distinguishes its answers, beside the body."""
        more = sorted({**self.query, **self.headers}.items())
        return " ".join([self.url, *(f"{name}={value}" for name, value in more)])

    def key(self) -> str:
        """The key to send; raises MissingKey when there is none that may go there."""
        keys = (os.environ.get(name, "").strip() for name in self.variables)
        key = next(filter(None, keys), None)
        if key:
            return key
        if _is_near(self.host):
            return _PLACEHOLDER
        if not self.variables:
            raise MissingKey(
                f"The recorded call went to {self.host}, which runtape has no key for.",
                hint=f"name the server to send it your key: --base-url {self.origin}…",
            )
        raise MissingKey(
            f"No API key for {self.host}: {self.variables[0]} is not set.",
            hint=f"export {self.variables[0]}=…, or name another server with --base-url",
        )


def endpoint_of(
    request: Request, dialect: Dialect, *, base_url: str | None = None, provider: str | None = None
) -> Endpoint:
    """Where a rerun of `request` goes: `base_url`, `provider`, the recorded server, or the default.

    Raises UsageError for a provider that is not known, for a base URL that is none, and for a call
    that only a framework told of, without its server, when its provider is none of those known.
    """
    headers = {name: request.headers[name] for name in HEADERS if name in request.headers}
    named = base_url or (_provider(provider).base_url if provider else None)
    usual = _environment_url(dialect) or dialect.default_origin
    if named is None and request.origin is None and "callback" in request.fidelity.values():
        named = _told(request.provider, dialect)
    if named is None and request.origin is not None:
        origin, path = request.origin.rstrip("/"), request.path or _prefix(dialect) + dialect.path
        if not path.startswith("/"):
            path = f"/{path}"  # a whole URL in its place would take the key somewhere else
        variables = _variables(origin, dialect, chosen=_site(origin) == _site(usual))
        return Endpoint(origin, path, variables, request.query, headers)
    origin, path = _split(named or usual, dialect)
    return Endpoint(origin, path, _variables(origin, dialect, chosen=True), {}, headers)


def _variables(origin: str, dialect: Dialect, *, chosen: bool) -> tuple[str, ...]:
    site, usual = _site(origin), PROVIDERS[dialect.provider].variable
    own = [p.variable for p in PROVIDERS.values() if _site(p.base_url) == site]
    if _host(origin).endswith(_AZURE):
        own = ["AZURE_OPENAI_API_KEY"]
    if chosen or _is_near(_host(origin)):
        own.append(usual)
    return tuple(dict.fromkeys(own))


def _site(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port: what has to be equal for two URLs to lead to one server."""
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    try:
        return parts.scheme, _host(url), parts.port or usual
    except ValueError:  # a port that is no number
        return parts.scheme, _host(url), None


def _provider(name: str) -> Provider:
    if name not in PROVIDERS:
        raise UsageError(
            f"No provider is called {name!r}.", hint=f"known are {', '.join(PROVIDERS)}"
        )
    return PROVIDERS[name]


def _told(name: str, dialect: Dialect) -> str | None:
    """Base URL of the provider a framework names; None for the usual server of the dialect."""
    if name == dialect.provider:
        return None
    if name not in PROVIDERS:
        raise UsageError(
            f"The trace does not say which server answered, only that it was {name!r}.",
            hint="name one with --provider or --base-url, or let a function answer: --model-fn",
        )
    return PROVIDERS[name].base_url


def _environment_url(dialect: Dialect) -> str | None:
    return os.environ.get(f"{dialect.provider.upper()}_BASE_URL", "").strip() or None


def _split(base_url: str, dialect: Dialect) -> tuple[str, str]:
    """Origin and call path of a base URL; a bare origin gets the usual version prefix."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or None in _site(base_url) or not parts.hostname:
        raise UsageError(
            f"{base_url!r} is no base URL.", hint="write it like http://localhost:8000/v1"
        )
    path = parts.path.rstrip("/").removesuffix(dialect.path) or _prefix(dialect)
    return f"{parts.scheme}://{parts.netloc}", path + dialect.path


def _prefix(dialect: Dialect) -> str:
    return urlsplit(dialect.default_origin).path


def _host(origin: str) -> str:
    return urlsplit(origin).hostname or ""


def _is_localhost(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")


def _is_near(host: str) -> bool:
    """Whether the name or address says that it is no server on the internet."""
    address = _address(host)
    if address is not None:
        return address.is_private
    return bool(_BARE_NAME.fullmatch(host)) or host.endswith(_NEAR)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
