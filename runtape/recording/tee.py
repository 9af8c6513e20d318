"""Response streams that tell a call what passes through them, and change nothing.

The consumer pulls: a chunk is noted and handed on as it comes, nothing is read ahead, kept back or
read on the consumer's behalf. Closing, cancelling and dropping reach the original stream as they
would without us.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from functools import cache
from typing import Any

from runtape.recording.calls import Call, End


def tee(stream: Any, call: Call) -> Any:
    """What to put in place of an httpx response's `stream`: of the same library, sync or async."""
    for base in type(stream).__mro__:
        if base.__name__ in _KINDS:
            return _tee_class(base)(stream, call)
    raise TypeError(f"no byte stream: {type(stream).__name__}")


class _Tee:
    """What both kinds share."""

    def __init__(self, stream: Any, call: Call) -> None:
        self._stream = stream
        self._call = call

    def __getattr__(self, name: str) -> Any:
        """Whatever else the original offers (httpx2 asks a stream how long it took)."""
        if name in ("_stream", "_call"):
            raise AttributeError(name)
        return getattr(self._stream, name)

    def __del__(self) -> None:
        call = self.__dict__.get("_call")
        if call is not None:
            call.end(End.ABANDONED)


class _SyncTee(_Tee):
    def __iter__(self) -> Iterator[bytes]:
        take: Callable[[bytes], None] = self._call.take
        try:
            for chunk in self._stream:
                take(chunk)
                yield chunk
        except GeneratorExit:
            raise  # the consumer stopped iterating: closing, or dropping, will follow
        except BaseException as error:
            self._call.broke(error)
            raise
        self._call.end(End.EOF)

    def close(self) -> None:
        """Close the original; the call has ended, however that goes."""
        try:
            self._stream.close()
        finally:
            self._call.end(End.CLOSED)


class _AsyncTee(_Tee):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        take: Callable[[bytes], None] = self._call.take
        chunks = self._stream.__aiter__()
        try:
            async for chunk in chunks:
                take(chunk)
                yield chunk
        except GeneratorExit:
            raise
        except BaseException as error:
            self._call.broke(error)
            raise
        else:
            self._call.end(End.EOF)
        finally:
            # As the client library does with a stream it iterates: release it now, not some time.
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()

    async def aclose(self) -> None:
        """Close the original; the call has ended, however that goes."""
        try:
            await self._stream.aclose()
        finally:
            self._call.end(End.CLOSED)


_KINDS: dict[str, type[_Tee]] = {"SyncByteStream": _SyncTee, "AsyncByteStream": _AsyncTee}


@cache
def _tee_class(base: type) -> Any:
    """The tee that is a `base` (a stream class of httpx or httpx2) to whoever asks."""
    return type("Tee", (_KINDS[base.__name__], base), {})
