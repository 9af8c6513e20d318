"""`record()`: one run of an agent, on tape."""

from __future__ import annotations

import atexit
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, final, overload

from runtape.dialects import DIALECTS
from runtape.errors import RecordingError, UsageError
from runtape.jsonio import Json, dumps
from runtape.recording import scope
from runtape.recording.callables import recorded
from runtape.recording.calls import Calls, End, Sent
from runtape.recording.checkout import current_commit
from runtape.recording.journal import Journal
from runtape.recording.listener import Listener
from runtape.recording.policy import Content, Policy, Redact
from runtape.recording.secrets import Secrets, clean_arguments
from runtape.recording.stage import current_stage
from runtape.recording.tools import Tools
from runtape.recording.values import describe_error, encode
from runtape.recording.wrapping import Wrapping
from runtape.tape.events import ERROR, NOTE, RUN_END, RUN_START, STATE
from runtape.tape.writer import Durability, TapeWriter

if TYPE_CHECKING:
    from runtape.recording.langchain import LangChain

Client = TypeVar("Client")
Function = TypeVar("Function", bound=Callable[..., Any])

_FOLDER = "traces"
_TRACEBACK_FRAMES = 20


def record(
    name: str = "run",
    dir: str | os.PathLike[str] | None = None,  # noqa: A002 - what it is called on the command line
    tags: Mapping[str, Any] | None = None,
    redact: Redact | None = None,
    *,
    redact_defaults: bool = True,
    content: str = "on",
    durability: str = "flush",
) -> Recorder:
    """Start recording a run into a new file; use the result as a context manager, or close it.

    Args:
        name: what the run is called; part of the file's name.
        dir: folder of the file, made if missing; by default ``$RUNTAPE_DIR``, or ``./traces``.
        tags: anything to find the run by.
        redact: sees every event as ``{"type", "payload"}`` before it is written and returns it
            changed; if it raises, the event is kept without its content.
        redact_defaults: replace what looks like a credential (headers are by allow-list anyway).
        content: ``on``, or ``off``: sizes, hashes, tokens and times, but no text.
        durability: ``flush``: what is recorded survives the process, kill -9 included; ``fsync``:
            and the machine, up to the last response.

    Raises StorageError when the file cannot be made, UsageError for unknown settings. From then on
    the recorder raises nothing into the program it records.
    """
    kept = _choice(Content, "content", content)
    durable = _choice(Durability, "durability", durability)
    folder = Path(dir if dir is not None else os.environ.get("RUNTAPE_DIR") or _FOLDER)
    policy = Policy(Secrets() if redact_defaults else None, redact, kept)
    return Recorder(TapeWriter.create(folder, name, durability=durable), policy, tags or {})


