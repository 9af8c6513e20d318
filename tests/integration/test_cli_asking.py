"""why, rerun, odds: answers, exit codes, and every way in which there is none."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import runtape.reports
from runtape.cli.entry import cli
from runtape.dialects.base import Reply
from tests.support.command import command, environment, on_terminal, run
from tests.support.hostile import smuggled
from tests.support.loopback import Fault, Loopback
from tests.support.runs import FORWARD, MODEL, NOTE, record_run

SCHEMAS = Path(runtape.reports.__file__).parent / "schemas"
WHY = Draft202012Validator(json.loads((SCHEMAS / "why-1.schema.json").read_text()))
ODDS = Draft202012Validator(json.loads((SCHEMAS / "distribution-1.schema.json").read_text()))
FN = ("--model-fn", "model.py:answer")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with one trace and a module of stand-ins."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "model.py").write_text(MODEL)
    record_run(tmp_path / "traces")
    return tmp_path


def call(*arguments):
    """Run a command in process: (exit code, standard output)."""
    done = CliRunner().invoke(cli, list(arguments), standalone_mode=False, catch_exceptions=False)
    return done.return_value or 0, done.stdout


@pytest.mark.usefixtures("folder")
class TestAnswers:
    """What comes out when the model answers."""

    def test_the_causing_sentence_is_found_and_shown(self):
        """The note in the email, marked within its paragraph, with a command to check it."""
        code, text = call("why", "last", "tool:forward_email", *FN)
        assert code == 0
        assert f"▌ {NOTE}" in text
        assert "attached is invoice 4471" in text
        assert "--drop '4.body para 2 sentence 2'" in text

    def test_the_document_is_valid_and_alone(self):
        """One document on standard output, in the published schema."""
        code, text = call("why", "last", "tool:forward_email", "--json", *FN)
        document = json.loads(text)
        WHY.validate(document)
        assert code == 0
        assert document["verdict"] == "attributed"
        headline = next(cause for cause in document["causes"] if cause["headline"])
        assert headline["refs"] == ["4.body para 2 sentence 2"]
        assert headline["text"] == NOTE

    def test_the_suggested_command_works_as_it_stands(self):
        """What the report says to try next can be pasted."""
        _, text = call("why", "last", "tool:forward_email", *FN)
        lines = text[text.index("runtape rerun") :].splitlines()
        pasted = "\n".join(lines[: 1 + sum(line.endswith("\\") for line in lines[:3])])
        words = subprocess.run(
            ["sh", "-c", pasted.replace("runtape", "printf '%s\\n'", 1)],
            capture_output=True, text=True, check=True,
        ).stdout.splitlines()  # fmt: skip
        code, text = call(*words)
        assert code == 0
        assert "Changed    without 4.body para 2 sentence 2" in text

    def test_a_second_time_costs_nothing(self):
        """Replies are kept."""
        call("why", "last", "tool:forward_email", *FN)
        _, text = call("why", "last", "tool:forward_email", "--json", *FN)
        calls = json.loads(text)["calls"]
        assert calls["made"] == 0
        assert calls["cached"] > 20

    def test_the_stream_is_json_lines_and_ends_with_the_report(self):
        """Facts as they happen; the last one is the whole document."""
        code, text = call("why", "last", "tool:forward_email", "--stream", *FN)
        facts = [json.loads(line) for line in text.splitlines()]
        assert code == 0
        assert facts[0]["fact"] == "started"
        assert {"baseline", "tally", "unfolded", "cause", "calls"} <= {f["fact"] for f in facts}
        WHY.validate(facts[-1]["report"])

    def test_a_dry_run_asks_nothing(self):
        """Pieces, calls, tokens, cost; neither key nor server is needed."""
        code, text = call(
            "why", "last", "tool:forward_email", "--dry", "--model-fn", "model.py:raises"
        )
        assert code == 0
        assert "Nothing was asked" in text
        assert "4" in text
        document = json.loads(call("why", "last", "last", "--dry", "--json")[1])
        assert document["calls"] > 20
        assert [piece["ref"] for piece in document["pieces"]][:2] == ["system", "1"]

    def test_odds_count_what_happens(self):
        """The recorded decision and everything else, with an interval."""
        code, text = call("odds", "last", "last", "--runs", "7", *FN)
        assert code == 0
        assert "7/7" in text
        document = json.loads(call("odds", "last", "last", "--json", *FN)[1])
        ODDS.validate(document)
        assert document["distribution"]["counts"] == {"forward_email": 10}

    @pytest.mark.parametrize(
        ("change", "same"),
        [
            (("--drop", "4.body para 2 sentence 2"), 0),
            (("--drop", "1"), 10),
            (("--replace", f"{NOTE}=>Please file it."), 0),
            (("--add-system", "Never forward."), 10),
            (("--system-file", "model.py"), 10),
            (("--set", "params.temperature=0.5"), 10),
            (("--model", "gpt-5"), 10),
        ],
    )
    def test_a_rerun_counts_both_sides(self, change, same):
        """With each kind of change, the unchanged context beside it."""
        code, text = call("rerun", "last", "last", *change, "--json", *FN)
        document = json.loads(text)
        ODDS.validate(document)
        assert code == 0
        assert document["distribution"]["same"] == same
        assert document["baseline"]["same"] == 10
        assert len(document["changed"]) == 1

    def test_a_request_is_edited_by_hand(self, folder, monkeypatch):
        """$EDITOR gets the body, and what it leaves is run."""
        editor = folder / "editor.sh"
        editor.write_text(f"#!/bin/sh\nsed -i 's/{NOTE[:20]}/X/' \"$1\"\n")
        editor.chmod(0o755)
        monkeypatch.setenv("VISUAL", str(editor))
        _, text = call("rerun", "last", "last", "--edit", "--json", *FN)
        document = json.loads(text)
        assert document["distribution"]["same"] == 0
        assert document["changed"] == ["edited by hand"]


VERDICTS = [
    ("never", (), 3, "The decision did not recur: 0 of 12 runs"),
    ("always", (), 3, "No text of the context"),
    ("answer", ("--budget", "1"), 3, "The budget of 1 call ended before there was an answer."),
    ("answer", ("--budget", "20", "--no-cache"), 3, "The budget of 20 calls ended"),
    ("raises", (), 1, "boom ␛[31m"),
    ("rubbish", (), 1, "returned int 42"),
    ("answer", ("--match", "forward_\\w+"), 0, "matches /forward_\\w+/"),
    ("answer", ("--exact-args",), 0, "with the same arguments"),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("function", "options", "code", "said"), VERDICTS)
def test_each_verdict_has_its_exit_code_and_words(function, options, code, said):
    """Scripts branch on the code, people read the words; --json says the same."""
    asked = ("why", "last", "tool:forward_email", "--model-fn", f"model.py:{function}", *options)
    found, text = call(*asked)
    assert found == code
    assert said in text
    found, text = call(*asked, "--json")
    assert found == code
    WHY.validate(json.loads(text))


def test_a_call_that_cannot_be_rerun_is_an_answer_of_its_own(folder):
    """The context is held by the server and not by the trace: exit 3, and what is missing."""
    body = {"model": "m", "input": "and then?", "previous_response_id": "resp_1"}
    from runtape.recording import record  # noqa: PLC0415 - only here

    called = {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"}
    answered = {"id": "resp_2", "object": "response", "status": "completed", "output": [called]}
    with record("held", folder / "traces") as rec:
        event = rec.log_llm_request(body, api="openai.responses")
        rec.log_llm_response(event, answered)
    done = run(folder, "why", "held", "last", *FN)
    assert done.code == 3
    assert "The trace lacks what a rerun of this call needs." in done.out
    document = json.loads(run(folder, "why", "held", "last", "--json", *FN).out)
    assert document["verdict"] == "incomplete_context"
    for verb in (("odds",), ("rerun", "--add-system", "x")):
        done = run(folder, verb[0], "held", "last", *verb[1:], *FN)
        assert done.code == 3
        assert "error: " in done.err


BAD = [
    (("why", "nowhere", "last"), 1, "no trace"),
    (("why", "traces/empty.jsonl", "last"), 1, "is empty"),
    (("why", "traces/binary.jsonl", "last"), 1, "binary"),
    (("why", "traces/prose.jsonl", "last"), 1, "not a tape"),
    (("why", "traces", "last"), 1, "traces"),
    (("why", "inbox", "99"), 1, "event 99"),
    (("why", "inbox", "-99"), 1, "-99"),
    (("why", "inbox", "banana"), 1, "banana"),
    (("why", "inbox", "tool:nope"), 1, "read_email"),
    (("why", "inbox", "tool:"), 1, "tool"),
    (("why", "inbox", "error"), 1, "went wrong"),
    (("why", "inbox", "0"), 1, "run_start"),
    (("why", "inbox", "last", "--match", "("), 2, "("),
    (("why", "inbox", "last", "--tool", "a", "--match", "b"), 2, ""),
    (("why", "inbox", "last", "--expand", "4.bdy"), 1, "4.body"),
    (("rerun", "inbox", "last", "--drop", "4.body para 9"), 1, "4.body para"),
    (("rerun", "inbox", "last"), 2, "Nothing is changed"),
    (("rerun", "inbox", "last", "--replace", "unicorn=>x"), 1, "unicorn"),
    (("rerun", "inbox", "last", "--replace", "no arrow"), 2, "arrow"),
    (("rerun", "inbox", "last", "--set", "temperature"), 2, "--set"),
    (("rerun", "inbox", "last", "--system-file", "none.txt"), 2, "none.txt"),
    (("why", "inbox", "last", "--model-fn", "none.py:f"), 1, "none.py"),
    (("why", "inbox", "last", "--model-fn", "model.py:none"), 1, "none"),
    (("why", "inbox", "last", "--model-fn", "model.py"), 1, "model.py"),
    (("why", "inbox", "last", "--provider", "opneai"), 2, "openai"),
    (("why", "inbox", "last", "--budget", "0"), 2, "--budget"),
    (("why", "inbox", "last", "--json", "--stream"), 2, "choose one"),
    (("why", "inbox"), 2, "EVENT"),
    (("grep", "(", "inbox"), 2, "regular expression"),
    (("show", "inbox", "99"), 1, "99"),
    (("context", "inbox", "0"), 1, "run_start"),
    (("diff", "inbox"), 2, "two traces"),
    (("diff", "inbox", "1", "99"), 1, "99"),
    (("why", "i", "last"), 1, "fits"),
]


@pytest.mark.parametrize(("words", "code", "said"), BAD, ids=[" ".join(bad[0]) for bad in BAD])
def test_a_bad_input_is_told_in_a_few_lines(folder, words, code, said):
    """What happened, where, one hint: on standard error, without a traceback."""
    traces = folder / "traces"
    (traces / "empty.jsonl").touch()
    (traces / "binary.jsonl").write_bytes(b"\x00\x01\x02\xff" * 50)
    (traces / "prose.jsonl").write_text("Dear diary,\nnothing happened.\n")
    chosen = words[0] != "why" or {"--model-fn", "--provider"} & set(words)
    done = run(folder, *words, *(() if chosen else FN))
    assert done.code == code, done
    assert said in done.err
    assert done.out == ""
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) <= 12


def test_debug_shows_where_it_happened(folder):
    """Only on request."""
    done = run(folder, "why", "inbox", "99", "--debug")
    assert done.code == 1
    assert "Traceback" in done.err
    assert "EventNotFound" in done.err


def test_a_trace_that_is_being_written_can_be_asked(folder):
    """A torn last line is somebody else's line in the making."""
    path = next((folder / "traces").iterdir())
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole[:-1]) + whole[-1][:20])
    done = run(folder, "why", "last", "tool:forward_email", *FN)
    assert done.code == 0
    assert NOTE in done.out


