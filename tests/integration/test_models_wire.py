"""Reruns over real sockets: what arrives at the server, and what is made of its answers."""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading

import pytest

from runtape.dialects import dialect_for
from runtape.dialects.base import Reply, Stop, ToolCall, Usage
from runtape.errors import MissingKey, MissingPackage, ProviderError
from runtape.jsonio import dumps_text
from runtape.models.anthropic import AnthropicModel
from runtape.models.cache import Cache
from runtape.models.openai import OpenAIModel
from runtape.models.scheduler import Job, Scheduler, SchedulerOptions
from runtape.models.sdk import SdkModel
from runtape.models.selection import ModelOptions, default_workers, select_model
from runtape.tape.events import Request
from tests.support.loopback import Fault, Loopback, Wire

CHAT = "openai.chat"
RESPONSES = "openai.responses"
MESSAGES = "anthropic.messages"
PATHS = {CHAT: "/v1/chat/completions", RESPONSES: "/v1/responses", MESSAGES: "/v1/messages"}

BODIES = {
    CHAT: {"model": "m-1", "messages": [{"role": "user", "content": "hi"}], "x_unknown": [1, None]},
    RESPONSES: {"model": "m-1", "input": "hi", "x_unknown": {"a": 1}},
    MESSAGES: {
        "model": "m-1",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
        "x_unknown": 1.5,
    },
}
REPLY = Reply(
    text="hello",
    tool_calls=(ToolCall("look", {"at": "me"}, "call_1"),),
    stop=Stop.TOOL_CALLS,
    usage=Usage(7, 3),
    model="m-1",
)
SOON = {"retry-after-ms": "1"}


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "key-o")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-a")


def recorded(api, server, **changes):
    fields = {
        "event": 1,
        "api": api,
        "provider": api.partition(".")[0],
        "origin": server.url,
        "path": PATHS[api],
        "headers": {},
        "query": {},
        "text": dumps_text(BODIES[api]),
        "spans": (),
    }
    return Request(**{**fields, **changes})


def sample(request, n=1, times=1, **options):
    """Sample the recorded body; the replies of each time."""

    async def go():
        model = select_model(request, dialect_for(request.api), options=ModelOptions(**options))
        async with contextlib.aclosing(model):
            return [await model.sample(request.body, n) for _ in range(times)]

    return asyncio.run(go())


def answers(server, runs, api=CHAT, **options):
    """Draw `runs` samples through the gate; the answer and the scheduler."""
    request = recorded(api, server)

    async def go():
        model = select_model(request, dialect_for(api))
        scheduler = Scheduler(model, options=SchedulerOptions(**options))
        async with contextlib.aclosing(scheduler):
            (answer,) = await scheduler.run([Job(request.body, runs)])
        return answer, scheduler

    return asyncio.run(go())


@pytest.mark.parametrize("api", PATHS)
def test_the_recorded_body_arrives_unchanged(api):
    """Unknown fields, their order and the path go through; the reply comes back whole."""
    with Loopback(lambda *_: REPLY) as server:
        ((reply,),) = sample(recorded(api, server))
    (request,) = server.requests
    sent = {key: value for key, value in request.body.items() if key != "store"}
    assert list(sent.items()) == list(BODIES[api].items())
    assert request.path == PATHS[api]
    assert (reply.text, reply.tool_calls, reply.usage.input_tokens) == (
        "hello",
        REPLY.tool_calls,
        7,
    )


def test_prefix_query_and_headers_are_those_recorded():
    """Gateways with path prefixes get the same URL, beta headers go along, others do not."""
    with Loopback(lambda *_: REPLY) as server:
        request = recorded(
            MESSAGES,
            server,
            path="/team/7/v1/messages",
            query={"beta": "true"},
            headers={
                "anthropic-version": "2024-01-01",
                "anthropic-beta": "a-1,b-2",
                "x-other": "1",
            },
        )
        sample(request)
    (got,) = server.requests
    assert got.path == "/team/7/v1/messages?beta=true"
    assert got.headers["anthropic-version"] == "2024-01-01"
    assert got.headers["anthropic-beta"] == "a-1,b-2"
    assert "x-other" not in got.headers
    # Which header carries the key is the SDK's affair, and changed between its versions.
    assert "key-a" in (got.headers.get("x-api-key"), got.headers.get("authorization", "")[7:])


def test_a_local_server_needs_no_key(monkeypatch):
    """Without a key a placeholder is sent to a server on this network."""
    monkeypatch.delenv("OPENAI_API_KEY")
    with Loopback(lambda *_: REPLY) as server:
        sample(recorded(CHAT, server))
        assert server.requests[0].headers["authorization"] == "Bearer runtape"


