"""Replay: answers from the tape, the first difference shown, nothing over the network."""

from __future__ import annotations

import asyncio
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from openai import AsyncOpenAI

import runtape
from runtape.dialects.base import Reply, Stop, ToolCall
from runtape.errors import EventNotFound, IncompleteContext, RecordingError, UsageError
from runtape.jsonio import dumps, loads
from runtape.playback.matching import IGNORED
from runtape.tape.events import LLM_REQUEST, NOTE, RUN_START, TOOL_CALL, TOOL_RESULT
from runtape.tape.reader import Tape
from tests.support.loopback import Fault, Loopback
from tests.support.recorded import API_KEY, client_at, events_on, run

NOWHERE = "http://127.0.0.1:9"


def echo(_api, body, _number):
    """Say what was asked last."""
    return Reply(f"you said {body['messages'][-1]['content']}")


def ask(client, text, **options):
    """One chat completion's text."""
    said = client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": text}], **options
    )
    return said.choices[0].message.content


@pytest.fixture
def tape(tmp_path):
    """A run that asked ``one``, ``two`` and ``one`` again."""
    answers = iter(("first", "second", "third"))
    with (
        Loopback(lambda *_: Reply(next(answers))) as server,
        runtape.record(dir=tmp_path) as recorder,
        client_at(server.url, "openai") as client,
    ):
        recorder.wrap(client)
        assert [ask(client, text) for text in ("one", "two", "one")] == ["first", "second", "third"]
    return recorder.path


