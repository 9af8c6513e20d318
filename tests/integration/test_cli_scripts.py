"""``runtape run`` and ``runtape replay``: unmodified scripts, recorded and played back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runtape.dialects.base import Reply
from runtape.tape.events import ERROR, LLM_REQUEST, RUN_END, RUN_START
from runtape.tape.reader import Tape
from tests.support.loopback import Loopback
from tests.support.recorded import API_KEY, events_on, sent_on

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
AGENT = f"""
import os, sys
from openai import OpenAI
from helper import NAME

with OpenAI(api_key={API_KEY!r}, base_url=os.environ["SERVER"] + "/v1", max_retries=0) as client:
    said = client.chat.completions.create(
        model="m", messages=[{{"role": "user", "content": sys.argv[1]}}]
    )
print(__name__, sys.modules["__main__"].NAME, said.choices[0].message.content)
if sys.argv[1] == "fail":
    raise ValueError("as asked")
sys.exit(len(sys.argv))
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with a script and a module beside it."""
    place = tmp_path / "scripts"
    place.mkdir()
    (place / "agent.py").write_text(AGENT, "utf-8")
    (place / "helper.py").write_text("NAME = 'helped'\n", "utf-8")
    return tmp_path


def runtape(folder, *words, server="http://127.0.0.1:9"):
    """Run the command line in `folder`."""
    command = [sys.executable, "-m", "runtape.cli", *map(str, words)]
    env = {**os.environ, "SERVER": server, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    env.pop("RUNTAPE_DIR", None)
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False
    )


def traces(folder):
    """The tapes there, oldest first."""
    return sorted((folder / "traces").glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)


def test_a_script_is_recorded_and_replayed_as_it_is(folder):
    """Arguments, exit code, output and ``__main__`` are the script's own; no secret is kept."""
    words = ("scripts/agent.py", "hello", "--api-key", API_KEY, "-n")
    with Loopback(lambda *_: Reply("good day")) as server:
        done = runtape(folder, "run", "--name", "mine", *words, server=server.url)
    assert (done.returncode, done.stdout) == (5, "__main__ helped good day\n")
    [path] = traces(folder)
    assert path.name in done.stderr
    assert "-mine-" in path.name
    assert API_KEY.encode() not in path.read_bytes()
    [start] = events_on(path, RUN_START)
    assert start.payload["argv"][:2] == ["scripts/agent.py", "hello"]
    again = runtape(folder, "replay", "last", "--", *words)
    assert (again.returncode, again.stdout) == (5, "__main__ helped good day\n")
    assert again.stderr == "runtape: replayed\n"
    assert traces(folder) == [path]


def test_a_script_that_fails_fails_alike(folder):
    """Its traceback without ours, exit code 1, and the error on the tape."""
    with Loopback(lambda *_: Reply("no")) as server:
        done = runtape(folder, "run", "scripts/agent.py", "fail", server=server.url)
    assert done.returncode == 1
    assert "ValueError: as asked" in done.stderr
    assert "runtape/cli" not in done.stderr
    [path] = traces(folder)
    assert events_on(path, ERROR)[0].payload["message"] == "as asked"
    assert events_on(path, RUN_END)[0].payload["status"] == "error"


def test_a_script_that_does_something_else_is_stopped(folder):
    """Exit code 3, with the difference; or, if asked, it goes on live into a new tape."""
    with Loopback(lambda *_: Reply("good day")) as server:
        runtape(folder, "run", "scripts/agent.py", "hello", server=server.url)
        stopped = runtape(folder, "replay", "last", "--", "scripts/agent.py", "goodbye")
        words = ("replay", "last", "--on-diverge", "live", "--", "scripts/agent.py", "goodbye")
        live = runtape(folder, *words, server=server.url)
    assert stopped.returncode == 3
    assert 'recorded: "hello"' in stopped.stderr
    assert stopped.stdout == ""
    assert live.returncode == 2
    assert "went on live" in live.stderr
    first, second = traces(folder)
    assert Tape.open(second)[0].payload["replay_of"] == Tape.open(first).run_id


def test_modules_and_what_is_not_there(folder):
    """``-m`` works; a script that is not there is a usage error."""
    done = runtape(folder, "run", "-m", "json.tool", "--help")
    assert done.returncode == 0
    assert "no model call" in done.stderr
    missing = runtape(folder, "run", "nothing.py")
    assert missing.returncode == 2
    assert "nothing.py" in missing.stderr
    assert traces(folder) == []


EXAMPLE_SCRIPTS = sorted(
    path.name
    for path in EXAMPLES.glob("*.py")
    if "__main__" in path.read_text("utf-8") and "langgraph" not in path.name
)


@pytest.mark.parametrize("script", EXAMPLE_SCRIPTS)
def test_every_example_replays_offline(tmp_path, script):
    """Its stand-in gone, its tools served: the same requests, byte for byte, the same answer."""
    first = runtape(tmp_path, "run", EXAMPLES / script)
    assert first.returncode == 0, first.stderr
    [path] = traces(tmp_path)
    again = runtape(tmp_path, "replay", path, "--", EXAMPLES / script)
    assert again.returncode == 0, again.stderr
    assert again.stderr.endswith("runtape: replayed\n")
    replayed = next(other for other in traces(tmp_path) if other != path)
    assert sorted(sent_on(replayed)) == sorted(sent_on(path))  # agents at once take turns anyhow
    assert len(sent_on(path)) > 1
    said, said_again = (done.stdout.partition("\nrecorded:")[0] for done in (first, again))
    assert sorted(said.splitlines()) == sorted(said_again.splitlines())
    assert len(events_on(path, LLM_REQUEST)) == len(events_on(replayed, LLM_REQUEST))
