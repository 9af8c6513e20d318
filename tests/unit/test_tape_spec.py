from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from runtape.tape.events import Span
from runtape.tape.reader import Tape
from runtape.tape.writer import TapeWriter

SPEC = Path(__file__).parents[2] / "SPEC.md"


def block(language: str) -> str:
    """The first code block of this language in SPEC.md."""
    found = re.search(
        rf"^```{language}\n(.*?)^```$", SPEC.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert found is not None
    return found[1]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The example tape of SPEC.md as a file."""
    path = tmp_path / "example.jsonl"
    path.write_text(block("jsonl"), "utf-8")
    return path


def test_example_is_a_sound_tape(example: Path) -> None:
    """The example opens without a problem, digests included, and its request is the one shown."""
    tape = Tape.open(example)
    assert not tape.verify()
    assert (tape.name, tape.run_id, tape.version, tape.ended) == (
        "billing",
        "5f0c6a7be912",
        2,
        True,
    )
    request = tape.request(5)
    assert request.text == block("json").rstrip("\n")
    assert [span.event for span in request.spans] == [1, 5, 1]
    assert request.spans[0] == Span(0, 67, 1)  # 69 bytes: the example is not ASCII


def test_example_is_written_as_described(example: Path, tmp_path: Path) -> None:
    """The writer gives the example byte for byte, but for run id and times."""
    writer = TapeWriter.create(tmp_path, "billing")
    tape = Tape.open(example)
    for event in tape:
        if event.type == "llm_request":
            fields = ("body", "base", "splice", "sha256", "bytes")
            payload = {k: v for k, v in event.payload.items() if k not in fields}
            body = tape.request(event.id).text.encode()
            writer.append_request(payload, writer.delta(body), parent=event.parent)
        else:
            writer.append(event.type, event.payload, parent=event.parent, meta=event.meta)
    writer.close()
    assert neutral(writer.path.read_text("utf-8")) == neutral(example.read_text("utf-8"))


def neutral(lines: str) -> str:
    """Lines without what differs from run to run."""
    lines = re.sub(r'"ts":[\d.]+', '"ts":0', lines)
    return re.sub(r'"run_id":"[0-9a-f]{12}"', '"run_id":""', lines)


def read_by_the_book(path: Path) -> dict[int, bytes]:
    """Request bodies of a tape, read with nothing but what SPEC.md says."""
    bodies: dict[int, bytes] = {}
    for raw in path.read_bytes().split(b"\n"):
        line = raw.strip(b"\0\r\t ")
        if not line:
            continue
        event = json.loads(line)
        if event["type"] != "llm_request":
            continue
        payload = event["payload"]
        if "body" in payload:
            body = payload["body"].encode()
        elif "body_base64" in payload:
            body = base64.b64decode(payload["body_base64"])
        else:
            base, splice = bodies[payload["base"]], payload["splice"]
            tail = base[len(base) - splice["tail"] :]
            body = base[: splice["head"]] + splice["insert"].encode() + tail
        assert len(body) == payload["bytes"]
        assert hashlib.sha256(body).hexdigest() == payload["sha256"]
        bodies[event["id"]] = body
    return bodies


def test_reader_written_from_the_spec_agrees(example: Path, tmp_path: Path) -> None:
    """Twenty lines written from SPEC.md read what the writer wrote, in every storage form."""
    writer = TapeWriter.create(tmp_path, "run")
    history = b'{"messages":["' + "Grüße ".encode() * 50
    sent = [history, history + b"more", b"\xff" * 10, history[:200] + b"cut", b""]
    ids = [writer.append_request({}, writer.delta(body)) for body in sent]
    writer.close()
    assert read_by_the_book(writer.path) == dict(zip(ids, sent, strict=True))
    assert len(read_by_the_book(example)) == 2
