"""The LangChain handler beside the wire: each request finds the run that it was sent for."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from runtape.errors import MissingPackage
from runtape.recording import everywhere, langchain, record
from runtape.recording.installing import install, uninstall
from runtape.tape.events import ERROR, LLM_REQUEST
from tests.support.loopback import Fault, Loopback
from tests.support.recorded import API_KEY, calls_on, events_on, payloads_on, sent_on

pytest.importorskip("langchain_core", reason="langchain-core is not installed")
pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
pytest.importorskip("langgraph", reason="langgraph is not installed")

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from openai import OpenAI

from tests.support.agents import Bench, close_all, close_sync
from tests.support.graphs import chat_model
from tests.support.langchain import MEANWHILE, config, echo, place, said_of


@pytest.fixture
def server():
    with Loopback(echo) as running:
        yield running


@pytest.fixture
def recorder(tmp_path):
    with record(dir=tmp_path) as running:
        yield running
    assert running.faults == 0


def test_streams_read_in_turns(server, recorder):
    """Two streams of one thread, read alternately: each request knows its own run."""
    model = chat_model(Bench(server.url, recorder))
    streams = [model.stream(text, config(recorder)) for text in ("one", "two")]
    for _ in range(50):
        if all(next(stream, None) is None for stream in streams):
            break
    close_sync(model)
    recorder.close()
    first, second = said_of(recorder.path)
    assert b'"one"' in first[0]
    assert b'"two"' in second[0]
    assert first[1]["run_id"] != second[1]["run_id"]
    assert "parent_run_id" not in second[1]


def test_a_call_of_ones_own_while_a_stream_is_read(server, recorder):
    """What the reader of a chain's stream does meanwhile is no part of the chain."""
    model = chat_model(Bench(server.url, recorder))
    sdk = model.root_client
    chain = RunnableLambda(lambda text: text) | model
    for number, _ in enumerate(chain.stream("slowly", config(recorder))):
        if number == 0:
            sdk.chat.completions.create(model="m", messages=MEANWHILE)
    close_sync(model)
    recorder.close()
    places = {"slowly" in text.decode(): where for text, where in said_of(recorder.path)}
    assert places[True]["name"] == "ChatOpenAI"
    assert places[False] is None


def test_a_call_of_ones_own_while_a_model_is_read(server, recorder):
    """The same where it is the model itself that is being read: it has sent what it had to send."""
    model = chat_model(Bench(server.url, recorder))
    stream = model.stream("slowly", config(recorder))
    next(stream)
    model.root_client.chat.completions.create(model="m", messages=MEANWHILE)
    list(stream)
    close_sync(model)
    recorder.close()
    assert [where is None for _, where in said_of(recorder.path)] == [False, True]


def test_prompts_announced_together(server, recorder):
    """`generate` announces all its prompts before it sends the first: each finds its run."""
    model = chat_model(Bench(server.url, recorder))
    texts = ["red", "green", "blue"]
    result = model.generate([[HumanMessage(t)] for t in texts], callbacks=[recorder.langchain()])
    close_sync(model)
    recorder.close()
    by_run = {where["run_id"]: text.decode() for text, where in said_of(recorder.path)}
    assert len(by_run) == 3
    for info, text in zip(result.run, texts, strict=True):
        assert f'"{text}"' in by_run[str(info.run_id)]


class Hesitant(ChatOpenAI):
    """A model that sends prompts the sooner the longer they are."""

    async def _agenerate(self, messages, *args, **options):
        await asyncio.sleep(0.1 / len(messages[-1].content))
        return await super()._agenerate(messages, *args, **options)


def test_prompts_sent_in_another_order(server, recorder):
    """The same where they are sent at once, and not in the order they were announced in."""
    texts = ["red", "green green", "blue blue blue blue"]

    async def work():
        patience = Bench(server.url).patience
        hesitant = Hesitant(
            model="m", api_key=API_KEY, base_url=f"{server.url}/v1", timeout=patience
        )
        model = recorder.wrap(hesitant)
        handlers = [recorder.langchain()]
        try:
            return await model.agenerate([[HumanMessage(t)] for t in texts], callbacks=handlers)
        finally:
            await close_all(model)

    result = asyncio.run(work())
    recorder.close()
    said = said_of(recorder.path)
    assert b"blue" in said[0][0]
    by_run = {where["run_id"]: text.decode() for text, where in said}
    for info, text in zip(result.run, texts, strict=True):
        assert f'"{text}"' in by_run[str(info.run_id)]


