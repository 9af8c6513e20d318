"""Where in a client its http clients are: in SDK clients, and in what is put around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from runtape.recording.wire import http_library

_NAMES = (
    *("_client", "client", "_async_client", "async_client"),
    *("root_client", "root_async_client"),  # langchain-openai
    *("sdk_configuration", "_api_client", "_httpx_client", "_async_httpx_client"),
)
"""What SDKs and LangChain's model classes call them. Nothing else of a client is looked at."""
_DEEPEST = 3


class Holder(NamedTuple):
    """An object, and the name of its attribute that is an http client."""

    object: Any
    name: str


def http_holders(client: Any) -> list[Holder]:
    """All places in `client` where an httpx or httpx2 client is; empty when it is no client.

    Clients that are made when first asked for (LangChain's) are made now.
    """
    return list(_search(client, set(), _DEEPEST))


def _search(found: Any, seen: set[int], depth: int) -> Iterator[Holder]:
    seen.add(id(found))
    for name in _NAMES:
        held = _attribute(found, name)
        if http_library(held) is not None:
            yield Holder(found, name)
        elif held is not None and depth and id(held) not in seen and hasattr(held, "__dict__"):
            yield from _search(held, seen, depth - 1)


def _attribute(found: Any, name: str) -> Any:
    try:
        return getattr(found, name, None)
    except Exception:  # noqa: BLE001 - made when asked for, and that may want a key or a package
        return None