def test_base_url_and_model_can_be_replaced():
    """--base-url and --model change where and whom, nothing else."""
    with Loopback(lambda *_: REPLY) as server:
        request = recorded(
            CHAT, server, origin="https://api.openai.com", path="/v1/chat/completions"
        )
        sample(request, base_url=f"{server.url}/proxy/v1/", model="m-2")
    (got,) = server.requests
    assert got.path == "/proxy/v1/chat/completions"
    assert got.body == {**BODIES[CHAT], "model": "m-2"}


def test_choices_are_asked_for_and_counted():
    """`n` is honoured: one request, several replies, its tokens counted once."""
    with Loopback(lambda _api, body, _n: [REPLY] * body.get("n", 1)) as server:
        answer, scheduler = answers(server, 5)
    assert len(answer.replies) == 5
    assert [r.body.get("n") for r in server.requests] == [5]
    assert (scheduler.spent.made, scheduler.spent.input_tokens) == (5, 7)
    assert not scheduler.choices_ignored


def test_ignored_choices_are_noticed():
    """A server that answers once to `n` is asked one by one from then on."""
    with Loopback(lambda *_: REPLY) as server:
        answer, scheduler = answers(server, 4)
    assert len(answer.replies) == 4
    assert [r.body.get("n") for r in server.requests] == [4, None, None, None]
    assert scheduler.choices_ignored


def test_refused_choices_are_noticed():
    """So is one that refuses `n`."""

    def handler(_api, body, _n):
        return Fault(status=400) if "n" in body else REPLY

    with Loopback(handler) as server:
        answer, _ = answers(server, 3)
    assert len(answer.replies) == 3


@pytest.mark.parametrize("status", [429, 500, 503, 529])
@pytest.mark.parametrize("api", [CHAT, MESSAGES])
def test_passing_failures_are_waited_out(api, status):
    """Rate limits and server errors are retried after what Retry-After says, unseen by the job."""
    faults = Fault(status=status if api == MESSAGES or status != 529 else 502, headers=SOON)
    with Loopback(lambda _api, _body, n: faults if n < 2 else REPLY) as server:
        ((reply,),) = sample(recorded(api, server))
    assert reply.text == "hello"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "OPENAI_API_KEY"), (403, "key"), (404, "--model"), (400, "request")]
)
def test_refusals_are_final(status, hint):
    """What no retry helps against is said in one line with the server's own words."""
    body = {"error": {"message": "No such\n thing: " + "x" * 900}}
    with (
        Loopback(lambda *_: Fault(status=status, body=body)) as server,
        pytest.raises(ProviderError, match=f"answered {status}: No such thing: xxx") as caught,
    ):
        sample(recorded(CHAT, server))
    assert len(server.requests) == 1
    assert caught.value.status == status
    assert not caught.value.transient
    assert hint in caught.value.hint
    assert len(caught.value.message) < 400


def test_rate_limits_that_last_are_transient():
    """After the retries the failure counts, and may pass later."""
    with (
        Loopback(lambda *_: Fault(status=429, headers=SOON)) as server,
        pytest.raises(ProviderError) as caught,
    ):
        sample(recorded(CHAT, server))
    assert len(server.requests) == 1 + SdkModel.retries
    assert caught.value.transient


def test_an_empty_account_is_final():
    """A used-up quota looks like a rate limit and is none."""
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    with (
        Loopback(lambda *_: Fault(status=429, headers=SOON, body=body)) as server,
        pytest.raises(ProviderError, match="exceeded your quota") as caught,
    ):
        sample(recorded(CHAT, server))
    assert not caught.value.transient


def test_silence_becomes_a_timeout(monkeypatch):
    """A server that never answers is given up after RUNTAPE_TIMEOUT seconds."""
    monkeypatch.setattr(SdkModel, "retries", 0)
    monkeypatch.setenv("RUNTAPE_TIMEOUT", "0.2")
    with (
        Loopback(lambda *_: Fault(hang=True)) as server,
        pytest.raises(ProviderError, match=r"did not answer within 0\.2 seconds") as caught,
    ):
        sample(recorded(CHAT, server))
    assert caught.value.transient
    assert caught.value.status is None


def test_nobody_there(monkeypatch):
    """A refused connection says which server."""
    monkeypatch.setattr(SdkModel, "retries", 0)
    with Loopback(lambda *_: REPLY) as server:
        request = recorded(MESSAGES, server)
    with pytest.raises(ProviderError, match=r"http://127\.0\.0\.1:\d+ cannot be reached") as caught:
        sample(request)
    assert caught.value.transient


