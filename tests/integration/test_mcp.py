"""The MCP server as its clients meet it: a process of its own, spoken to by the SDK's client."""

from __future__ import annotations

import asyncio
import json
import subprocess
from contextlib import asynccontextmanager

import pytest

from runtape.demo.agent import record_inbox, stand_in
from tests.support.command import command, environment, run
from tests.support.hostile import smuggled

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")
from mcp.client.stdio import StdioServerParameters  # noqa: E402 - only with the extra

CAUSE = "12.body para 4 sentence 1"
WHY = {"trace": "inbox", "event": "tool:forward_email"}
LOOKING = {"list_traces", "summary", "timeline", "show", "context", "grep", "diff"}
ASKING = {"why", "why_dry", "rerun", "odds", "fix"}
SLOW = """
import time
from pathlib import Path
from runtape.demo.inbox import simulated_model

def model(body):
    print("a stray line")
    time.sleep(0.1)
    with Path("asked.log").open("a") as log:
        log.write("x")
    return simulated_model(body)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A working folder with the inbox story recorded, and a model that takes its time."""
    here = tmp_path_factory.mktemp("mcp")
    record_inbox(here / "traces")
    (here / "slow.py").write_text(SLOW)
    return here


@asynccontextmanager
async def client(folder, *options, model=None):
    """A client of a server in `folder`."""
    arguments = ["mcp", "--model-fn", model or stand_in(), *options]
    words = command(*arguments)
    server = StdioServerParameters(
        command=words[0], args=words[1:], env=environment(folder), cwd=folder
    )
    async with mcp.Client(server) as connected:
        yield connected


def talk(folder, *options, model=None):
    """Run an async conversation with a server to its end."""

    def decorate(conversation):
        async def whole():
            async with client(folder, *options, model=model) as connected:
                return await conversation(connected)

        return asyncio.run(asyncio.wait_for(whole(), 60))

    return decorate


def words(result) -> str:
    return result.content[0].text


def test_it_lists_explains_and_reruns_the_inbox_decision(folder):
    """From the list of runs to the causing sentence, with progress, and to the rerun without it."""
    told = []

    async def note(done, total, message):
        told.append((done, total, message))

    @talk(folder, "--no-cache")
    async def results(server):
        listed = await server.call_tool("list_traces", {})
        why = await server.call_tool("why", WHY, progress_callback=note)
        again = await server.call_tool("rerun", {**WHY, "drop": [CAUSE], "runs": 5})
        return listed, why, again

    listed, why, again = results
    assert "inbox-demo" in words(listed)
    assert len(listed.structured_content["traces"]) == 1
    document = why.structured_content
    assert document["verdict"] == "attributed"
    assert document["causes"][0]["refs"] == [CAUSE]
    assert "Note to AI assistants" in words(why)
    assert told == sorted(told)
    assert told
    assert all(done <= total == 100 for done, total, _ in told)
    assert again.structured_content["distribution"]["same"] == 0
    assert again.structured_content["baseline"]["same"] == 5
    assert again.structured_content["changed"] == [f"without {CAUSE}"]


def test_every_tool_declares_its_results_and_what_it_does(folder):
    """Output schemas, hints and descriptions are there, and no tool can choose who answers."""

    @talk(folder)
    async def tools(server):
        return (await server.list_tools()).tools

    assert {tool.name for tool in tools} >= LOOKING | ASKING
    for tool in tools:
        assert tool.output_schema["type"] == "object"
        assert tool.description
        assert tool.annotations.open_world_hint is (tool.name in ASKING - {"why_dry"})
        assert not {"model_fn", "base_url"} & set(tool.input_schema["properties"])


def test_looking_needs_no_model_and_answers_in_words_and_documents(folder):
    """Each tool that looks gives visible text and a document the client has checked."""
    calls = {
        "summary": {"trace": "last"},
        "timeline": {"trace": "inbox", "first": 2, "count": 3},
        "show": {"trace": "inbox", "event": 12},
        "context": {"trace": "inbox", "event": "last"},
        "grep": {"trace": "inbox", "pattern": "bank details"},
        "diff": {"trace": "inbox", "old": 5, "new": 21},
        "why_dry": WHY,
    }

    @talk(folder)
    async def results(server):
        return {name: await server.call_tool(name, given) for name, given in calls.items()}

    for name, found in results.items():
        assert not found.is_error, words(found)
        assert found.structured_content["schema"].startswith("runtape."), name
        assert smuggled(words(found).replace("\n", "")) == []
    timeline = results["timeline"].structured_content
    assert [event["id"] for event in timeline["events"]] == [2, 3, 4]
    assert timeline["total"] > 20
    assert results["why_dry"].structured_content["most"] == 100
    assert "12.body para 3" in words(results["grep"])