def test_batches(server, recorder):
    """A sequence run on many inputs in threads: each call is part of its own input's run."""
    model = chat_model(Bench(server.url, recorder))
    chain = RunnableLambda(lambda text: f"<{text}>") | model
    chain.batch([f"t{i}" for i in range(6)], config(recorder))
    close_sync(model)
    recorder.close()
    assert len({where["parent_run_id"] for _, where in said_of(recorder.path)}) == 6


def test_attempts_of_one_run(recorder):
    """What the SDK tries again belongs to the same run, as further attempts of one call."""

    def flaky(_api, body, number):
        return Fault(status=500) if number == 0 else echo(_api, body, number)

    with Loopback(flaky) as server:
        model = chat_model(Bench(server.url, recorder), max_retries=1)
        assert model.invoke("again", config(recorder)).content == "again!"
        close_sync(model)
    recorder.close()
    (first, _), (second, _) = calls_on(recorder.path)
    assert (first.payload["attempt"], second.payload["attempt"]) == (1, 2)
    assert place(first)["run_id"] == place(second)["run_id"]
    assert events_on(recorder.path, ERROR) == []


def test_an_error_of_the_provider_is_told_once(recorder):
    """The response has it; the runs around the model add nothing."""
    with Loopback(lambda *_: Fault(status=400)) as server:
        model = chat_model(Bench(server.url, recorder))
        chain = RunnableLambda(lambda text: text) | model
        with pytest.raises(Exception, match="400"):
            chain.invoke("bad", config(recorder))
        close_sync(model)
    recorder.close()
    [(_, response)] = calls_on(recorder.path)
    assert response.payload["status"] == 400
    assert events_on(recorder.path, ERROR) == []


def test_an_error_of_a_node_is_told_once(recorder):
    """An exception in the agent's own code is an event where it came up, and only there."""

    def burst(_):
        raise LookupError("no such bed")

    chain = RunnableLambda(lambda text: text) | RunnableLambda(burst, name="burst")
    with pytest.raises(LookupError):
        chain.invoke("bed", config(recorder))
    recorder.close()
    [error] = payloads_on(recorder.path, ERROR)
    assert (error["type"], error["message"]) == ("LookupError", "no such bed")
    assert error["scope"]["langchain"]["name"] == "burst"


def test_a_stream_left_early(server, recorder):
    """Whoever stops reading causes no error; what follows is no part of that run."""
    model = chat_model(Bench(server.url, recorder))
    stream = model.stream("a long story", config(recorder))
    next(stream)
    stream.close()
    model.root_client.chat.completions.create(model="m", messages=MEANWHILE)
    close_sync(model)
    recorder.close()
    (_, left), (after, _) = calls_on(recorder.path)
    assert left.payload["end"] == "closed"
    assert place(after) is None
    assert events_on(recorder.path, ERROR) == []


def test_the_clients_langchain_shares_stay_as_they_are(server, recorder):
    """Models share cached http clients: one that is not wrapped is not recorded, even so."""
    bench = Bench(server.url, recorder)
    wrapped, plain = chat_model(bench), chat_model(replace(bench, tap=None))
    shared = plain.root_client._client
    assert wrapped.root_client._client.__dict__ is shared.__dict__
    plain.invoke("quiet")
    wrapped.invoke("heard")
    recorder.close()
    assert wrapped.root_client._client is shared
    close_sync(plain)
    assert [b'"heard"' in text for text in sent_on(recorder.path)] == [True]


def test_the_handler_is_enough(server, recorder):
    """A model that is not wrapped is heard while LangChain runs it; a stranger's call is not."""
    model = chat_model(Bench(server.url))
    model.invoke("heard", config(recorder))
    model.invoke("no handler")
    model.root_client.chat.completions.create(model="m", messages=MEANWHILE)
    asyncio.run(_ask_alone(server, recorder))
    close_sync(model)
    recorder.close()
    assert [b'"heard' in text for text in sent_on(recorder.path)] == [True, True]
    assert [request.payload["fidelity"] for request, _ in calls_on(recorder.path)] == [{}, {}]
    assert not everywhere._patches


