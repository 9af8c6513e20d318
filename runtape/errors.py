"""Every error runtape raises on purpose.

::

    RuntapeError                       message · hint · (path, event, ref where they apply)
    ├── TraceError                     the file
    │   ├── TraceNotFound              no such trace, or the name fits several
    │   ├── TraceUnreadable            empty, binary, not a tape
    │   └── TraceCorrupt               a line or a hash that a request depends on is broken
    ├── AddressError                   a place in the trace
    │   ├── EventNotFound              no such event, or tool:NAME is not there
    │   ├── NotADecision               the event holds no decision of a model
    │   └── RefNotFound                no piece of the context has this ref
    ├── RequestError                   a model call that cannot be rerun
    │   ├── IncompleteContext          the tape lacks something the call needs
    │   └── InvalidEdit                the edit would leave an invalid request
    ├── ModelError                     whoever answers
    │   ├── MissingKey                 no API key in the environment
    │   ├── MissingPackage             an SDK that is not installed
    │   ├── ModelFunctionError         --model-fn cannot be loaded, raised, or returned rubbish
    │   └── ProviderError              the provider refused, failed or timed out
    ├── UsageError                     an argument or a setting makes no sense
    ├── RecordingError                 a recorder used wrongly (never raised into a running agent)
    └── StorageError                   cache or trace folder cannot be read or written
"""

from __future__ import annotations


class RuntapeError(Exception):
    """Base of all errors: says what happened, where, and one thing to do.

    Attributes:
        message: what happened, one sentence, no trailing hint.
        hint: one thing to do; may be empty.
        path: file concerned, or None.
        event: event id concerned, or None.
        ref: piece ref concerned, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        path: str | None = None,
        event: int | None = None,
        ref: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = path
        self.event = event
        self.ref = ref

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class TraceError(RuntapeError):
    """Something about the trace file."""


class TraceNotFound(TraceError):  # noqa: N818 - reads as what happened
    """No such trace, or the name fits several."""


class TraceUnreadable(TraceError):  # noqa: N818
    """The file is empty, binary, or not a tape."""


class TraceCorrupt(TraceError):  # noqa: N818
    """A line or a hash that a request depends on is broken."""


class AddressError(RuntapeError):
    """A place in the trace that does not exist or does not fit."""


class EventNotFound(AddressError):  # noqa: N818
    """No such event."""


class NotADecision(AddressError):  # noqa: N818
    """The event holds no decision of a model."""


class RefNotFound(AddressError):  # noqa: N818
    """No piece of the context has this ref."""


class RequestError(RuntapeError):
    """A model call that cannot be rerun as asked."""


class IncompleteContext(RequestError):  # noqa: N818
    """The tape lacks something the call needs."""


class InvalidEdit(RequestError):  # noqa: N818
    """The edit would leave a request its API rejects."""


class ModelError(RuntapeError):
    """Whoever answers the reruns cannot."""


class MissingKey(ModelError):  # noqa: N818
    """No API key in the environment."""


class MissingPackage(ModelError):  # noqa: N818
    """An optional package is not installed; the hint is the pip line."""


class ModelFunctionError(ModelError):
    """A model function cannot be loaded, raised, or returned rubbish."""


class ProviderError(ModelError):
    """The provider refused, failed or timed out.

    Attributes:
        status: HTTP status, or None for connection errors and timeouts.
        transient: whether trying again later could help.
    """

    def __init__(
        self, message: str, *, status: int | None = None, transient: bool = False, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.transient = transient


class UsageError(RuntapeError):
    """An argument or a setting makes no sense."""


class RecordingError(RuntapeError):
    """A recorder used wrongly; never raised from inside a running agent's call."""


class StorageError(RuntapeError):
    """The cache or the trace folder cannot be read or written."""