@contextmanager
def offline():
    """Any use of a socket fails."""

    def refuse(*_, **__):
        raise AssertionError("the network was touched")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto", "bind"):
            patch.setattr(socket.socket, name, refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        yield


def play(path, client, work, options):
    """Let `work` play with a client; returns the replayer."""
    with offline(), runtape.replay(path, **options) as rp:
        work(rp.wrap(client))
    return rp


def divergence(path, work, **options):
    """The divergence that `work` ends in, with a client that retries."""
    with (
        client_at(NOWHERE, "openai", max_retries=5) as client,
        pytest.raises(runtape.ReplayDiverged) as caught,
    ):
        play(path, client, work, options)
    return caught.value


def asking(*texts):
    """What asks these one after the other."""
    return lambda client: [ask(client, text) for text in texts]


def test_calls_are_answered_from_the_tape_in_any_order(tape):
    """Equal calls in the order they were recorded in, others whenever they come; no network."""
    with offline(), runtape.replay(tape) as rp, client_at(NOWHERE, "openai") as client:
        assert rp.wrap(client) is client
        assert [ask(client, text) for text in ("two", "one", "one")] == ["second", "first", "third"]
    assert rp.unused == []


def test_what_changes_nothing_about_the_question_is_ignored(tape):
    """Metadata, the user and their like may differ, and so may the order of keys."""
    options = {"user": "u-2", "metadata": {"run": "2"}, "service_tier": "flex"}
    assert set(options) <= IGNORED
    with offline(), runtape.replay(tape) as rp, client_at(NOWHERE, "openai") as client:
        rp.wrap(client)
        assert ask(client, "two", **options) == "second"


def test_a_divergence_shows_the_first_difference_at_once(tape):
    """Within moments, through a client that retries every Exception, with both sides shown."""
    took = []

    def work(client):
        began = time.thread_time()
        try:
            ask(client, "once")
        finally:
            took.append(time.thread_time() - began)

    found = divergence(tape, work)
    assert not isinstance(found, Exception)
    assert found.difference.place == "$.messages[0].content"
    assert 'recorded: "one"' in str(found)
    assert 'now:      "once"' in str(found)
    assert took[0] < 0.5  # with all that is loaded for the first time; a retry alone takes as long


def test_a_swallowed_divergence_is_raised_again(tape):
    """At every later call, and when the replay ends."""
    swallowed = []

    def work(client):
        for text in ("new", "one"):
            try:
                ask(client, text)
            except BaseException as error:  # noqa: BLE001, PERF203 - as bad programs do
                swallowed.append(error)

    found = divergence(tape, work)
    assert swallowed == [found, found]


def test_a_divergence_leaves_a_gathering_of_tasks(tape):
    """Even where tasks hand exceptions over as results."""

    async def work(rp):
        async with AsyncOpenAI(api_key=API_KEY, base_url=NOWHERE + "/v1") as client:
            create = rp.wrap(client).chat.completions.create
            turns = [[{"role": "user", "content": text}] for text in ("one", "other")]
            calls = [create(model="m", messages=messages) for messages in turns]
            await asyncio.gather(*calls, return_exceptions=True)

    def gather():
        with offline(), runtape.replay(tape) as rp:
            asyncio.run(work(rp))

    with pytest.raises(runtape.ReplayDiverged):
        gather()


def test_a_call_too_many_says_so(tape):
    """Once the tape is played there is nothing to compare with."""
    found = divergence(tape, asking("one", "two", "one", "one"))
    assert "3 model calls have all been replayed" in str(found)


def test_warn_takes_the_call_at_the_same_place(tape):
    """The next call whose last message has the same role, with a warning; else it stops."""
    with (
        offline(),
        runtape.replay(tape, on_diverge="warn") as rp,
        client_at(NOWHERE, "openai") as client,
    ):
        rp.wrap(client)
        with pytest.warns(runtape.ReplayWarning, match=r"\$\.messages\[0\]\.content"):
            assert ask(client, "uno") == "first"
        assert ask(client, "two") == "second"


def test_live_goes_on_for_real_and_is_recorded(tape, tmp_path):
    """The new tape holds the whole run, names the old one, and says where it went live."""
    with Loopback(echo) as server, client_at(server.url, "openai") as client:
        with runtape.replay(tape, on_diverge="live", dir=tmp_path / "new") as rp:
            rp.wrap(client)
            said = [ask(client, text) for text in ("one", "other", "two")]
        assert len(server.requests) == 2
    assert said == ["first", "you said other", "you said two"]
    again = rp.recorder.path
    assert Tape.open(again)[0].payload["replay_of"] == Tape.open(tape).run_id
    assert len(events_on(again, LLM_REQUEST)) == 3
    [note] = events_on(again, NOTE)
    assert note.payload["text"].startswith("live from here on")


def test_a_live_replay_of_an_equal_run_sends_nothing(tape, tmp_path):
    """What is on the tape is never asked for again."""
    live = runtape.replay(tape, on_diverge="live", dir=tmp_path / "new")
    with offline(), client_at(NOWHERE, "openai") as client, live as rp:
        said = asking("one", "two", "one")(rp.wrap(client))
    assert said == ["first", "second", "third"]
    assert not rp.live


def test_until_stops_at_an_event(tape):
    """What came before it is replayed; nothing goes live unless asked."""
    second = events_on(tape, LLM_REQUEST)[1].id
    found = divergence(tape, asking("one", "two"), until=second)
    assert f"come to event {second}" in str(found)


@pytest.mark.parametrize("offset", [0, 1], ids=["request", "response"])
def test_a_fork_changes_one_request_and_goes_on_live(tape, tmp_path, offset):
    """`edit` gets the body of the call that `until` names, whichever of its events that is."""
    second = events_on(tape, LLM_REQUEST)[1].id + offset

    def edit(body):
        assert body["messages"][0]["content"] == "two"
        return {**body, "model": "other", "messages": [{"role": "user", "content": "2"}]}

    with Loopback(echo) as server, client_at(server.url, "openai") as client:
        fork = runtape.replay(tape, "live", until=second, edit=edit, dir=tmp_path / "new")
        with fork as rp:
            rp.wrap(client)
            said = [ask(client, text) for text in ("one", "two", "one")]
        assert server.requests[0].body["model"] == "other"
        assert server.requests[1].body["model"] == "m"
    assert said == ["first", "you said 2", "you said one"]


def test_options_that_make_no_sense_are_refused(tape):
    """Each with a hint."""
    with pytest.raises(UsageError, match="on_diverge cannot be"):
        runtape.replay(tape, on_diverge="ask")
    with pytest.raises(UsageError, match="until"):
        runtape.replay(tape, "live", edit=dict)
    with pytest.raises(UsageError, match="live"):
        runtape.replay(tape, until=1, edit=dict)
    with pytest.raises(EventNotFound):
        runtape.replay(tape, until=99)


def test_what_is_no_client_is_refused(tape):
    """It says what it takes; and nothing is wrapped once the replay has ended."""
    with runtape.replay(tape) as rp, pytest.raises(RecordingError, match="OpenAI or Anthropic"):
        rp.wrap(object())
    with pytest.raises(RecordingError, match="has ended"):
        rp.wrap(object())


def test_clients_are_as_they_were(tape):
    """After the replay they ask their servers again."""
    with Loopback(echo) as server, client_at(server.url, "openai") as client:
        before = client._client
        with runtape.replay(tape) as rp:
            rp.wrap(client)
            assert ask(client, "one") == "first"
        assert client._client is before
        assert ask(client, "one") == "you said one"


def test_other_requests_of_a_client_do_not_go_out(tape):
    """A list of models, say: the tape has no answer to that."""
    assert "GET /v1/models" in str(divergence(tape, lambda client: client.models.list()))


def test_retries_do_not_wait(tmp_path):
    """Neither as long as the server once asked for, nor as long as the SDK would."""
    fault = Fault(429, {"retry-after": "2"})
    with (
        Loopback(lambda a, b, n: fault if n == 0 else echo(a, b, n)) as server,
        runtape.record(dir=tmp_path) as recorder,
        client_at(server.url, "openai") as client,
    ):
        derived = recorder.wrap(client).with_options(max_retries=1)
        assert ask(derived, "one") == "you said one"
    with offline(), runtape.replay(recorder.path) as rp, client_at(NOWHERE, "openai") as client:
        derived = rp.wrap(client).with_options(max_retries=1)
        began = time.monotonic()
        assert ask(derived, "one") == "you said one"
        assert time.monotonic() - began < 1.5
    assert rp.unused == []


def test_threads_get_their_own_answers(tmp_path):
    """Calls at once from many threads, in whatever order."""
    texts = [f"question {n}" for n in range(24)]
    with (
        Loopback(echo) as server,
        client_at(server.url, "openai") as client,
        runtape.record(dir=tmp_path) as recorder,
    ):
        recorder.wrap(client)
        for text in texts:
            ask(client, text)
    with offline(), runtape.replay(recorder.path) as rp, client_at(NOWHERE, "openai") as client:
        rp.wrap(client)
        with ThreadPoolExecutor(8) as pool:
            said = list(pool.map(lambda text: ask(client, text), reversed(texts)))
    assert said == [f"you said {text}" for text in reversed(texts)]


# Bad tapes


def cut(path, keep):
    """The tape with only the lines that `keep` wants."""
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if keep(loads(line))]
    path.write_bytes(b"".join(lines))
    return path


