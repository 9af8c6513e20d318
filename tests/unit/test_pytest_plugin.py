"""The pytest plugin: light to load, quiet where it is not used, telling where a check fails."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from tests.support import greenhouse
from tests.support.command import environment

HEAVY = {"asyncio", "click", "openai", "anthropic", "httpx", "orjson", "rich", "scipy", "textual"}
MODEL = f"""
def answer(request):
    if {greenhouse.CAUSE!r} in str(request) and "Order no seeds" not in str(request):
        return {{"tool": "order_seeds", "arguments": {{"bed": "B-17"}}}}
    return "No."
"""
TESTS = """
ASKED = {"model_fn": "fake.py:answer", "runs": 3}
EVENT = "tool:order_seeds"


def test_with_a_fix(runtape):
    dist = runtape.rerun("greenhouse.jsonl", EVENT, add_system="Order no seeds.", **ASKED)
    assert dist.never_calls("order_seeds")
    assert len(runtape.load("greenhouse.jsonl")) == 14


def test_without(runtape):
    before = runtape.rerun("greenhouse.jsonl", EVENT, add_system="Order no seeds.", **ASKED)
    assert before.never_calls("order_seeds")
    now = runtape.odds("greenhouse.jsonl", EVENT, **ASKED)
    assert now.never_calls("order_seeds"), "again"


def test_by_a_number(runtape):
    assert runtape.odds("greenhouse.jsonl", EVENT, **ASKED).rate("order_seeds") == 0


def test_of_something_else(runtape):
    assert 1 + 1 == 3


def test_nobody_there(runtape):
    runtape.odds("greenhouse.jsonl", EVENT, runs=3, base_url="http://127.0.0.1:9/v1")


def test_a_mistake(runtape):
    runtape.odds("nowhere.jsonl", EVENT)
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """What pytest says about these tests, run in a folder above theirs."""
    folder = tmp_path_factory.mktemp("plugin")
    tests = folder / "checks"
    tests.mkdir()
    greenhouse.record(tests).rename(tests / "greenhouse.jsonl")
    (folder / "fake.py").write_text(MODEL)
    (tests / "test_agent.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "checks", "-rs", "-p", "runtape.pytest_plugin"],
        cwd=folder,
        env=environment(folder, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    return done.stdout


def failure(outcome, name):
    """The part of the output that is about one test."""
    parts = outcome.split(f" {name} ")
    return parts[1].split("\n____")[0] if len(parts) > 1 else ""


def test_it_is_registered():
    """An installed runtape brings its plugin along."""
    (found,) = [e for e in entry_points(group="pytest11") if e.value == "runtape.pytest_plugin"]
    assert found.name == "runtape"


def test_it_loads_nothing_but_pytest():
    """A project that never uses it pays nothing for it."""
    code = "import pytest, sys; known = set(sys.modules); import runtape.pytest_plugin; "
    code += "print(*sorted(set(sys.modules) - known))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(done.stdout.split())
    assert loaded == {"runtape", "runtape.pytest_plugin"}
    assert not loaded & HEAVY


def test_the_fixture_asks_again(outcome):
    """A trace beside the test file, a model function in the working folder."""
    assert "3 failed" not in outcome.split("\n")[0]
    assert "4 failed, 1 passed, 1 skipped" in outcome


def test_a_failing_check_shows_what_the_model_did_and_what_explains_it(outcome):
    """The distribution of the check that failed, not of those that held."""
    told = failure(outcome, "test_without")
    assert told.count("runtape: what the model did") == 1
    assert "3/3     ● calls order_seeds" in told
    assert "runtape why checks/greenhouse.jsonl 11 --model-fn fake.py:answer" in told
    assert told.count("recorded: event 11") == 1


def test_a_comparison_shows_it_too(outcome):
    """The distribution is found among the values of the failing assertion."""
    assert "3/3     ● calls order_seeds" in failure(outcome, "test_by_a_number")


def test_other_failures_are_left_alone(outcome):
    """Nothing is said where nothing was asked."""
    assert "runtape: what" not in failure(outcome, "test_of_something_else")


def test_a_server_that_is_not_there_skips(outcome):
    """With the reason; a mistake in the test is a failure."""
    assert "no server to ask" in outcome
    assert "There is no trace" in failure(outcome, "test_a_mistake") or "no trace" in outcome
