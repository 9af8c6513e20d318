"""From a tape on disk to the sentence that did it: the whole road, with stand-in models."""

from __future__ import annotations

import asyncio
import random

import openai
import pytest

import runtape
from runtape.attribution.facts import (
    CallsChanged,
    Finished,
    Mode,
    Phase,
    PhaseChanged,
    Role,
    Verdict,
)
from runtape.dialects import dialect_for
from runtape.dialects.base import Reply, ToolCall
from runtape.jsonio import dumps, dumps_text, loads
from runtape.tape.writer import TapeWriter
from runtape.workbench.verbs import investigate, rerun, why
from tests.support import greenhouse
from tests.support.greenhouse import CAUSE, ORDER, TASK, gullible
from tests.support.loopback import Fault, Loopback

EVENT = "tool:order_seeds"
CALLS = []
"""One entry per call of :func:`counted`."""


def counted(body):
    """A model function with a stable identity, so that its answers are kept between runs."""
    CALLS.append(body)
    return gullible(body)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Replies are kept in a folder of this test."""
    monkeypatch.chdir(tmp_path)
    CALLS.clear()


def until_described(path, **options):
    """A report, and the calls paid for before the verdict: what follows is description."""
    paid = []

    def on_fact(fact):
        if isinstance(fact, CallsChanged):
            paid.append(fact.calls.made)
        if isinstance(fact, PhaseChanged) and fact.phase is Phase.DESCRIBE:
            paid.append("verdict")

    report = why(path, EVENT, on_fact=on_fact, cache=False, **options)
    calls = paid[: paid.index("verdict")] if "verdict" in paid else paid
    return report, calls[-1]


def headline(report):
    """Ref and text of the one piece that answers the question."""
    assert report.headline is not None
    (piece,) = report.headline.pieces
    return piece.ref, piece.text


def required(report):
    return [c.pieces[0].text for c in report.investigation.causes if c.role is Role.REQUIRED]


@pytest.mark.parametrize("record", [greenhouse.record, greenhouse.record_v1])
def test_the_headline_is_exactly_the_sentence(tmp_path, record):
    """Both formats: the planted sentence, nothing more, within 60 calls."""
    report, calls = until_described(record(tmp_path), model_fn=gullible)
    assert headline(report) == ("8[2].text sentence 2", CAUSE)
    assert report.headline.without.same == 0
    assert report.headline.p < report.headline.level
    assert calls <= 60
    assert report.investigation.mode is Mode.CONSISTENT


def test_what_is_needed_is_required_and_never_the_headline(tmp_path):
    """The looked-up bed and the task are inputs: told, but not blamed."""
    report, _ = until_described(greenhouse.record(tmp_path), model_fn=gullible)
    assert required(report) == [TASK, greenhouse.BED]
    assert headline(report)[1] == CAUSE


def test_inputs_alone_are_no_cause(tmp_path):
    """Nothing pushes to it: the verdict says that it only needs the task and the bed's number."""

    def eager(body):
        said = gullible(body)
        asked = isinstance(said, dict) and said["tool"] == "get_bed"
        if asked or said == "What shall I look at?":
            return said
        return {"tool": ORDER.name, "arguments": ORDER.arguments}

    report, _ = until_described(greenhouse.record(tmp_path), model_fn=eager)
    assert report.investigation.verdict is Verdict.ONLY_REQUIRED
    assert report.headline is None
    assert set(required(report)) == {TASK, greenhouse.NUMBER}


def test_a_noisy_model_is_seen_through(tmp_path):
    """Nine times in ten with, one time in ten without: the sentence, over seeds; never an input."""
    path = greenhouse.record(tmp_path)
    found = []
    for seed in range(12):
        report, calls = until_described(path, model_fn=greenhouse.noisy(0.9, seed), runs=1)
        found.append(report.headline is not None and headline(report)[1] == CAUSE)
        assert calls <= 150
        if report.headline is not None:
            assert headline(report)[1] not in {TASK, greenhouse.BED}
    assert sum(found) >= 10


def test_a_decision_that_is_gone_is_said_so(tmp_path):
    """It does not happen again: twelve runs, and no story."""
    report = why(greenhouse.record(tmp_path), EVENT, model_fn=lambda _: "No.", cache=False)
    assert report.investigation.verdict is Verdict.DID_NOT_RECUR
    assert report.investigation.calls.made == 12
    assert report.investigation.causes == ()


def test_a_long_conversation_takes_few_calls_more(tmp_path):
    """Eighty idle messages before it: groups keep the count down."""
    path = greenhouse.record(tmp_path, filler=40)
    report, calls = until_described(path, model_fn=gullible, runs=1)
    assert headline(report)[1] == CAUSE
    assert calls <= 90


