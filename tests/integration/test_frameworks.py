"""Frameworks and SDKs that are recorded at the wire, without code for any of them.

They are many packages, so ``make frameworks`` installs them; elsewhere these tests are skipped.
"""

from __future__ import annotations

import sys

import pytest

from runtape.playback import Replayer
from runtape.recording import record
from runtape.tape.events import TOOL_CALL, TOOL_RESULT
from runtape.tape.reader import Tape
from tests.support import frameworks
from tests.support.agents import NOWHERE, Bench, gardener, run
from tests.support.loopback import Loopback
from tests.support.recorded import API_KEY, calls_on, events_on, sent_on

pytestmark = [  # what they think of one another
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:pydantic._internal._generate_schema"),
]


def agent_of(cases, name):
    """A case's agent; skipped where its package is missing."""
    package, agent = cases[name]
    pytest.importorskip(package, reason=f"{package} is not installed: see make frameworks")
    if name.startswith("pydantic-ai-anthropic") and sys.version_info < (3, 11):
        pytest.skip("this model of pydantic-ai does not run on Python 3.10, recorded or not")
    return agent


@pytest.mark.parametrize("name", frameworks.CASES)
def test_a_framework_is_recorded_and_replayed(name, tmp_path):
    """Same result with a recorder, each call on the tape once, exactly; and again from the tape."""
    agent = agent_of(frameworks.CASES, name)
    with Loopback(gardener) as server:
        alone = run(agent, Bench(server.url))
    with Loopback(gardener) as server, record(dir=tmp_path) as recorder:
        recorded = run(agent, Bench(server.url, recorder))
        arrived = [request.raw for request in server.requests]
    assert recorded == alone
    assert recorder.faults == 0
    assert sent_on(recorder.path) == arrived
    calls = calls_on(recorder.path)
    assert [response.payload["terminal"] for _, response in calls] == [True] * len(arrived)
    assert API_KEY.encode() not in recorder.path.read_bytes()
    _check_tools(recorder.path, calls)
    with Replayer(Tape.open(recorder.path)) as replayer:
        assert run(agent, Bench(NOWHERE, replayer)) == recorded


def _check_tools(path, calls):
    """Each tool call was asked for by the model, under the id it is recorded with."""
    asked = {
        call["id"]: call["name"]
        for _, response in calls
        for call in response.payload["derived"]["replies"][0]["tool_calls"]
    }
    made = events_on(path, TOOL_CALL)
    if made:
        assert {e.payload["call_id"]: e.payload["name"] for e in made} == asked
        assert len(made) == len(asked) == len(events_on(path, TOOL_RESULT))


@pytest.mark.parametrize("name", frameworks.UNKNOWN)
def test_wires_nobody_knows(name, tmp_path):
    """A path that is no known API's is left alone: not recorded, and not disturbed."""
    agent = agent_of(frameworks.UNKNOWN, name)
    answers = {
        "ollama": {"message": {"role": "assistant", "content": "Moist."}},
        "google-genai": {"candidates": [{"content": {"parts": [{"text": "Moist."}]}}]},
    }
    with Loopback(lambda *_: answers[name]) as server, record(dir=tmp_path) as recorder:
        assert run(agent, Bench(server.url, recorder)) == "Moist."
    assert len(server.requests) == 1
    assert events_on(recorder.path) == []
    assert recorder.faults == 0