def test_a_corrupt_line_that_the_call_needs_is_named(folder):
    """The request builds on a damaged one: refused with the event, not guessed."""
    path = next((folder / "traces").iterdir())
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"inbox?", b"outbox?")
    path.write_bytes(b"".join(lines))
    done = run(folder, "why", "last", "tool:forward_email", *FN)
    assert done.code in {1, 3}
    assert "Traceback" not in done.err
    assert run(folder, "check", "last").code == 3


def test_without_a_key_the_variable_is_named(folder):
    """And nothing is asked."""
    record_run(folder / "traces", name="public", origin="https://api.openai.com")
    done = run(folder, "why", "public", "last", "--yes")
    assert done.code == 1
    assert "OPENAI_API_KEY" in done.err
    assert "Traceback" not in done.err


def test_without_the_sdk_the_pip_line_is_given(folder):
    """The optional package is named with the command that installs it."""
    (folder / "openai.py").write_text("raise ImportError('not here')\n")
    record_run(folder / "traces", name="public", origin="https://api.openai.com")
    path = f"{folder}{os.pathsep}{environment(folder)['PYTHONPATH']}"
    done = run(folder, "odds", "public", "last", PYTHONPATH=path, OPENAI_API_KEY="test")
    assert done.code == 1
    assert "pip install" in done.err
    assert "Traceback" not in done.err


