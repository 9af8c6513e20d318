"""`install()`: record all model calls of a process, without touching its code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtape.errors import RecordingError
from runtape.recording.everywhere import hook_everywhere, unhook_everywhere
from runtape.recording.listener import is_heard
from runtape.recording.recorder import Recorder, record

_installed: list[Installation] = []


class Installation:
    """Records the calls of every client in the process that no wrapped client records already.

    The recorder is made when the first call comes: a program that records itself gets no second,
    empty tape.
    """

    def __init__(self, make: Callable[[], Recorder]) -> None:
        self._make = make
        self._recorder: Recorder | None = None

    @property
    def recorder(self) -> Recorder | None:
        """The recorder, once there was a call."""
        return self._recorder

    def start(self) -> None:
        """Listen to all clients from now on. Raises RecordingError while another one does."""
        if _installed and _installed[-1] is not self:
            raise RecordingError(
                "Everything in this process is being recorded already.",
                hint="call runtape.uninstall() first",
            )
        if not _installed:
            _installed.append(self)
            hook_everywhere(self)

    def stop(self) -> None:
        """Listen no more; the recorder stays open."""
        unhook_everywhere(self)
        if self in _installed:
            _installed.remove(self)

    def needed(self) -> Recorder:
        """The recorder, made now if there is none yet."""
        if self._recorder is None:
            self._recorder = self._make()
        return self._recorder

    def send(self, proceed: Callable[..., Any], request: Any, *, stream: bool) -> Any:
        """See :class:`~runtape.recording.wire.Hook`."""
        if is_heard(request):
            return proceed(request, stream=stream)
        return self.needed().listener.send(proceed, request, stream=stream)

    async def send_async(self, proceed: Callable[..., Any], request: Any, *, stream: bool) -> Any:
        """See :class:`~runtape.recording.wire.Hook`."""
        if is_heard(request):
            return await proceed(request, stream=stream)
        return await self.needed().listener.send_async(proceed, request, stream=stream)


def install(recorder: Recorder | None = None, **options: Any) -> Recorder:
    """Record the model calls of every httpx or httpx2 client in this process, old and new.

    Calls of a client that is wrapped as well are recorded once. `options` are those of
    :func:`~runtape.recording.recorder.record`, for a recorder made here. Returns the recorder;
    installing it twice changes nothing. Raises RecordingError while another one is installed.
    """
    current = _installed[-1].recorder if _installed else None
    if current is not None and recorder in (None, current):
        return current
    installation = Installation(lambda: recorder or record(**options))
    installation.start()
    return installation.needed()


def uninstall() -> None:
    """End what :func:`install` began, and close its recorder; nothing happens when there is none.

    The http libraries are as they were.
    """
    while _installed:
        installation = _installed[-1]
        installation.stop()
        if installation.recorder is not None:
            installation.recorder.close()