def test_a_run_that_crashed_replays_as_far_as_it_went(tape):
    """Then it says that there is no response."""
    last = events_on(tape, LLM_REQUEST)[2].id
    cut(tape, lambda event: event["id"] <= last)
    found = divergence(tape, asking("one", "two", "one"))
    assert f"event {last} cannot be replayed: the tape has no response" in str(found)


def test_a_tape_with_holes_replays_around_them(tape):
    """Damage is mentioned where the program asks for what is lost."""
    second = events_on(tape, LLM_REQUEST)[1].id
    lines = tape.read_bytes().splitlines(keepends=True)
    lines = [b"{broken\n" if loads(line)["id"] == second else line for line in lines]
    tape.write_bytes(b"".join(lines))
    assert "1 damaged line" in str(divergence(tape, asking("one", "two")))


def test_a_run_without_content_cannot_be_replayed(tmp_path):
    """It is refused at once, with the reason."""
    with (
        Loopback(echo) as server,
        client_at(server.url, "openai") as client,
        runtape.record(dir=tmp_path, content="off") as recorder,
    ):
        ask(recorder.wrap(client), "one")
    with pytest.raises(IncompleteContext, match="can be replayed"):
        runtape.replay(recorder.path)


def test_a_tape_of_another_version_replays_what_was_said(tmp_path):
    """Version 1 holds no bytes: a response that says the same is made up."""
    request = {
        "provider": "openai",
        "api": "chat.completions",
        "endpoint": "https://api.openai.com/v1",
        "model": "m",
        "messages": [{"role": "user", "content": "one"}],
        "params": {},
    }
    said = {"text": None, "stop_reason": "tool_calls", "raw": None}
    call = {"id": "c1", "name": "look_up", "arguments": {"q": "kiln"}}
    events = [
        {"id": 0, "type": RUN_START, "payload": {"version": 1, "run_id": "x", "name": "old"}},
        {"id": 1, "type": LLM_REQUEST, "payload": request},
        {"id": 2, "type": "llm_response", "parent": 1, "payload": {**said, "tool_calls": [call]}},
    ]
    path = tmp_path / "old.jsonl"
    path.write_bytes(b"".join(dumps({"ts": 0, **event}) + b"\n" for event in events))
    with offline(), runtape.replay(path) as rp, client_at(NOWHERE, "openai") as client:
        messages = [{"role": "user", "content": "one"}]
        said = rp.wrap(client).chat.completions.create(model="m", messages=messages)
    [made] = said.choices[0].message.tool_calls
    assert (made.function.name, loads(made.function.arguments)) == ("look_up", {"q": "kiln"})


def test_secrets_in_bodies_do_not_matter(tmp_path):
    """They are not on the tape; the program still sends them."""
    text = "use sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12 please"
    with (
        Loopback(echo) as server,
        client_at(server.url, "openai") as client,
        runtape.record(dir=tmp_path) as recorder,
    ):
        ask(recorder.wrap(client), text)
    assert b"Ab12Cd34" not in recorder.path.read_bytes()
    with offline(), runtape.replay(recorder.path) as rp, client_at(NOWHERE, "openai") as client:
        assert "$secret" in ask(rp.wrap(client), text)