def test_an_error_document_with_a_good_status():
    """Routers report failures with status 200: asked once more, then a transient failure."""
    document = {"error": {"message": "upstream is overloaded", "code": 502}}
    with (
        Loopback(lambda *_: document) as server,
        pytest.raises(ProviderError, match="upstream is overloaded") as caught,
    ):
        sample(recorded(CHAT, server))
    assert len(server.requests) == 2
    assert caught.value.transient


@pytest.mark.parametrize("api", PATHS)
@pytest.mark.parametrize("status", [400, 405])
def test_servers_that_only_stream(api, status):
    """A server that insists on streaming gets it, at once from the second call on."""
    refusal = Fault(status=status, body={"error": {"message": "Stream must be set to true"}})

    def handler(_api, body, _n):
        return REPLY if body.get("stream") else refusal

    with Loopback(handler, Wire(chunk=11)) as server:
        replies = sample(recorded(api, server), times=2)
    assert [r.text for (r,) in replies] == ["hello", "hello"]
    assert replies[0][0].tool_calls == REPLY.tool_calls
    assert [bool(r.body.get("stream")) for r in server.requests] == [False, True, True]


def test_a_refusal_that_mentions_streams_stays_itself():
    """When streaming does not help either, the first refusal is reported."""

    def handler(_api, body, _n):
        said = "second" if body.get("stream") else "first: stream of nonsense"
        return Fault(status=400, body={"error": {"message": said}})

    with (
        Loopback(handler) as server,
        pytest.raises(ProviderError, match="first: stream"),
    ):
        sample(recorded(CHAT, server))


@pytest.mark.parametrize("api", PATHS)
def test_a_streamed_recording_is_rerun_whole(api):
    """The recorded `stream: true` is not sent; nor are its options."""
    with Loopback(lambda *_: REPLY) as server:
        body = {**BODIES[api], "stream": True}
        sample(recorded(api, server, text=dumps_text(body), stream=True))
    assert not server.requests[0].body.get("stream")


