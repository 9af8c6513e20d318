"""`replay()`: a recorded run played back to the program that made it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, final, overload

from runtape.errors import MissingPackage, RecordingError, UsageError
from runtape.playback.divergence import ReplayDiverged
from runtape.playback.haste import start_hurrying, stop_hurrying
from runtape.playback.matching import ensure_playable
from runtape.playback.options import OnDiverge, ReplayOptions, ToolSource
from runtape.playback.player import Course, Player
from runtape.playback.tools import Props
from runtape.recording import scope
from runtape.recording.everywhere import hook_everywhere, unhook_everywhere
from runtape.recording.installing import Installation
from runtape.recording.recorder import Recorder, record
from runtape.recording.stage import enter_stage, leave_stage
from runtape.recording.wrapping import Wrapping
from runtape.tape.reader import Tape

Client = TypeVar("Client")
Function = TypeVar("Function", bound=Callable[..., Any])


@final
class Replayer:
    """Plays one tape back; a context manager.

    Use it in the place of a recorder: ``rp.wrap(client)``, ``@rp.tool``. Nothing goes over the
    network unless `on_diverge` says so. With ``on_diverge=LIVE`` the whole run, what is replayed
    and what is live, is recorded into a new tape that names the old one in ``replay_of``.
    """

    def __init__(
        self, tape: Tape, options: ReplayOptions | None = None, *, folder: Path | None = None
    ) -> None:
        self._options = options or ReplayOptions()
        _check(tape, self._options)
        ensure_playable(tape)
        self._tape = tape
        self._folder = folder
        self._course = Course(tape, self._options)
        self._player = Player(self._course)
        self._props = Props(self._course)
        self._wrapping = Wrapping(self._player)
        self._installation: Installation | None = None
        self._recorder: Recorder | None = None
        self._closed = False
        if self._options.on_diverge is OnDiverge.LIVE:
            self._course.went_live.append(self._note)
        start_hurrying()

    @property
    def run_id(self) -> str:
        """Id of the run that is played back."""
        return self._tape.run_id

    @property
    def recorder(self) -> Recorder | None:
        """What records the new run; None while there is none."""
        if self._installation is not None:
            return self._installation.recorder
        return self._recorder

    @property
    def divergence(self) -> ReplayDiverged | None:
        """Where the program left the tape and was stopped, or None."""
        return self._course.divergence

    @property
    def live(self) -> bool:
        """Whether the program has left the tape and everything really happens."""
        return self._course.live

    @property
    def unused(self) -> list[int]:
        """Events of the recorded model calls that have not been played (outside of tools)."""
        return [call.event for call in self._player.calls.unused if not call.nested]

    def wrap(self, client: Client) -> Client:
        """Answer the model calls of an SDK client, or of a LangChain model, from the tape.

        The same object is returned, and is as it was after :meth:`close`. For an httpx or httpx2
        client its twin is returned. Raises RecordingError when `client` holds no http client.
        """
        self._ensure_open()
        try:
            wrapped = self._wrapping.wrap(client)
        except RecordingError as error:
            error.hint = "wrap an OpenAI or Anthropic client, or an httpx client"
            raise
        recorder = self._own_recorder()
        return wrapped if recorder is None else recorder.wrap(wrapped)

    @overload
    def tool(self, function: Function, *, name: str | None = None) -> Function: ...
    @overload
    def tool(self, *, name: str | None = None) -> Callable[[Function], Function]: ...
    def tool(self, function: Any = None, *, name: str | None = None) -> Any:
        """Decorator: answer the calls of a tool from the tape; with ``tools="run"`` it runs.

        Results come back with their types, errors are raised again. Functions, coroutine functions,
        generators and async generators stay what they are.
        """
        if function is None:
            return lambda decorated: self.tool(decorated, name=name)
        served = self._props.stand_in(function, name)
        recorder = self._own_recorder()
        return served if recorder is None else recorder.tool(served, name=name)

    def langchain(self) -> Any:
        """A LangChain callback handler, where a program has one: it records the new run, if any.

        Raises MissingPackage.
        """
        recorder = self._own_recorder()
        if recorder is not None:
            return recorder.langchain()
        try:
            return import_module("langchain_core.callbacks").BaseCallbackHandler()
        except ImportError as error:
            raise MissingPackage(
                "rp.langchain() needs the package langchain-core.",
                hint="pip install 'runtape[langchain]'",
            ) from error

    def stand_in(self, function: Any, name: str | None) -> Any:
        """See :class:`~runtape.recording.stage.Stage`: for recorders of the program itself."""
        return self._props.stand_in(function, name)

    def install(self) -> None:
        """Answer the model calls of every client in this process, and the tools of its recorders.

        For programs whose code is not touched; ends with :meth:`close`.
        """
        self._ensure_open()
        enter_stage(self)
        hook_everywhere(self._player)
        if self._options.on_diverge is OnDiverge.LIVE:
            self._installation = Installation(self._new_recorder)
            self._installation.start()

    def bind(self, function: Function) -> Function:
        """As :meth:`Recorder.bind <runtape.recording.recorder.Recorder.bind>`."""
        bound: Any = scope.carry(function)
        return bound  # type: ignore[no-any-return]

    def state(self, key: str, value: Any) -> None:
        """Recorded in the new run, if there is one."""
        recorder = self._own_recorder()
        if recorder is not None:
            recorder.state(key, value)

    def note(self, text: str) -> None:
        """Recorded in the new run, if there is one."""
        recorder = self._own_recorder()
        if recorder is not None:
            recorder.note(text)

    def close(self, status: str = "ok") -> None:
        """End the replay: clients are as they were, the new run is ended."""
        if self._closed:
            return
        self._closed = True
        if self._installation is not None:
            self._installation.stop()
        unhook_everywhere(self._player)
        leave_stage(self)
        recorder = self.recorder
        if recorder is not None:
            recorder.close(status)
        self._wrapping.undo()
        stop_hurrying()

    def __enter__(self) -> Replayer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the replay; a divergence that somebody swallowed is raised again."""
        recorder = self.recorder
        if recorder is not None:
            recorder.__exit__(kind, error, trace)
        self.close()
        divergence = self._course.divergence
        if divergence is not None and error is not divergence:
            raise divergence from error

    def _own_recorder(self) -> Recorder | None:
        """The recorder of a replay that may go live; made when it is first needed."""
        wanted = self._options.on_diverge is OnDiverge.LIVE and self._installation is None
        if wanted and self._recorder is None and not self._closed:
            self._recorder = self._new_recorder()
        return self._recorder

    def _new_recorder(self) -> Recorder:
        enter_stage(self)
        try:
            return record(name=self._tape.name, dir=self._folder)
        finally:
            leave_stage(self)

    def _note(self, why: str) -> None:
        recorder = self.recorder
        if recorder is not None:
            recorder.note(why)

    def _ensure_open(self) -> None:
        if self._closed:
            raise RecordingError("The replay has ended.", hint="wrap clients before closing it")


def _check(tape: Tape, options: ReplayOptions) -> None:
    """Raises UsageError for options that make no sense, EventNotFound for `until`."""
    if options.until is not None:
        tape[options.until]  # raises EventNotFound
    if options.edit is not None and options.until is None:
        raise UsageError("There is nothing to edit.", hint="say which event: until=N")
    if options.edit is not None and options.on_diverge is not OnDiverge.LIVE:
        raise UsageError(
            "What follows an edit is not on the tape.", hint='on_diverge="live" goes on live'
        )
    if options.edit is not None and options.tools is ToolSource.RUN:
        kind = tape[options.until or 0].type
        if kind.startswith("tool_"):
            raise UsageError("A tool that runs has no recorded result to edit.")
