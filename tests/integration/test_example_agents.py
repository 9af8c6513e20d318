"""The examples for LangGraph and for agents at once: they run, and their docstrings are true."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from runtape.tape.reader import Tape
from tests.support.command import PATIENCE, environment, run

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
CAUSES = {
    "langgraph_agent": "asks that this applicant be invited",
    "async_agent": "cancel the rest of the stay",
}


@pytest.mark.parametrize("name", CAUSES)
def test_the_command_in_the_docstring_finds_the_cause(name, tmp_path):
    """The example records offline, and the command it names points at the planted sentence."""
    if name == "langgraph_agent":
        pytest.importorskip("langgraph", reason="langgraph is not installed")
        pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    script = EXAMPLES / f"{name}.py"
    _run_script(script, tmp_path)
    [command] = re.findall(r"^    runtape (why .*)$", script.read_text("utf-8"), re.MULTILINE)
    words = [w.replace("examples/", f"{EXAMPLES}/") for w in shlex.split(command)]
    ran = run(tmp_path, *words, "--json")
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    assert report["verdict"] == "attributed"
    [cause] = [cause for cause in report["causes"] if cause["headline"]]
    assert CAUSES[name] in cause["text"]
    assert report["decision"]["fidelity"] == {}


def test_agents_at_once_are_told_apart(tmp_path):
    """Every event of the one tape says whose task it belongs to, and the tasks ran at once."""
    _run_script(EXAMPLES / "async_agent.py", tmp_path)
    [path] = (tmp_path / "traces").glob("*.jsonl")
    tape = Tape.open(path)
    tasks = []
    for event in tape:
        if event.type == "tool_call":
            task = event.payload["scope"]["task"]
            assert task == f"room {event.payload['arguments']['room']}"
        if event.type == "llm_request":
            tasks.append(event.payload["scope"]["task"])
            assert f"this is {tasks[-1]}." in tape.request(event.id).text
    assert set(tasks[:2]) == {"room 12", "room 31"}
    assert len(tasks) == 8


def _run_script(script, folder):
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
