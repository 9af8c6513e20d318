"""The callback handler that tells a recorder what LangChain and LangGraph are doing.

The wire gives the bytes of a model call, the handler where it belongs: node, step, run ids, tool
call. Tools become events by what LangChain says of them; a model call that reaches no wire (a fake
model, boto3, LangChain's cache) is recorded by what the handler is told, and marked so.

The handler is synchronous and asks to be run inline: it is called where the work is going to be
done, so that a context variable joins the two. It needs no wrapped client: while the recorder is
open, whatever a run that was announced to it sends is heard. LangChain is imported when a handler
is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any
from uuid import UUID

from runtape.errors import MissingPackage
from runtape.jsonio import Json
from runtape.recording import units
from runtape.recording.everywhere import hook_everywhere, unhook_everywhere
from runtape.recording.journal import Journal
from runtape.recording.langchain_runs import Announced, Runs
from runtape.recording.listener import Listener, is_heard
from runtape.recording.units import Kind


class LangChain:
    """What a recorder has to do with LangChain, until :meth:`close`. Raises MissingPackage.

    Attributes:
        handler: the callback handler.
    """

    def __init__(self, runs: Runs, listener: Listener, journal: Journal) -> None:
        self.handler: Any = _handler_class()(runs, journal)
        self._hook = RunsListener(listener, journal)
        hook_everywhere(self._hook)

    def close(self) -> None:
        """Listen no more; the handler stays harmless."""
        unhook_everywhere(self._hook)


class RunsListener:
    """Hook for all clients of a process: hears what announced runs send, once.

    Requests of anybody else pass, and so do those that a wrapped client records already.
    """

    def __init__(self, listener: Listener, journal: Journal) -> None:
        self._listener = listener
        self._journal = journal

    def send(self, proceed: Callable[..., Any], request: Any, *, stream: bool) -> Any:
        """See :class:`~runtape.recording.wire.Hook`."""
        if self._concerns(request):
            return self._listener.send(proceed, request, stream=stream)
        return proceed(request, stream=stream)

    async def send_async(self, proceed: Callable[..., Any], request: Any, *, stream: bool) -> Any:
        """See :class:`~runtape.recording.wire.Hook`."""
        if self._concerns(request):
            return await self._listener.send_async(proceed, request, stream=stream)
        return await proceed(request, stream=stream)

    def _concerns(self, request: Any) -> bool:
        if is_heard(request, self._listener):
            return False
        return units.asking(self._journal, None) is not None


@cache
def _handler_class() -> Any:
    try:
        base = import_module("langchain_core.callbacks").BaseCallbackHandler
    except ImportError as error:
        raise MissingPackage(
            "rec.langchain() needs the package langchain-core.",
            hint="pip install 'runtape[langchain]'",
        ) from error
    return type("RuntapeHandler", (_Callbacks, base), {"run_inline": True})


class _Callbacks:
    """The methods LangChain calls, with its signatures. They never raise."""

    def __init__(self, runs: Runs, journal: Journal) -> None:
        self._runs = runs
        self._guard = journal.guard("a LangChain callback")

    def __deepcopy__(self, _memo: object) -> _Callbacks:
        """Configurations get copied; a recorder is one."""
        return self

    def on_chain_start(
        self, serialized: Json | None, *_inputs: Any, run_id: UUID, **told: Any
    ) -> None:
        """A graph, node or sequence begins."""
        with self._guard:
            self._runs.begin(Kind.CHAIN, _announced(serialized, run_id, told))

    def on_chain_end(self, *_outputs: Any, run_id: UUID, **_: Any) -> None:
        """It ends."""
        with self._guard:
            self._runs.end(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """It ends by an exception."""
        with self._guard:
            self._runs.chain_failed(run_id, error)

    def on_retriever_start(
        self, serialized: Json | None, *_query: str, run_id: UUID, **told: Any
    ) -> None:
        """A retriever is no tool of the model's: like a chain, it only holds what happens in it."""
        self.on_chain_start(serialized, run_id=run_id, **told)

    def on_retriever_end(self, *_documents: Any, run_id: UUID, **_: Any) -> None:
        """It ends."""
        self.on_chain_end(run_id=run_id)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """It ends by an exception."""
        self.on_chain_error(error, run_id=run_id)

    def on_tool_start(
        self, serialized: Json | None, input_str: str, *, run_id: UUID, **told: Any
    ) -> None:
        """A tool is about to run."""
        with self._guard:
            inputs = told.get("inputs")
            arguments = inputs if isinstance(inputs, dict) else {"input": input_str}
            self._runs.begin_tool(_announced(serialized, run_id, told), arguments)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """It has returned."""
        with self._guard:
            self._runs.tool_returned(run_id, output)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """It has raised."""
        with self._guard:
            self._runs.tool_raised(run_id, error)

    def on_chat_model_start(
        self, serialized: Json | None, messages: list[list[Any]], *, run_id: UUID, **told: Any
    ) -> None:
        """A chat model is about to be called."""
        with self._guard:
            parameters = told.get("invocation_params") or {}
            announced = _announced(serialized, run_id, told)
            self._runs.begin_model(announced, list(messages[0]), parameters)

    def on_llm_start(
        self, serialized: Json | None, prompts: list[str], *, run_id: UUID, **told: Any
    ) -> None:
        """A model that completes text is about to be called: as if a user had said it."""
        with self._guard:
            messages = [{"role": "user", "content": prompts[0]}]
            parameters = told.get("invocation_params") or {}
            self._runs.begin_model(_announced(serialized, run_id, told), messages, parameters)

    def on_llm_new_token(self, *_token: str, run_id: UUID, **_: Any) -> None:
        """A piece of a streamed answer."""
        with self._guard:
            self._runs.model_speaks(run_id)

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        """It has answered."""
        with self._guard:
            self._runs.model_answered(run_id, response)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """It has failed, or whoever read its stream has stopped."""
        with self._guard:
            self._runs.model_failed(run_id, error)


def _announced(serialized: Json | None, run_id: UUID, told: Json) -> Announced:
    """What all announcements have in common. A tool's own name goes before that of its run."""
    own = (serialized or {}).get("name") or ((serialized or {}).get("id") or [None])[-1]
    return Announced(
        run_id=run_id,
        parent=told.get("parent_run_id"),
        name=str(own or told.get("name") or ""),
        display=str(told.get("name") or own or ""),
        metadata=told.get("metadata") or {},
        tool_call_id=told.get("tool_call_id"),
    )
