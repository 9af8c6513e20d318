"""The hook at the wire: twins of http clients, what is read off requests, streams listened to."""

from __future__ import annotations

import gzip

import httpx
import httpx2
import pytest

from runtape.dialects import dialect_for, dialect_of_path
from runtape.dialects.base import Reply
from runtape.recording import record
from runtape.recording.tee import tee
from runtape.recording.wire import http_library, is_hooked, read_request, twin, unhooked
from tests.support.recorded import calls_on, client_at

CHAT = dialect_for("openai.chat")
URL = "https://kiln:hunter2@models.example:8443/v1/chat/completions?api-version=7&sig=s3cret"
both = pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])


class Canned:
    """A hook that answers by itself: what a replay would do."""

    def __init__(self, library):
        self.library = library
        self.asked = []

    def send(self, proceed, request, *, stream):
        self.asked.append((request.content, stream, proceed))
        return self.library.Response(200, json=CHAT.render(Reply("canned"), {}), request=request)


@both
def test_what_is_read_off_a_request(library):
    """Where it goes, what the API reads, who sends it; no user, password, keys or other queries."""
    learnt = []
    headers = {
        "Authorization": "Bearer k",
        "X-Api-Key": "k2",
        "OpenAI-Beta": "assistants=v2",
        "X-Tenant": "t",
        "User-Agent": "AsyncOpenAI/Python 3.57.0",
        "X-Stainless-Retry-Count": "2",
    }
    request = library.Request("POST", URL, headers=headers, content=b"{}")
    sent = read_request(request, CHAT, learnt.append)
    assert sent.origin == "https://models.example:8443"
    assert sent.path == "/v1/chat/completions"
    assert sent.query == {"api-version": "7"}
    assert sent.headers == {"openai-beta": "assistants=v2"}
    assert (sent.body, sent.retries) == (b"{}", 2)
    assert sent.sdk == {"name": "OpenAI", "version": "3.57.0"}
    assert learnt == ["Bearer k", "k2"]


@both
def test_requests_that_say_little(library):
    """Without headers, with an odd retry count, with a body that can be read only once."""
    request = library.Request("POST", "http://h/v1/chat/completions", content=iter([b"{}"]))
    request.headers["x-stainless-retry-count"] = "many"
    sent = read_request(request, CHAT, lambda _: None)
    assert (sent.body, sent.retries, sent.origin) == (None, None, "http://h")


@both
def test_a_twin_is_the_client_in_all_but_its_send(library):
    """Same class name, same state, nothing of ours in it; closing it closes the original."""
    with library.Client(base_url="http://mock") as http:
        before = dict(http.__dict__)
        double = twin(http, Canned(library))
        assert isinstance(double, library.Client)
        assert http_library(double) is library.Client
        assert (type(double).__name__, type(double).__module__) == ("Client", type(http).__module__)
        assert http.__dict__ == before
        assert double.base_url == http.base_url
        double.timeout = 3
        assert http.timeout == double.timeout
        double.close()
        assert http.is_closed


def test_only_http_clients_have_twins():
    """Anything else is refused."""
    with pytest.raises(TypeError, match="no http client: dict"):
        twin({}, Canned(httpx))
    with pytest.raises(TypeError, match="no byte stream"):
        tee([b"chunk"], None)


@both
def test_twins_around_twins(library):
    """Hooks nest; each can be taken out, wherever it is."""
    hooks = [Canned(library) for _ in range(3)]
    with library.Client() as http:
        outer = http
        for hook in hooks:
            outer = twin(outer, hook)
        assert all(is_hooked(outer, hook) for hook in hooks)
        assert not is_hooked(http, hooks[0])
        without = unhooked(outer, hooks[1])
        assert without is outer
        assert [is_hooked(without, hook) for hook in hooks] == [True, False, True]
        assert unhooked(unhooked(without, hooks[0]), hooks[2]) is http


def test_a_hook_may_answer_in_place_of_the_wire():
    """The seam for replay: an SDK takes what a hook makes for what a server said."""
    hook = Canned(httpx2)
    with client_at("http://nowhere.invalid", "openai") as client:
        client._client = twin(client._client, hook)
        made = client.chat.completions.create(model="m", messages=[])
    assert made.choices[0].message.content == "canned"
    [(content, stream, proceed)] = hook.asked
    assert b'"model":"m"' in content
    assert stream is False
    assert callable(proceed)


@both
@pytest.mark.parametrize(
    ("encoding", "packed", "readable"),
    [
        ("gzip", gzip.compress(b'{"a": "Zo\xc3\xab"}'), True),
        ("gzip", gzip.compress(b'{"a": 1}')[:12], True),
        ("gzip", b"no gzip at all", False),
        ("identity", b'{"a": "\xff"}', False),
        ("x-unknown", b'{"a": 1}', True),
    ],
    ids=["whole", "cut", "garbage", "not utf-8", "unknown"],
)
def test_bodies_that_cannot_be_read_are_kept(library, encoding, packed, readable, tmp_path):
    """Text where there is text; else the bytes of the wire, and no fault of ours."""
    headers = {"content-encoding": encoding, "content-type": "application/json"}

    class Once(library.SyncByteStream):
        def __iter__(self):
            yield packed

    def answer(_request):
        return library.Response(200, headers=headers, stream=Once())

    transport = library.MockTransport(answer)
    with library.Client(transport=transport) as http, record(dir=tmp_path) as recorder:
        url = "http://mock/v1/chat/completions"
        with recorder.wrap(http).stream("POST", url, json={"model": "m"}) as response:
            assert b"".join(response.iter_raw()) == packed
    [(_, event)] = calls_on(recorder.path)
    assert (event.payload["body"] is not None) is readable
    assert ("body_base64" in event.payload) is not readable
    assert event.payload["end"] == "eof"
    assert recorder.faults == 0


@pytest.mark.parametrize(
    ("path", "api"),
    [
        ("/v1/chat/completions", "openai.chat"),
        ("/openai/deployments/d/chat/completions", "openai.chat"),
        ("/v1/responses", "openai.responses"),
        ("/v1/messages", "anthropic.messages"),
        ("/v1/messages/batches", None),
        ("/v1/messages/count_tokens", None),
        ("/v1/embeddings", None),
        ("/v1/responses/resp_1/cancel", None),
    ],
)
def test_which_posts_are_model_calls(path, api):
    """Model calls by their path, under whatever prefix; their neighbours are none."""
    dialect = dialect_of_path(path)
    assert (dialect.name if dialect else None) == api
