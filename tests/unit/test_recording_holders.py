"""Finding the http clients in whatever is put around an SDK."""

from __future__ import annotations

import httpx2
import pytest
from openai import OpenAI

from runtape.errors import RecordingError
from runtape.recording import record
from runtape.recording.holders import http_holders
from runtape.recording.wire import http_library


class Box:
    """Holds whatever it is given, by name."""

    def __init__(self, **held):
        self.__dict__.update(held)


@pytest.fixture
def http():
    with httpx2.Client() as client:
        yield client


def places(client):
    """Holders and names, as a list that can be compared."""
    return [(id(holder), name) for holder, name in http_holders(client)]


def test_clients_are_found_at_every_depth(http):
    """In an SDK client, in a model that holds one, and in a configuration in between."""
    sdk = Box(_client=http)
    assert places(sdk) == [(id(sdk), "_client")]
    assert places(Box(root_client=sdk)) == [(id(sdk), "_client")]
    assert places(Box(client=Box(_client=sdk), root_client=sdk)) == [(id(sdk), "_client")]
    config = Box(client=http, async_client=None)
    assert places(Box(sdk_configuration=config)) == [(id(config), "client")]


def test_what_goes_round_in_circles_ends(http):
    """Objects that hold each other, or answer to every name, are searched only so far."""
    inner = Box(client=http)
    inner._client = Box(client=inner)
    assert places(inner) == [(id(inner), "client")]

    class Anything:
        def __getattr__(self, name):
            return Anything()

    assert http_holders(Anything()) == []


def test_what_cannot_be_looked_at_is_left_alone(http):
    """A client that is made when asked for, and cannot be made, is no client."""

    class Half:
        def __init__(self):
            self._client = http

        @property
        def async_client(self):
            raise ImportError("no such package")

    assert [name for _, name in http_holders(Half())] == ["_client"]
    assert [http_holders(odd) for odd in (None, "text", 7, len)] == [[]] * 4


def test_a_holder_gets_its_own_clients_back(tmp_path):
    """Wrapped while the run is on, however deep; afterwards all is as it was."""
    with OpenAI(api_key="k") as sdk, record(dir=tmp_path) as recorder:
        model, original = Box(root_client=sdk), sdk._client
        assert recorder.wrap(model) is model
        assert sdk._client is not original
        assert http_library(sdk._client) is http_library(original)
        recorder.wrap(model)
        recorder.close()
        assert sdk._client is original


def test_something_without_a_client_is_refused(tmp_path):
    """And the error says what would do."""
    with record(dir=tmp_path) as recorder, pytest.raises(RecordingError, match="Box") as caught:
        recorder.wrap(Box(client=Box()))
    assert "OpenAI" in caught.value.hint
