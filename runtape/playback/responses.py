"""Recorded answers as responses of the http library that asks, without anything being sent."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any, NoReturn

from runtape.playback.again import raised_again
from runtape.playback.answers import Answer
from runtape.playback.divergence import ReplayDiverged
from runtape.recording.calls import End
from runtape.recording.wire import LIBRARIES

_PATIENCE = 5.0
"""Seconds a call waits for its cancellation beyond the time that took when it was recorded."""


@dataclass(frozen=True, slots=True)
class Played:
    """One answer on its way to the request that asked for it.

    Attributes:
        answer: what was recorded.
        request: of httpx or httpx2.
        overdue: makes the error for whoever goes on waiting where the recorded program stopped.
    """

    answer: Answer
    request: Any
    overdue: Callable[[], ReplayDiverged]

    def respond(self) -> Any:
        """The response, unread; raises what the recorded call raised."""
        if self.answer.status is None:
            self.fail()
        return self._response("SyncByteStream", self.answer.status)

    async def respond_async(self) -> Any:
        """The same for asynchronous clients."""
        if self.answer.status is None:
            await self.fail_async()
        return self._response("AsyncByteStream", self.answer.status)

    def fail(self) -> NoReturn:
        """Raise what the recorded call raised."""
        if self.answer.end is End.CANCELLED:
            raise self.overdue()
        library = library_of(self.request)
        raise raised_again(self.answer.error or {}, library, self.request)

    async def fail_async(self) -> NoReturn:
        """The same; a call that was cancelled waits until it is."""
        if self.answer.end is End.CANCELLED:
            await asyncio.sleep(self.answer.seconds + _PATIENCE)
        self.fail()

    @property
    def breaks(self) -> bool:
        """Whether the body ends by an exception (one the consumer stopped reading just ends)."""
        return self.answer.end is End.CANCELLED or self.answer.error is not None

    def _response(self, stream: str, status: int | None) -> Any:
        library = library_of(self.request)
        response = library.Response(
            status,
            headers=self.answer.headers,
            stream=_stream_class(getattr(library, stream))(self),
            request=self.request,
            extensions={"http_version": b"HTTP/1.1"},
        )
        response.elapsed = timedelta(seconds=self.answer.seconds)
        return response


def library_of(request: Any) -> Any:
    """The module, httpx or httpx2, that a request belongs to."""
    for base in type(request).__mro__:
        name = base.__module__.partition(".")[0]
        if name in LIBRARIES:
            return sys.modules[name]
    raise TypeError(f"no http request: {type(request).__qualname__}")


class _Stream:
    """The recorded chunks, then the recorded end."""

    def __init__(self, played: Played) -> None:
        self._played = played


class _SyncStream(_Stream):
    def __iter__(self) -> Iterator[bytes]:
        yield from self._played.answer.chunks
        if self._played.breaks:
            self._played.fail()

    def close(self) -> None:
        """Nothing is open."""


class _AsyncStream(_Stream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._played.answer.chunks:
            yield chunk
        if self._played.breaks:
            await self._played.fail_async()

    async def aclose(self) -> None:
        """Nothing is open."""


_KINDS: dict[str, type[_Stream]] = {"SyncByteStream": _SyncStream, "AsyncByteStream": _AsyncStream}


@cache
def _stream_class(base: type) -> Any:
    """The stream that is a `base` (a stream class of httpx or httpx2) to whoever asks."""
    return type("ReplayedStream", (_KINDS[base.__name__], base), {})
