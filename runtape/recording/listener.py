"""The hook that records: writes down what is sent, sends it, and listens to what comes back."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

from runtape.dialects import dialect_of_path
from runtape.recording.calls import Call, Calls, End
from runtape.recording.journal import Journal
from runtape.recording.tee import tee
from runtape.recording.wire import read_headers, read_request, unpacker

_heard: ContextVar[tuple[object, tuple[object, ...]]] = ContextVar("runtape_heard")
"""The request on its way in this context, and who has heard it."""


def is_heard(request: Any, by: Listener | None = None) -> bool:
    """Whether a listener is sending this very request just now, further out; `by`: this one."""
    sent, listeners = _heard.get((None, ()))
    return sent is request and (by is None or by in listeners)


class Listener:
    """Records the model calls of the clients it is the hook of."""

    def __init__(self, journal: Journal, calls: Calls) -> None:
        self._journal = journal
        self._calls = calls

    def send(self, proceed: Callable[..., Any], request: Any, *, stream: bool) -> Any:
        """Send and listen.

        The response is always asked for as a stream, and read here when the caller asked for all of
        it: just what the client does itself.
        """
        call = self._begin(request)
        if call is None:
            return proceed(request, stream=stream)
        try:
            with _Heard(request, self):
                response = proceed(request, stream=True)
        except BaseException as error:
            call.broke(error)
            raise
        self._listen(call, response)
        if not stream:
            try:
                response.read()
            except BaseException:
                response.close()
                raise
        return response

    async def send_async(self, proceed: Callable[..., Any], request: Any, *, stream: bool) -> Any:
        """The same for asynchronous clients."""
        call = self._begin(request)
        if call is None:
            return await proceed(request, stream=stream)
        try:
            with _Heard(request, self):
                response = await proceed(request, stream=True)
        except BaseException as error:
            call.broke(error)
            raise
        self._listen(call, response)
        if not stream:
            try:
                await response.aread()
            except BaseException:
                await response.aclose()
                raise
        return response

    def _begin(self, request: Any) -> Call | None:
        """The call, when it is one: a POST to the path of a known shape, while the run is on."""
        if request.method != "POST" or self._journal.closed:
            return None
        with self._journal.guard("looking at a request"):
            dialect = dialect_of_path(request.url.path)
            if dialect is not None:
                sent = read_request(request, dialect, self._journal.policy.learn)
                return self._calls.begin(sent)
        return None

    def _listen(self, call: Call, response: Any) -> None:
        """Have the call hear what the consumer reads. If that is impossible it hears nothing."""
        with self._journal.guard("listening to a response"):
            if response.is_stream_consumed or response.is_closed:
                # Read already: by an event hook, or made whole by a mock transport.
                call.answered(response.status_code, read_headers(response))
                call.take(response.content)
                call.end(End.EOF)
                return
            call.answered(response.status_code, read_headers(response), unpacker(response))
            response.stream = tee(response.stream, call)
            return
        call.end(End.ABANDONED)


class _Heard:
    """While in it, the request counts as heard by the listener."""

    __slots__ = ("_listener", "_request", "_token")

    def __init__(self, request: Any, listener: Listener) -> None:
        self._request = request
        self._listener = listener
        self._token: Token[tuple[object, tuple[object, ...]]] | None = None

    def __enter__(self) -> None:
        sent, listeners = _heard.get((None, ()))
        before = listeners if sent is self._request else ()
        self._token = _heard.set((self._request, (*before, self._listener)))

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _heard.reset(self._token)