def test_temperature_zero_takes_few_calls(tmp_path):
    """Deterministic: one run a variant, two for the candidate."""
    path = greenhouse.record(tmp_path, temperature=0)
    report, calls = until_described(path, model_fn=gullible)
    assert headline(report)[1] == CAUSE
    assert report.investigation.mode is Mode.DETERMINISTIC
    assert calls <= 28


# ── other shapes ──────────────────────────────────────────────────────────────────────────────


def anthropic_body():
    blocks = []
    for call, result in greenhouse.LOOKUPS:
        use = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        done = {"type": "tool_result", "tool_use_id": call.id, "content": result}
        blocks.append({"role": "assistant", "content": [use]})
        blocks.append({"role": "user", "content": [done]})
    tools = [{"name": n, "description": n, "input_schema": {}} for n in greenhouse.NAMES]
    messages = [{"role": "user", "content": TASK}, *blocks]
    return {
        "model": "c-1",
        "max_tokens": 500,
        "system": greenhouse.SYSTEM,
        "messages": messages,
        "tools": tools,
    }


def responses_body():
    items = [{"role": "user", "content": TASK}]
    for call, result in greenhouse.LOOKUPS:
        made = {"type": "function_call", "call_id": call.id, "name": call.name}
        items.append({**made, "arguments": dumps_text(call.arguments)})
        items.append({"type": "function_call_output", "call_id": call.id, "output": result})
    tools = [{"type": "function", "name": n, "description": n} for n in greenhouse.NAMES]
    return {"model": "m-1", "instructions": greenhouse.SYSTEM, "input": items, "tools": tools}


def read_all(body):
    """Like the gullible stand-in, for any shape: looks at the whole request."""
    seen = dumps_text({key: value for key, value in body.items() if key != "tools"})
    if "loam" not in seen:
        return {"tool": "get_bed", "arguments": {"name": "north"}}
    if "north bed" not in seen or CAUSE not in seen:
        return "What is to be done?"
    return {"tool": ORDER.name, "arguments": ORDER.arguments}


@pytest.mark.parametrize(
    ("api", "body"),
    [("anthropic.messages", anthropic_body()), ("openai.responses", responses_body())],
)
def test_every_shape_leads_to_the_sentence(tmp_path, api, body):
    """The same story in the other wire shapes has the same answer."""
    dialect = dialect_for(api)
    writer = TapeWriter.create(tmp_path, "other")
    writer.append("run_start", {})
    payload = {"api": api, "provider": dialect.provider, "headers": {}, "query": {}}
    asked = writer.append_request(payload, writer.delta(dumps(body)))
    reply = greenhouse.calling(ORDER)
    answer = {"status": 200, "derived": {"replies": [reply.to_json()]}}
    writer.append("llm_response", answer, parent=asked)
    writer.close()
    report, calls = until_described(writer.path, model_fn=read_all, runs=1)
    assert headline(report)[1] == CAUSE
    assert greenhouse.BED in required(report)
    assert calls <= 65


# ── interruption ──────────────────────────────────────────────────────────────────────────────


async def _stopped_after(path, replies):
    """Investigate until so many replies came, then cancel the task; returns its last report."""
    reports, cancelled = [], []

    async def consume():
        async for fact in investigate(path, EVENT, model_fn=counted, runs=1):
            if isinstance(fact, Finished):
                reports.append(fact.report)
            if isinstance(fact, CallsChanged) and fact.calls.made >= replies and not cancelled:
                cancelled.append(task.cancel())

    task = asyncio.ensure_future(consume())
    await asyncio.gather(task, return_exceptions=True)
    return reports[-1]


@pytest.mark.parametrize("seed", range(4))
def test_an_interrupted_why_resumes_without_paying_twice(tmp_path, seed):
    """Cancelled at random points again and again: every call is made once, the end is the same."""
    path = greenhouse.record(tmp_path)
    whole = why(path, EVENT, model_fn=counted, runs=1, cache_folder=tmp_path / "other")
    at_once = len(CALLS)
    CALLS.clear()
    dice = random.Random(seed)
    interrupted = 0
    for _ in range(50):
        report = asyncio.run(_stopped_after(path, dice.randint(1, 15)))
        if report.verdict is not Verdict.INTERRUPTED:
            break
        interrupted += 1
    assert interrupted >= 2
    assert report.verdict is Verdict.ATTRIBUTED
    assert report.causes == whole.investigation.causes
    assert len(CALLS) == at_once