@final
class Recorder:
    """Records one run: model calls of wrapped clients, tools, and what it is told.

    After :meth:`close` everything wrapped goes on as before, unrecorded.

    Attributes:
        listener: the hook that records, as :meth:`wrap` puts it into http clients.
    """

    def __init__(self, writer: TapeWriter, policy: Policy, tags: Mapping[str, Any]) -> None:
        self._journal = Journal(writer, policy)
        self._started = time.monotonic()
        self._process = os.getpid()
        self._root = self._journal.write(RUN_START, _run_start(policy, tags))
        self._calls = Calls(self._journal, self._root)
        self._tools = Tools(self._journal, self._calls.pending, self._root)
        self.listener = Listener(self._journal, self._calls)
        self._wrapping = Wrapping(self.listener)
        self._langchain: LangChain | None = None
        # Registered after the writer's own finaliser, and so run before it.
        atexit.register(self.close_at_exit)

    @property
    def path(self) -> Path:
        """The file that is written (after a fork, the child writes one of its own)."""
        return self._journal.writer.path

    @property
    def run_id(self) -> str:
        """The run's id, as it stands in the file and its name."""
        return self._journal.writer.run_id

    @property
    def faults(self) -> int:
        """How many times something could not be recorded; ``record_error`` events say what."""
        return self._journal.faults

    @property
    def closed(self) -> bool:
        """Whether the run has ended."""
        return self._journal.closed

    def wrap(self, client: Client) -> Client:
        """Record the model calls of an SDK client (OpenAI, Anthropic and their kin, sync or async).

        A LangChain model will do too: the clients in it are wrapped. The same object is returned;
        only the http clients it holds are replaced, until :meth:`close`. Clients derived from it
        later (``with_options``) are recorded too. Several recorders may wrap one client, and each
        records. For an httpx or httpx2 client its recording twin is returned.

        Raises RecordingError when the run has ended, or `client` holds no http client.
        """
        if self.closed:
            raise RecordingError("The run has ended.", hint="wrap clients before closing it")
        return self._wrapping.wrap(client)

    @overload
    def tool(self, function: Function, *, name: str | None = None) -> Function: ...
    @overload
    def tool(self, *, name: str | None = None) -> Callable[[Function], Function]: ...
    def tool(self, function: Any = None, *, name: str | None = None) -> Any:
        """Decorator: record the calls of a tool, under `name` or the function's own.

        Works on functions, coroutine functions, generators and async generators; they stay what
        they are. Arguments are recorded by parameter name, with the id of the model's tool call
        when its latest reply asks for just this call. Raises RecordingError for what cannot be
        called.
        """
        if function is None:
            return lambda decorated: self.tool(decorated, name=name)
        stage = current_stage()
        acted = function if stage is None else stage.stand_in(function, name)
        return recorded(acted, name, self._tools)

    def langchain(self) -> Any:
        """A callback handler for LangChain and LangGraph: ``config={"callbacks": [handler]}``.

        It records tool calls, model calls, and which node, step and run they belong to. Calls are
        recorded byte for byte, whether their client is wrapped or not; of those that reach no wire
        we know (a fake model, boto3, LangChain's cache) LangChain's own account is recorded and
        marked ``fidelity: callback``. The same handler every time. Raises MissingPackage.
        """
        if self._langchain is None:
            from runtape.recording.langchain import LangChain  # noqa: PLC0415 - few need it
            from runtape.recording.langchain_runs import Runs  # noqa: PLC0415

            runs = Runs(self._journal, self._calls, self._tools, self._root)
            self._langchain = LangChain(runs, self.listener, self._journal)
            if self.closed:
                self._langchain.close()
        return self._langchain.handler

    def log_llm_request(
        self,
        body: Any,
        *,
        api: str = "openai.chat",
        provider: str | None = None,
        origin: str | None = None,
        path: str | None = None,
    ) -> int | None:
        """Record a model request that no wrapped client sends; its event id for the response.

        `body` is the request as a dict (or its JSON text), `api` its shape (``openai.chat``,
        ``openai.responses``, ``anthropic.messages``, or a name of one's own).
        """
        dialect = next((known for known in DIALECTS if known.name == api), None)
        whose = provider or (dialect.provider if dialect else api.partition(".")[0])
        with self._journal.guard("a logged request"):
            sent = Sent(api, whose, dialect, origin, path, body=_document(body))
            call = self._calls.begin(sent)
            return None if call is None else call.event
        return None

    def log_llm_response(
        self,
        request: int | None,
        body: Any = None,
        *,
        status: int = 200,
        error: BaseException | None = None,
    ) -> None:
        """Record what came back for a logged request: a dict, JSON or SSE text, or an error."""
        call = None if request is None else self._calls.open_call(request)
        with self._journal.guard("a logged response"):
            if call is None and request is not None and not self.closed:
                raise RecordingError(f"No request {request} waits for a response.", event=request)
            if call is not None and body is not None:
                text = _document(body)
                call.answered(status, {"content-type": _content_type(text)})
                call.take(text)
            if call is not None:
                call.end(End.EOF) if error is None else call.broke(error)

    def log_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        result: Any = None,
        *,
        error: BaseException | None = None,
        call_id: str | None = None,
        latency_ms: float | None = None,
    ) -> int | None:
        """Record a tool call that has been made; its event id."""
        with self._journal.guard("a logged tool call"):
            run = self._tools.begin(name, encode(dict(arguments or {})).value, call_id)
            run.latency_ms = latency_ms
            run.returned(result) if error is None else run.raised(error)
            return run.event
        return None

    def state(self, key: str, value: Any) -> None:
        """Record a value of the program under a key."""
        encoded, tags = encode(value)
        self._note(STATE, {"key": str(key), "value": encoded, "restore": tags or None})

    def note(self, text: str) -> None:
        """Record a remark."""
        self._note(NOTE, {"text": str(text)})

    def bind(self, function: Function) -> Function:
        """`function` to be run in another thread, as part of what runs here now.

        Threads and executors do not inherit the context; without this their events belong to the
        run but not to the tool call that started them.
        """
        bound: Any = scope.carry(function)
        return bound  # type: ignore[no-any-return]

    def close(self, status: str = "ok") -> None:
        """End the run: give clients back their own http clients, write run_end, close the file."""
        if self.closed:
            return
        atexit.unregister(self.close_at_exit)
        self._wrapping.undo()
        if self._langchain is not None:
            self._langchain.close()
        self._calls.close()
        end: Json = {
            "status": status,
            "duration_ms": round((time.monotonic() - self._started) * 1000, 3),
        }
        if self.faults:
            end["faults"] = self.faults
        self._journal.write(RUN_END, end, parent=self._root)
        self._journal.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the run; an exception on its way out is recorded, and goes on its way."""
        if error is None or (isinstance(error, SystemExit) and not error.code):
            self.close()
            return
        with self._journal.guard("the error that ended the run"):
            lines = traceback.format_exception(kind, error, trace, limit=_TRACEBACK_FRAMES)
            self._note(ERROR, {**describe_error(error), "traceback": "".join(lines)})
        self.close("error")

    def close_at_exit(self) -> None:
        """End the run because the program ends; a forked child leaves its parent's run alone."""
        if self._process == os.getpid():
            self.close("exit")

    def _note(self, kind: str, payload: Json) -> None:
        enclosing = scope.enclosing(self._journal)
        self._journal.write(kind, payload, parent=self._root if enclosing is None else enclosing)


def _run_start(policy: Policy, tags: Mapping[str, Any]) -> Json:
    stage = current_stage()
    return {
        "started_at": datetime.now(timezone.utc).isoformat(),
        "python": sys.version.split()[0],
        "argv": clean_arguments(sys.argv) if policy.secrets is not None else list(sys.argv),
        "tags": encode(dict(tags)).value,
        "git": current_commit(Path.cwd()),
        "replay_of": None if stage is None else stage.run_id,
    }


Choice = TypeVar("Choice", bound=Enum)


def _choice(choices: type[Choice], what: str, value: str) -> Choice:
    try:
        return choices(value)
    except ValueError:
        known = " or ".join(repr(choice.value) for choice in choices)
        raise UsageError(f"{what} cannot be {value!r}.", hint=f"use {known}") from None


def _document(body: Any) -> bytes:
    """A logged body as bytes: text as it is, everything else as JSON."""
    if isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    return dumps(encode(body).value)


def _content_type(body: bytes) -> str:
    streamed = body.lstrip().startswith((b"data:", b"event:", b":"))
    return "text/event-stream" if streamed else "application/json"