def test_the_key_in_use_does_not_matter_either(tmp_path):
    """Where a program passes it on to a tool, the tape has its mark."""
    with (
        Loopback(echo) as server,
        client_at(server.url, "openai") as client,
        runtape.record(dir=tmp_path) as recorder,
    ):
        ask(recorder.wrap(client), "one")
        assert recorder.tool(lambda key: len(key) + 0, name="sign")(API_KEY) == len(API_KEY)
    replay = runtape.replay(recorder.path)
    with offline(), replay as rp, client_at(NOWHERE, "openai") as client:
        ask(rp.wrap(client), "one")
        assert rp.tool(lambda key: key / 0, name="sign")(API_KEY) == len(API_KEY)


# A whole agent


def agent(client, look_up):
    """Ask, look up what the model wants, ask again."""
    messages = [{"role": "user", "content": "kiln?"}]
    for _ in range(3):
        said = client.chat.completions.create(model="m", messages=messages)
        message = said.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = look_up(**loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": str(result)})
    return None


def kiln(_api, body, _number):
    """Look up twice, then report the last result."""
    if body["messages"][-1]["role"] == "tool":
        return Reply(f"it is {body['messages'][-1]['content']}")
    calls = (ToolCall("look_up", {"query": "kiln"}, "c1"),)
    return Reply(None, calls, Stop.TOOL_CALLS)


def refused(query):
    """A tool that must not run."""
    raise AssertionError(query)


def test_a_fork_changes_one_tool_result_and_goes_on_live(tmp_path):
    """The agent goes on with the edited result; later tools and calls really happen."""
    with Loopback(kiln) as server, client_at(server.url, "openai") as client:
        with runtape.record(dir=tmp_path) as recorder:
            look_up = recorder.tool(lambda query: f"{query} cold", name="look_up")
            assert agent(recorder.wrap(client), look_up) == "it is kiln cold"
        [call] = events_on(recorder.path, TOOL_CALL)
        [result] = events_on(recorder.path, TOOL_RESULT)
        for until in (call.id, result.id):
            before = len(server.requests)
            options = {"until": until, "edit": lambda text: text.replace("cold", "hot")}
            with runtape.replay(recorder.path, "live", dir=tmp_path / "new", **options) as rp:
                look_up = rp.tool(refused, name="look_up")
                assert agent(rp.wrap(client), look_up) == "it is kiln hot"
            assert len(server.requests) == before + 1
            [again] = events_on(rp.recorder.path, TOOL_RESULT)
            assert again.payload["result"] == "kiln hot"


# Every client of a process


def test_an_installed_replay_answers_every_client(tape):
    """Also those made before, and those nobody wrapped; afterwards nothing is changed."""
    import httpx2  # noqa: PLC0415 - what the SDK uses

    send = httpx2.Client.send
    with offline(), client_at(NOWHERE, "openai") as client, runtape.replay(tape) as rp:
        rp.install()
        assert ask(client, "one") == "first"
        with client_at(NOWHERE, "openai") as another:
            assert ask(another, "two") == "second"
    assert httpx2.Client.send is send


def test_a_program_that_records_itself_records_its_replay(tape, tmp_path):
    """Its tools answer from the old tape, and the new one says what it replays."""
    with offline(), client_at(NOWHERE, "openai") as client, runtape.replay(tape) as rp:
        rp.install()
        with runtape.record(dir=tmp_path / "new") as recorder:
            assert ask(recorder.wrap(client), "one") == "first"
    assert Tape.open(recorder.path)[0].payload["replay_of"] == Tape.open(tape).run_id
    assert len(events_on(recorder.path, LLM_REQUEST)) == 1


def test_install_and_wrap_record_a_call_once(tmp_path):
    """And clients nobody wrapped are recorded too."""
    with Loopback(echo) as server, client_at(server.url, "openai") as client:
        recorder = runtape.install(dir=tmp_path)
        try:
            assert runtape.install() is recorder
            ask(recorder.wrap(client), "one")
            with client_at(server.url, "openai") as other:
                ask(other, "two")
        finally:
            runtape.uninstall()
        ask(client, "three")
    assert recorder.closed
    assert len(events_on(recorder.path, LLM_REQUEST)) == 2


def test_an_installed_recorder_hears_asynchronous_clients(tmp_path):
    """The same at the class of asynchronous clients."""

    async def work():
        async with client_at(server.url, "openai-async") as client:
            messages = [{"role": "user", "content": "one"}]
            await client.chat.completions.create(model="m", messages=messages)

    with Loopback(echo) as server:
        recorder = runtape.install(dir=tmp_path)
        try:
            run(work)
        finally:
            runtape.uninstall()
    assert len(events_on(recorder.path, LLM_REQUEST)) == 1


def test_a_second_installation_is_refused(tmp_path):
    """Another recorder cannot hear everything as well."""
    runtape.install(dir=tmp_path)
    try:
        with runtape.record(dir=tmp_path) as other, pytest.raises(RecordingError, match="already"):
            runtape.install(other)
    finally:
        runtape.uninstall()