def test_a_failing_function_keeps_what_it_answered(tmp_path):
    """It raises at its 20th call: the report is partial; afterwards only the rest is paid for."""
    path = greenhouse.record(tmp_path)
    whole = why(path, EVENT, model_fn=gullible, runs=1, cache=False)
    source = (
        "from tests.support.greenhouse import gullible\n"
        "from pathlib import Path\n"
        "def answer(body):\n"
        "    log = Path('log')\n"
        "    with log.open('a') as file:\n"
        "        file.write('x')\n"
        "    if Path('limit').exists() and log.stat().st_size >= 20:\n"
        "        raise RuntimeError('out of paper')\n"
        "    return gullible(body)\n"
    )
    (tmp_path / "flaky.py").write_text(source)
    (tmp_path / "limit").touch()
    broken = why(path, EVENT, model_fn="flaky.py:answer", runs=1, workers=1).investigation
    assert broken.verdict is Verdict.PROVIDER_FAILED
    assert "out of paper" in broken.failure
    assert broken.calls.made == 19
    (tmp_path / "limit").unlink()
    mended = why(path, EVENT, model_fn="flaky.py:answer", runs=1).investigation
    assert mended.verdict is Verdict.ATTRIBUTED
    assert mended.calls.cached == 19
    assert mended.calls.made + 19 == whole.investigation.calls.made


# ── over the wire ─────────────────────────────────────────────────────────────────────────────


def answered(body):
    """What the server says: the stand-in's answer, as many times as choices are asked for."""
    said = gullible(body)
    reply = Reply(said)
    if not isinstance(said, str):
        reply = greenhouse.calling(ToolCall(said["tool"], said["arguments"], "call_9"))
    return [reply] * body.get("n", 1)


def test_a_real_server_is_asked_like_the_recorded_one(tmp_path):
    """Over sockets, through the SDK: same path, same body but for choices; then from the cache."""
    with Loopback(lambda _api, body, _n: answered(body)) as server:
        path = greenhouse.record(tmp_path, origin=server.url)
        report = why(path, EVENT, workers=8, runs=1)
        again = why(path, EVENT, runs=1)
        changed = rerun(path, EVENT, drop=[headline(report)[0]], runs=3)
    assert headline(report)[1] == CAUSE
    assert report.investigation.calls.requests < report.investigation.calls.made
    assert again.investigation.calls.requests == 0
    assert again.headline == report.headline
    assert changed.never_calls("order_seeds")
    assert {request.path for request in server.requests} == {"/v1/chat/completions"}
    sent = [{k: v for k, v in r.body.items() if k != "n"} for r in server.requests]
    assert greenhouse.body() in sent
    names = {tuple(tool["function"]["name"] for tool in body["tools"]) for body in sent}
    assert names == {greenhouse.NAMES}


def test_a_server_that_breaks_down_leaves_a_partial_report(tmp_path):
    """A refusal in the middle: what arrived is in the report, with the server's words."""

    def handler(_api, body, number):
        if number >= 6:
            return Fault(403, body={"error": {"message": "key withdrawn"}})
        return answered(body)

    with Loopback(handler) as server:
        path = greenhouse.record(tmp_path, origin=server.url)
        report = why(path, EVENT, workers=2, runs=1)
    found = report.investigation
    assert found.verdict is Verdict.PROVIDER_FAILED
    assert "key withdrawn" in found.failure
    assert found.baseline.runs >= 6
    assert found.calls.made > 0


def test_what_was_recorded_can_be_explained():
    """An agent runs under the recorder against a server; its last decision is explained there."""

    def read_notes(bed: str) -> str:
        return greenhouse.NOTES if bed == greenhouse.NUMBER else "[]"

    def get_bed(name: str) -> str:
        return greenhouse.BED if name == "north" else "{}"

    def order_seeds(bed: str, item: str, trays: int) -> str:
        return f"{trays} trays of {item} for {bed}"

    def agent_of_the_nursery(_api, body, _number):
        said = gullible(body)
        unread = not any(message.get("tool_call_id") == "call_2" for message in body["messages"])
        if unread and "soil" in str(body["messages"]):
            said = {"tool": "read_notes", "arguments": {"bed": greenhouse.NUMBER}}
        reply = Reply(said)
        if not isinstance(said, str):
            number = 1 + greenhouse.NAMES.index(said["tool"])
            call = ToolCall(said["tool"], said["arguments"], f"call_{number}")
            reply = greenhouse.calling(call)
        return [reply] * body.get("n", 1)

    with Loopback(agent_of_the_nursery) as server, runtape.record("nursery", dir="traces") as rec:
        tools = {f.__name__: rec.tool(f) for f in (get_bed, read_notes, order_seeds)}
        with openai.OpenAI(api_key="test", base_url=f"{server.url}/v1") as plain:
            client = rec.wrap(plain)
            seen = greenhouse.messages(0)
            while "order_seeds" not in str(seen):
                answer = client.chat.completions.create(
                    model="m-1", messages=seen, tools=greenhouse.TOOLS
                )
                (call,) = answer.choices[0].message.tool_calls
                result = tools[call.function.name](**loads(call.function.arguments))
                seen.append(answer.choices[0].message.model_dump(exclude_none=True))
                seen.append({"role": "tool", "tool_call_id": call.id, "content": result})
        rec.close()
        report = runtape.why("last", EVENT, runs=1)
    assert headline(report)[1] == CAUSE
    assert report.investigation.decision.calls[0].arguments == ORDER.arguments
    assert greenhouse.BED in required(report)