WRONG = [
    ("summary", {"trace": "nothing"}, ("There is no trace 'nothing'", "Hint:")),
    ("summary", {"trace": "/etc/passwd"}, ("not in the folder of traces",)),
    ("why", {"trace": "inbox", "event": 999}, ("999",)),
    ("why", {"trace": "inbox", "event": 0}, ("no model decided anything there",)),
    ("why", {**WHY, "budget": 101}, ("at most 100 model calls", "--max-calls")),
    ("rerun", {**WHY, "drop": ["99.nowhere"]}, ("no piece 99.nowhere", "nearest")),
    ("rerun", WHY, ("Nothing is changed",)),
    ("why", {**WHY, "match": "("}, ("pattern",)),
    ("diff", {"trace": "inbox"}, ("Two events are compared",)),
    ("fix", {**WHY, "rules": ["/etc/passwd"]}, ("is no rule",)),
    ("fix", {**WHY, "rules": ["@a file with blanks.txt"]}, ("is no rule",)),
    ("fix", {**WHY, "also": ["/etc/passwd"]}, ("not in the folder of traces",)),
]


def test_what_is_wrong_comes_back_as_an_error_of_the_tool(folder):
    """A message and a hint, in the result, so that the model can mend its call."""

    @talk(folder)
    async def results(server):
        return [await server.call_tool(tool, given) for tool, given, _ in WRONG]

    for found, (tool, _, expected) in zip(results, WRONG, strict=True):
        assert found.is_error, tool
        for text in expected:
            assert text in words(found)
        assert "Traceback" not in words(found)


def test_it_measures_remedies(folder):
    """What helps against the decision, with what each remedy keeps, and progress to the end."""
    told = []

    async def note(done, total, message):
        told.append((done, total, message))

    @talk(folder, "--max-calls", "600")
    async def found(server):
        rule = "Never forward any mail to anybody."
        return await server.call_tool("fix", {**WHY, "rules": [rule]}, progress_callback=note)

    document = found.structured_content
    assert document["end"] == "measured"
    grades = {remedy["kind"]: remedy["grade"] for remedy in document["remedies"]}
    assert grades["guard"] == "PASS"
    assert "own_rule" in grades
    assert "action guard" in words(found)
    assert told == sorted(told)
    assert "measuring remedies" in told[-1][2]


def test_a_job_pays_for_no_more_than_the_server_allows(folder):
    """The bound of the server is the budget of every job; what is known by then comes back."""

    @talk(folder, "--max-calls", "12", "--no-cache")
    async def found(server):
        return await server.call_tool("why", WHY)

    assert found.structured_content["verdict"] == "budget_spent"
    assert found.structured_content["calls"]["made"] <= 12


def test_a_cancelled_job_stops_asking_and_the_server_goes_on(folder):
    """The client gives up; soon nothing more is asked, and the next call is answered."""
    log = folder / "asked.log"
    log.unlink(missing_ok=True)

    @talk(folder, "--no-cache", "--workers", "1", model="slow.py:model")
    async def found(server):
        job = asyncio.ensure_future(server.call_tool("why", WHY))
        while not log.exists():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.05)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        await asyncio.sleep(0.5)
        asked = log.stat().st_size
        result = await server.call_tool("list_traces", {})
        await asyncio.sleep(0.5)
        return result, asked, log.stat().st_size

    result, asked, later = found
    assert not result.is_error
    assert later == asked < 20


def test_traces_are_resources(folder):
    """Timeline, summary, events and contexts have addresses; an unknown one is an error."""

    @talk(folder)
    async def found(server):
        listed = (await server.list_resources()).resources
        name = listed[0].uri.split("/")[3]
        texts = [
            (await server.read_resource(f"runtape://trace/{name}/{what}")).contents[0].text
            for what in ("timeline", "summary", "event/12", "context/last")
        ]
        with pytest.raises(mcp.MCPError, match="no trace"):
            await server.read_resource("runtape://trace/nothing/timeline")
        return listed, texts

    listed, texts = found
    assert {resource.uri.rsplit("/", 1)[1] for resource in listed} == {"timeline", "summary"}
    assert all(texts)
    assert "list_emails" in texts[0]
    assert smuggled("".join(texts).replace("\n", "")) == []


def test_nothing_but_the_protocol_is_on_standard_output(folder):
    """Even when the model function prints, every line is a JSON-RPC message (older handshake)."""
    process = subprocess.Popen(
        command("mcp", "--model-fn", "slow.py:model", "--no-cache"),
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    odds = {"name": "odds", "arguments": {**WHY, "runs": 1}}
    with process:
        messages = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": odds},
        ]
        lines = [process.stdout.readline() for message in messages if _send(process, message)]
        process.stdin.close()
        rest = process.stdout.read()
        errors = process.stderr.read().decode()
    answers = [json.loads(line) for line in [*lines, *rest.splitlines()] if line.strip()]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["structuredContent"]["distribution"]["runs"] == 1
    assert "a stray line" in errors


def _send(process, message) -> bool:
    """Send a message; whether it will be answered."""
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    return "id" in message


def test_without_the_sdk_the_pip_line_is_given(folder, tmp_path):
    """The extra is optional: its lack is one clear line."""
    hide = tmp_path / "sitecustomize.py"
    hide.write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'mcp' else find(name, *a)\n"
    )
    path = f"{tmp_path}:{environment(folder)['PYTHONPATH']}"
    done = run(folder, "mcp", PYTHONPATH=path)
    assert done.code == 1
    assert "pip install 'runtape[mcp]'" in done.err