def test_an_error_inside_a_stream_is_a_failure():
    """A stream that ends in an error event is no answer."""
    refusal = Fault(status=400, body={"error": {"message": "only streaming is supported"}})
    failing = Fault(
        reply=REPLY,
        error_event={"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
    )
    with (
        Loopback(lambda _a, body, _n: failing if body.get("stream") else refusal) as server,
        pytest.raises(ProviderError, match="busy") as caught,
    ):
        sample(recorded(MESSAGES, server))
    assert caught.value.transient


def test_a_provider_that_goes_down_ends_the_job():
    """Failures in a row end a job with what the server said."""
    with (
        Loopback(lambda *_: Fault(status=503, headers=SOON)) as server,
        pytest.raises(ProviderError, match="3 failures in a row") as caught,
    ):
        answers(server, 8, api=MESSAGES, patience=3, workers=1)
    assert caught.value.status == 503


def test_an_interrupted_job_keeps_what_is_under_way(tmp_path):
    """Cancelled while requests wait for their replies, a job stores those that still come."""
    arrived = threading.Event()

    def handler(*_):
        arrived.set()
        return REPLY

    with Loopback(handler, Wire(latency=0.05)) as server:
        request = recorded(MESSAGES, server)
        job = Job(request.body, 2)

        async def go(*, interrupt):
            cache = Cache.open(tmp_path)
            scheduler = Scheduler(select_model(request, dialect_for(MESSAGES)), cache=cache)
            async with contextlib.aclosing(scheduler):
                task = asyncio.ensure_future(scheduler.run([job]))
                if interrupt:
                    await asyncio.to_thread(arrived.wait, 10)
                    task.cancel()
                try:
                    return await task
                finally:
                    cache.close()

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(go(interrupt=True))
        paid = len(server.requests)
        (answer,) = asyncio.run(go(interrupt=False))
    assert len(answer.replies) == 2
    assert len(server.requests) == 2
    assert paid in (1, 2)


def test_a_cached_rerun_loads_no_sdk(tmp_path):
    """A job that the cache answers needs no package, no key and no server."""
    with Loopback(lambda *_: REPLY) as server:
        request = recorded(CHAT, server)
        cache = Cache.open(tmp_path)

        async def fill():
            scheduler = Scheduler(select_model(request, dialect_for(CHAT)), cache=cache)
            async with contextlib.aclosing(scheduler):
                await scheduler.run([Job(request.body, 3)])

        asyncio.run(fill())
        cache.close()
    script = f"""
import asyncio, sys
from pathlib import Path
from runtape.dialects import dialect_for
from runtape.models.cache import Cache
from runtape.models.scheduler import Job, Scheduler
from runtape.models.selection import select_model
from runtape.tape.events import Request
request = Request(1, {CHAT!r}, "openai", {server.url!r}, {PATHS[CHAT]!r}, {{}}, {{}}, "", ())
cache = Cache.open(Path({str(tmp_path)!r}))
scheduler = Scheduler(select_model(request, dialect_for({CHAT!r})), cache=cache)
answers = asyncio.run(scheduler.run([Job({BODIES[CHAT]!r}, 3)]))
assert len(answers[0].replies) == 3
heavy = {{"openai", "anthropic", "httpx", "httpx2", "pydantic", "scipy", "genai_prices"}}
print(sorted(heavy & set(sys.modules)))
"""
    env = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_missing_sdk_is_named(monkeypatch):
    """Without the package the message says how to get it."""
    monkeypatch.setitem(sys.modules, "openai", None)
    with (
        Loopback(lambda *_: REPLY) as server,
        pytest.raises(MissingPackage, match="pip install openai"),
    ):
        sample(recorded(CHAT, server))


def test_workers_of_a_local_server():
    """A server on this machine is asked one at a time unless the user says otherwise."""
    with Loopback(lambda *_: REPLY) as server:
        local = select_model(recorded(CHAT, server), dialect_for(CHAT))
        far = select_model(
            recorded(CHAT, server, origin="https://api.openai.com"), dialect_for(CHAT)
        )
    assert (default_workers(local), default_workers(far)) == (1, 8)
    assert isinstance(local, OpenAIModel)


class TestKeys:
    """Keys go to their own servers, to near ones, and where the user says."""

    def key(self, origin, api=CHAT, **options):
        with Loopback(lambda *_: REPLY) as server:
            request = recorded(api, server, origin=origin)
        return select_model(
            request, dialect_for(api), options=ModelOptions(**options)
        ).endpoint.key()

    def test_own_servers(self, monkeypatch):
        """Each public API has its variable."""
        monkeypatch.setenv("GROQ_API_KEY", "key-g")
        assert self.key("https://api.openai.com") == "key-o"
        assert self.key("https://api.anthropic.com", MESSAGES) == "key-a"
        assert self.key("https://api.groq.com") == "key-g"
        assert self.key(None) == "key-o"
        assert self.key(None, provider="groq") == "key-g"

    def test_missing_key_names_its_variable(self, monkeypatch):
        """The message says what to set."""
        monkeypatch.delenv("OPENAI_API_KEY")
        with pytest.raises(MissingKey, match="OPENAI_API_KEY is not set"):
            self.key("https://api.openai.com")

    def test_a_trace_cannot_send_keys_away(self, monkeypatch):
        """A server that only the trace names gets no key, unless the user names it too."""
        with pytest.raises(MissingKey, match="--base-url https://collect") as caught:
            self.key("https://collect.example")
        assert "key-o" not in str(caught.value)
        for disguised in (
            "http://api.openai.com",
            "https://api.openai.com.collect.example",
            "https://api.openai.com@collect.example",
            "https://api.openai.com:8443",
            "http://134744072",
            "http://0x08080808",
            "https:",
            "https://api.openai.com:port",
        ):
            with pytest.raises(MissingKey):
                self.key(disguised)
        assert self.key(None, base_url="https://gateway.example/v1") == "key-o"
        monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
        assert self.key("https://gateway.example") == "key-o"

    def test_a_path_is_a_path(self):
        """A URL in the place of the path leads nowhere else."""
        with Loopback(lambda *_: Fault(status=404)) as server:
            elsewhere = f"http://127.0.0.2:{server.url.rpartition(':')[2]}/v1/chat/completions"
            with pytest.raises(ProviderError, match=r"127\.0\.0\.1 answered 404"):
                sample(recorded(CHAT, server, path=elsewhere))

    @pytest.mark.parametrize(
        "origin", ["http://localhost:11434", "http://[::1]:80", "http://10.0.0.7", "http://vllm"]
    )
    def test_near_servers(self, origin, monkeypatch):
        """Servers on this machine or network may get the key and need none."""
        assert self.key(origin) == "key-o"
        monkeypatch.delenv("OPENAI_API_KEY")
        assert self.key(origin) == "runtape"


def test_anthropic_requests_take_the_anthropic_sdk():
    """The shape decides which SDK calls."""
    with Loopback(lambda *_: REPLY) as server:
        model = select_model(recorded(MESSAGES, server), dialect_for(MESSAGES))
    assert isinstance(model, AnthropicModel)
