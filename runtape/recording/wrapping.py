"""Putting a hook into clients, and taking it out of them again."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from runtape.errors import RecordingError
from runtape.recording.holders import http_holders
from runtape.recording.wire import Hook, http_library, is_hooked, twin, unhooked

Client = TypeVar("Client")


class Wrapping:
    """The clients that one hook was put into."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._wrapped: list[tuple[Callable[[], Any], str]] = []

    def wrap(self, client: Client) -> Client:
        """Send the requests of an SDK client through the hook; the same object is returned.

        For an httpx or httpx2 client its twin is returned. Raises RecordingError when `client`
        holds no http client.
        """
        if http_library(client) is not None:
            made: Client = twin(client, self._hook)
            return client if is_hooked(client, self._hook) else made
        places = http_holders(client)
        if not places:
            raise RecordingError(
                f"There is no http client in a {type(client).__qualname__}.",
                hint="wrap an OpenAI or Anthropic client, or use log_llm_request",
            )
        for place in places:
            http = getattr(place.object, place.name)
            if not is_hooked(http, self._hook):
                setattr(place.object, place.name, twin(http, self._hook))
                self._wrapped.append((_weakly(place.object), place.name))
        return client

    def undo(self) -> None:
        """Give the clients that still live their own http clients back."""
        for holder_of, name in self._wrapped:
            holder = holder_of()
            if holder is not None:
                setattr(holder, name, unhooked(getattr(holder, name), self._hook))
        self._wrapped.clear()


def _weakly(client: Any) -> Callable[[], Any]:
    """A reference that keeps nobody alive, where the object allows one."""
    try:
        return weakref.ref(client)
    except TypeError:
        return lambda: client