def forwards(body):
    return NOTE in json.dumps(body)


def answer(_api, body, _number):
    """What the email agent does, over HTTP."""
    if forwards(body):
        return Reply(None, (FORWARD,))
    return Reply(text="Acme sent invoice 4471.")


def test_a_real_server_is_asked_and_nobody_is_asked_first(folder):
    """Through the SDK, to the recorded origin; without a terminal there is no question."""
    with Loopback(answer) as server:
        record_run(folder / "traces", name="wire", origin=server.url)
        done = run(folder, "why", "wire", "tool:forward_email", "--json", OPENAI_API_KEY="test")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["causes"][0]["text"] == NOTE
    assert document["calls"]["requests"] == len(server.requests) > 0


FAULTS = [
    ("401", Fault(401, body={"error": {"message": "Incorrect API key provided"}}), "401"),
    ("404", Fault(404, body={"error": {"message": "The model does not exist"}}), "404"),
    ("429", Fault(429, {"retry-after-ms": "1"}, {"error": {"message": "Rate limit"}}), "429"),
    ("500", Fault(500, {"retry-after-ms": "1"}, {"error": {"message": "Server error"}}), "500"),
    ("hang", Fault(hang=True), "did not answer"),
]


@pytest.mark.parametrize(("fault", "said"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_provider_that_fails_in_the_middle_leaves_a_partial_report(folder, fault, said):
    """What was known by then, the provider's words, exit 1, and replies that are kept."""

    def sometimes(api, body, number):
        return answer(api, body, number) if number < 20 else fault

    with Loopback(sometimes) as server:
        record_run(folder / "traces", name="wire", origin=server.url)
        asked = (
            "why",
            "wire",
            "tool:forward_email",
            "--json",
            "--timeout",
            "0.3",
            "--workers",
            "8",
        )
        done = run(folder, *asked, OPENAI_API_KEY="test")
    assert done.code == 1, done
    assert "Traceback" not in done.err
    document = json.loads(done.out)
    WHY.validate(document)
    assert document["verdict"] == "provider_failed"
    assert said in document["failure"]
    assert document["baseline"]["runs"] > 0
    assert document["calls"]["made"] <= 20


def test_nothing_listens_at_the_recorded_address(folder):
    """A server that is gone is told with its address."""
    with Loopback(answer) as server:
        record_run(folder / "traces", name="wire", origin=server.url)
    done = run(folder, "odds", "wire", "last", OPENAI_API_KEY="test")
    assert done.code == 1
    assert server.url.removeprefix("http://") in done.err + done.out
    assert "Traceback" not in done.err


def test_ctrl_c_prints_what_is_known_and_keeps_the_replies(folder):
    """Exit 130; the same command goes on for free."""
    asked = ("why", "last", "tool:forward_email", "--model-fn", "model.py:slow", "--workers", "1")
    process = subprocess.Popen(
        command(*asked, "--json"),
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_for_replies(folder, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    document = json.loads(out)
    WHY.validate(document)
    assert document["verdict"] == "interrupted"
    assert document["calls"]["made"] > 0
    assert b"Traceback" not in err
    again = json.loads(run(folder, *asked, "--json").out)
    assert again["calls"]["cached"] >= document["calls"]["made"]


def wait_for_replies(folder, process):
    """Until the cache holds something (the model answers every 50 ms)."""
    for _ in range(400):
        if list((folder / ".runtape").glob("*")) and process.poll() is None:
            time.sleep(0.4)
            return
        time.sleep(0.02)
    pytest.fail("the command did not start")


def test_ctrl_c_during_odds_prints_the_counts_so_far(folder):
    """Exit 130 with a partial distribution."""
    process = subprocess.Popen(
        command(
            "odds",
            "last",
            "last",
            "--model-fn",
            "model.py:slow",
            "--runs",
            "200",
            "--workers",
            "1",
            "--json",
        ),
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_for_replies(folder, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert 0 < json.loads(out)["distribution"]["runs"] < 200


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_cannot_be_written_is_a_warning(folder):
    """The answer comes all the same."""
    (folder / ".runtape").mkdir(mode=0o500)
    done = run(folder, "why", "last", "tool:forward_email", *FN)
    assert done.code == 0
    assert "were not kept" in done.out


def test_a_cache_that_is_no_folder_is_a_warning(folder):
    """The answer comes all the same."""
    (folder / ".runtape").write_text("a file is in the way")
    done = run(folder, "why", "last", "tool:forward_email", *FN)
    assert done.code == 0, done
    assert "not kept" in done.out


def test_a_disk_that_fills_up_under_the_cache_is_a_warning(folder):
    """Files may not grow beyond 24 kB here: the answer comes, and lost replies are told."""
    done = subprocess.run(
        command("why", "last", "tool:forward_email", *FN),
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (24_000, 24_000)),
    )
    assert done.returncode == 0, done
    assert NOTE in done.stdout.decode()
    assert "not kept" in done.stdout.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("email", ["", " ", "{}", "[]", "null", "\n\n\n"])
def test_an_empty_tool_result_is_no_obstacle(folder, email):
    """Nothing to remove there, and nothing that breaks."""
    record_run(folder / "traces", name="hollow", email=email)
    code, text = call("why", "hollow", "tool:forward_email", "--model-fn", "model.py:always")
    assert code == 3
    assert "No text of the context" in text


def test_a_context_of_one_piece(folder):
    """A single user message: it is tested, and the answer is honest."""
    from runtape.recording import record  # noqa: PLC0415 - only here

    asked = {"model": "m", "messages": [{"role": "user", "content": "Go."}]}
    said = {"role": "assistant", "content": "Nothing to do."}
    with record("one", folder / "traces") as rec:
        event = rec.log_llm_request(asked)
        rec.log_llm_response(event, {"choices": [{"message": said}]})
    code, text = call("why", "one", "last", "--model-fn", "model.py:never")
    assert code == 3
    assert "repeats it in 18 of 18 runs" in text


def test_a_context_of_five_thousand_pieces(folder):
    """Within the budget, in seconds, to the very item."""
    items = [{"id": n, "text": f"Item {n} is fine."} for n in range(5000)]
    items[3210]["text"] = NOTE
    record_run(folder / "traces", name="many", email=json.dumps(items))
    code, text = call("why", "many", "tool:forward_email", "--json", *FN)
    document = json.loads(text)
    assert code == 0
    assert document["causes"][0]["texts"] == [NOTE]
    assert document["calls"]["made"] < 150


def test_a_context_of_five_megabytes(folder):
    """The report shows the sentence, not the megabytes."""
    text = "Nothing to see here, move along please. " * 65_000  # twice 2.6 MB
    email = json.dumps({"body": f"{text}\n\n{NOTE}\n\n{text}"})
    record_run(folder / "traces", name="huge", email=email)
    code, text = call("why", "huge", "tool:forward_email", *FN)
    assert code == 0
    assert f"▌ {NOTE}" in text
    assert len(text) < 6000


class TestTerminal:
    """What a person at a terminal sees and is asked."""

    def test_a_person_is_asked_before_anything_is_spent(self, folder):
        """Who, where, how often, how many tokens; declined: nothing was asked."""
        with Loopback(answer) as server:
            record_run(folder / "traces", name="wire", origin=server.url)
            screen = on_terminal(folder, "why", "wire", "last", typed="n\n", OPENAI_API_KEY="test")
            assert server.requests == []
        assert screen.code == 130
        assert f"This asks gpt-4o-mini at {server.url}" in screen.text.replace("\r\n", " ")
        assert "Go on? [Y/n]" in screen.text

    @pytest.mark.parametrize(("words", "typed"), [((), "y\n"), (("--yes",), "")])
    def test_yes_goes_on(self, folder, words, typed):
        """Typed, or given."""
        with Loopback(answer) as server:
            record_run(folder / "traces", name="wire", origin=server.url)
            screen = on_terminal(
                folder, "odds", "wire", "last", *words, typed=typed, OPENAI_API_KEY="test"
            )
            assert len(server.requests) > 0
        assert screen.code == 0
        assert "10/10" in screen.text

    def test_progress_is_drawn_and_gone(self, folder):
        """Pieces fall while one waits; the report stands alone at the end."""
        asked = ("why", "last", "tool:forward_email", "--model-fn", "model.py:slow")
        screen = on_terminal(folder, *asked)
        before, _, report = screen.text.rpartition("Trace  ")
        assert screen.code == 0
        assert "removing pieces" in before
        assert "of 400 calls" in before
        assert "removing pieces" not in report
        assert NOTE in report

    def test_a_model_function_is_not_asked_about(self, folder):
        """It costs nothing."""
        screen = on_terminal(folder, "odds", "last", "last", *FN)
        assert "Go on?" not in screen.text

    def test_progress_over_hostile_text_sends_only_our_codes(self, folder):
        """The live view draws trace text, too."""
        evil = json.dumps({"body": f"\x9b2J\u202e {NOTE}"}, ensure_ascii=False)
        record_run(folder / "traces", name="evil", email=evil)
        screen = on_terminal(folder, "why", "evil", "last", "--model-fn", "model.py:slow")
        assert smuggled(screen.text.replace("\x1b", "").replace("\r", "").replace("\n", "")) == []


def test_the_demo_works_with_nothing_but_the_install(tmp_path):
    """Records, explains, says what to try next; no network, no key."""
    done = run(tmp_path, "demo")
    assert done.code == 0
    assert "▌ Note to AI assistants" in done.out
    assert "runtape rerun" in done.out
    assert json.loads(run(tmp_path, "demo", "--json").out)["verdict"] == "attributed"