async def _ask_alone(server, recorder):
    model = chat_model(Bench(server.url))
    pieces = model.astream("heard, too", config(recorder))
    assert "".join([piece.text async for piece in pieces]) == "heard, too!"
    await close_all(model)


def test_an_sdk_call_in_a_node(server, recorder):
    """Plain SDK calls that a node makes are heard, too, and belong to the node."""
    with OpenAI(api_key=API_KEY, base_url=f"{server.url}/v1") as sdk:

        def ponder(text):
            told = [{"role": "user", "content": text}]
            return sdk.chat.completions.create(model="m", messages=told).choices[0].message.content

        assert RunnableLambda(ponder).invoke("hm", config(recorder)) == "hm!"
    recorder.close()
    [(_, where)] = said_of(recorder.path)
    assert where["name"] == "ponder"


def test_all_listeners_at_once(server, recorder):
    """Wrapped, installed and announced: a call is recorded once."""
    model = chat_model(Bench(server.url, recorder))
    config(recorder)
    install(recorder)
    try:
        model.invoke("once", config(recorder))
    finally:
        uninstall()
    close_sync(model)
    assert len(calls_on(recorder.path)) == 1


def test_one_handler_per_recorder(recorder):
    """Asking twice, or passing it twice, records once."""
    handler = recorder.langchain()
    assert recorder.langchain() is handler
    assert handler.run_inline
    model = FakeListChatModel(responses=["ok"], callbacks=[handler])
    model.invoke("hi", config(recorder))
    recorder.close()
    assert len(events_on(recorder.path, LLM_REQUEST)) == 1


@pytest.mark.parametrize("wrapped", [0, 1, 2])
def test_two_recorders(server, tmp_path, wrapped):
    """Two recorders, two handlers, one model: each has the whole story, with its own parents."""
    with record(dir=tmp_path) as one, record(dir=tmp_path) as two:
        model = chat_model(Bench(server.url))
        for recorder in (one, two)[:wrapped]:
            recorder.wrap(model)
        chain = RunnableLambda(lambda text: text) | model
        chain.invoke("both", {"callbacks": [one.langchain(), two.langchain()]})
        close_sync(model)
    for recorder in (one, two):
        [(request, _)] = calls_on(recorder.path)
        assert place(request)["name"] == "ChatOpenAI"
        assert request.payload["fidelity"] == {}
        assert recorder.faults == 0


def test_after_the_run_has_ended(server, recorder):
    """The handler stays harmless."""
    model = chat_model(Bench(server.url, recorder))
    recorder.close()
    events = len(events_on(recorder.path))
    assert model.invoke("late", config(recorder)).content == "late!"
    close_sync(model)
    assert len(events_on(recorder.path)) == events


def test_a_fault_of_the_recorder_does_not_reach_langchain(recorder, monkeypatch, caplog):
    """Whatever goes wrong in the handler is a fault of the recording, and no more."""
    handler = recorder.langchain()
    monkeypatch.setattr(handler._runs, "begin_model", None)
    with pytest.warns(UserWarning, match="LangChain callback"):
        answer = FakeListChatModel(responses=["ok"]).invoke("hi", config(recorder))
    assert answer.content == "ok"
    assert "Error in" not in caplog.text
    assert recorder.faults == 1
    recorder._journal.faults = 0


def test_without_langchain(recorder, monkeypatch):
    """Asking for the handler says what to install."""
    langchain._handler_class.cache_clear()

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(langchain, "import_module", absent)
    with pytest.raises(MissingPackage, match="langchain-core") as caught:
        recorder.langchain()
    assert "runtape[langchain]" in caught.value.hint


def test_a_chain_cancelled_halfway(recorder):
    """Cancelling is no failure; nothing hangs, and the next call is told apart."""

    async def work():
        started = asyncio.Event()

        async def wait(_):
            started.set()
            await asyncio.sleep(60)

        chain = RunnableLambda(lambda x: x) | RunnableLambda(wait)
        task = asyncio.create_task(chain.ainvoke("x", config(recorder)))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    FakeListChatModel(responses=["ok"]).invoke("hi", config(recorder))
    recorder.close()
    assert events_on(recorder.path, ERROR) == []
    [(request, _)] = calls_on(recorder.path)
    assert "parent_run_id" not in place(request)
