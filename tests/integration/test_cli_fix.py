"""fix, test, why --chain: answers, exit codes, written tests that prove what they say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import runtape.reports
from runtape.cli.entry import cli
from tests.support import relay
from tests.support.command import environment, on_terminal, run
from tests.support.loopback import Loopback
from tests.support.runs import MODEL, NOTE, record_run

SCHEMAS = Path(runtape.reports.__file__).parent / "schemas"
FIX = Draft202012Validator(json.loads((SCHEMAS / "fix-1.schema.json").read_text()))
WHY = Draft202012Validator(json.loads((SCHEMAS / "why-1.schema.json").read_text()))
PLACE = ("last", "tool:forward_email")
FN = ("--model-fn", "heeds.py:answer")
HEEDS = f'''
from model import always, never, slow

def answer(request):
    """Reads the mail, forwards what the note says, heeds a guard and rules of its own."""
    seen, system = str(request["messages"]), request["messages"][0]["content"]
    if "tool_call_id" not in seen:
        return {{"tool": "read_email", "arguments": {{"id": 2}}}}
    if "only if the user" in system or "Ask first" in system or {NOTE!r} not in seen:
        return "Acme sent invoice 4471."
    return {{"tool": "forward_email", "arguments": {{"id": 2, "to": "archive@acme.example"}}}}

def stubborn(request):
    """Whatever one says."""
    return always(request)
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with one trace and two modules of stand-ins."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "heeds.py").write_text(HEEDS)
    record_run(tmp_path / "traces")
    return tmp_path


def call(*arguments):
    """Run a command in process: (exit code, standard output, standard error)."""
    done = CliRunner().invoke(cli, list(arguments), standalone_mode=False, catch_exceptions=False)
    return done.return_value or 0, done.stdout, done.stderr


def pytest_of(folder, *arguments, plugin=True, **extra):
    """Run pytest on written tests in a process of its own: (exit code, output)."""
    variables = environment(folder, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", **extra)
    loaded = ("-p", "runtape.pytest_plugin") if plugin else ()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", *loaded, *arguments],
        cwd=folder, env=variables, capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.mark.usefixtures("folder")
class TestFix:
    """``runtape fix``."""

    def test_remedies_are_shown_in_a_table(self):
        """The cause, the grades, the text to be added, what to do next; exit code 0."""
        code, text, _ = call("fix", *PLACE, *FN)
        assert code == 0
        assert "4.body para 2 sentence 2" in text
        assert "PASS  action guard         0/10" in text
        assert "FAIL  untrusted-text rule  10/10" in text
        assert "▌ Call forward_email only if the user" in text
        assert "--write-test tests/test_inbox.py" in text

    def test_the_document_is_valid_and_alone(self):
        """One document on standard output, in the published schema."""
        code, text, _ = call("fix", *PLACE, "--json", *FN)
        document = json.loads(text)
        FIX.validate(document)
        assert (code, document["end"]) == (0, "measured")
        assert document["remedies"][document["best"]]["kind"] == "guard"
        assert [d["tool"] for d in document["decisions"]] == ["read_email"]

    def test_the_stream_is_json_lines_and_ends_with_the_report(self):
        """Facts as they happen; the last one is the whole document."""
        code, text, _ = call("fix", *PLACE, "--stream", *FN)
        facts = [json.loads(line) for line in text.splitlines()]
        assert code == 0
        assert {"started", "tally", "explained", "proposed", "remains", "graded"} <= {
            fact["fact"] for fact in facts
        }
        FIX.validate(facts[-1]["report"])

    def test_a_rule_of_ones_own_is_tried(self, folder):
        """From a file and as text."""
        (folder / "ask.md").write_text("Ask first, always.")
        options = ("--rule", "ask.md", "--rule", "Be polite, please.")
        _, text, _ = call("fix", *PLACE, *options, "--json", *FN)
        grades = [(r["kind"], r["grade"]) for r in json.loads(text)["remedies"]]
        assert ("own_rule", "PASS") in grades
        assert ("own_rule", "FAIL") in grades

    def test_without_a_pass_the_exit_code_is_3(self):
        """And the report says that none passed."""
        code, text, _ = call("fix", *PLACE, "--model-fn", "heeds.py:stubborn")
        assert code == 3
        assert "No remedy passed." in text
        assert "No text was found that causes it" in text

    def test_a_decision_that_does_not_recur_ends_with_a_clear_sentence(self):
        """Nothing to fix; exit code 3."""
        code, text, _ = call("fix", *PLACE, "--model-fn", "heeds.py:never")
        assert code == 3
        assert "The decision did not recur" in text
        assert "Remedies" not in text

    def test_the_budget_ends_it_with_what_is_known(self):
        """Exit code 3, and how to go on."""
        code, text, _ = call("fix", *PLACE, "--budget", "60", *FN)
        assert code == 3
        assert "The budget of 60 calls ended" in text
        assert "--budget 120" in text

    def test_a_dry_run_asks_nothing(self):
        """An estimate, also as JSON; no function is called."""
        code, text, _ = call("fix", *PLACE, "--dry", "--model-fn", "model.py:raises")
        assert code == 0
        assert "Nothing was asked" in text
        document = json.loads(call("fix", *PLACE, "--dry", "--json")[1])
        assert document["calls"] > 80

    def test_further_traces_and_fewer_others(self, folder):
        """A further trace by a part of its name; nobody else."""
        record_run(folder / "traces", name="other")
        _, text, _ = call("fix", "inbox", PLACE[1], "--also", "other", "--json", *FN)
        assert any(d["trace"] for d in json.loads(text)["decisions"])
        _, text, _ = call("fix", "inbox", PLACE[1], "--others", "0", "--json", *FN)
        assert json.loads(text)["decisions"] == []


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--rule", "missing.md"), 2, "no rule file missing.md"),
        (("--rule", " "), 2, "empty"),
        (("--also", "nowhere"), 1, "no trace"),
        (("--write-test", "test_there.py"), 2, "exists already"),
        (("--write-test", "there.py"), 2, "would not collect"),
        (("--others", "-1"), 2, "x>=0"),
        (("--json", "--stream"), 2, "choose one"),
        (("--model-fn", "nowhere.py:answer"), 1, "no file"),
    ],
)
def test_bad_input_is_refused_before_anything_is_asked(folder, options, code, words):
    """A message, a hint, no traceback, and nothing is written."""
    (folder / "test_there.py").write_text("precious")
    done = run(folder, "fix", *PLACE, *options)
    assert done.code == code
    assert words in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert done.out == ""
    assert (folder / "test_there.py").read_text() == "precious"
    assert not (folder / ".runtape").exists()


def test_a_fix_on_a_terminal_draws_and_cleans_up(folder):
    """The live table is gone at the end, the report stays, and it asked first."""
    with Loopback(lambda *_: runtape.Reply("Nothing.")) as server:
        record_run(folder / "traces", name="live", origin=server.url)
        screen = on_terminal(folder, "fix", "live", "last", typed="y\n")
    assert screen.code == 3
    assert "Go on?" in screen.text
    assert "did not recur" in screen.text


# ── written tests ─────────────────────────────────────────────────────────────────────────────


def test_a_written_test_passes_with_the_fix_and_fails_without(folder):
    """The proof: pytest in a process of its own, on the fixed and on the recorded prompt."""
    code, _, noted = call("fix", *PLACE, "--write-test", "tests/test_forward.py", *FN)
    assert code == 0
    assert "Wrote tests/test_forward.py" in noted
    source = (folder / "tests" / "test_forward.py").read_text()
    assert "26% or more" in source
    code, out = pytest_of(folder, "tests")
    assert (code, "2 passed" in out) == (0, True)
    call("test", *PLACE, "--write-test", "tests/test_bare.py", *FN)
    code, out = pytest_of(folder, "tests/test_bare.py")
    assert code == 1
    assert "runtape: what the model did" in out
    assert "10/10   ● calls forward_email" in out
    assert "runtape why tests/runtape_traces/" in out
    code, out = pytest_of(folder, "tests", plugin=False)
    assert code == 1
    assert "1 failed, 2 passed" in out


def test_a_fix_that_breaks_another_decision_fails_its_test(folder):
    """Written for what is kept: a model that no longer reads mails is caught."""
    call("fix", *PLACE, "--write-test", "tests/test_forward.py", *FN)
    (folder / "heeds.py").write_text(HEEDS.replace('"read_email"', '"delete_email"'))
    code, out = pytest_of(folder, "tests")
    assert code == 1
    assert "test_other_decisions_still_happen[2]" in out


def test_a_rule_of_ones_own_gets_a_test(folder):
    """`runtape test` asks nobody, says what it wrote, and the test holds."""
    (folder / "ask.md").write_text("Ask first, always.")
    options = ("--rule", "ask.md", "--write-test", "tests/test_ask.py", *FN)
    code, text, _ = call("test", *PLACE, *options)
    assert code == 0
    assert "a pass rules out a rate of 26% or more" in text
    assert not (folder / ".runtape").exists()
    assert pytest_of(folder, "tests")[0] == 0
    code, text, _ = call("test", *PLACE, *options, "--force", "--json", "--runs", "20")
    assert json.loads(text)["rules_out"] == 0.1391
    assert run(folder, "test", *PLACE, *options).code == 2
    assert run(folder, "test", *PLACE).code == 2


def test_a_written_test_is_skipped_when_no_model_can_be_asked(folder):
    """No key, or no server: skipped with the reason, never a failure."""
    record_run(folder / "traces", name="public", origin="https://api.openai.com")
    with Loopback(lambda *_: runtape.Reply("Hi.")) as server:
        record_run(folder / "traces", name="local", origin=server.url)
    for name in ("public", "local"):
        call("test", name, PLACE[1], "--write-test", f"tests/test_{name}.py")
    code, out = pytest_of(folder, "tests/test_public.py")
    assert (code, "no model to ask" in out, "OPENAI_API_KEY" in out) == (0, True, True)
    code, out = pytest_of(folder, "tests/test_local.py")
    assert (code, "no server to ask" in out) == (0, True)


def test_a_bad_key_is_a_failure_and_no_skip(folder):
    """Somebody answered, and said no: a test that skips for ever would hide that."""
    from tests.support.loopback import Fault  # noqa: PLC0415 - used once

    with Loopback(lambda *_: Fault(status=401)) as server:
        record_run(folder / "traces", name="local", origin=server.url)
        call("test", "local", PLACE[1], "--write-test", "tests/test_local.py")
        code, out = pytest_of(folder, "tests/test_local.py")
    assert code == 1
    assert "401" in out


def test_cached_asks_nobody_and_live_asks_anew(folder):
    """Without kept replies the first skips; the second does not use what is kept."""
    call("test", *PLACE, "--rule", "Ask first.", "--write-test", "tests/test_ask.py", *FN)
    code, out = pytest_of(folder, "tests", "--runtape-cached")
    assert (code, "only 0 of 10 replies: not kept" in out) == (0, True)
    assert pytest_of(folder, "tests")[0] == 0
    code, out = pytest_of(folder, "tests", "--runtape-cached")
    assert (code, "1 passed" in out) == (0, True)
    cache = folder / ".runtape" / "cache.sqlite"
    size = cache.stat().st_size
    assert "1 passed" in pytest_of(folder, "tests", "--runtape-live")[1]
    assert cache.stat().st_size == size
    assert pytest_of(folder, "tests", "--runtape-live", "--runtape-cached")[0] == 4


# ── the chain ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def relayed(folder):
    """A run whose failure starts two decisions earlier."""
    relay.record(folder / "traces")
    root = Path(__file__).parent.parent.parent
    text = f"import sys\nsys.path.insert(0, {str(root)!r})\nfrom tests.support.relay import obeys\n"
    (folder / "relays.py").write_text(text)
    return ("relay", "tool:tip_off", "--model-fn", "relays.py:obeys")


def test_the_chain_is_a_tree_in_the_report(relayed):
    """Three decisions, the texts between them, and where it ends."""
    code, text, _ = call("why", *relayed, "--chain")
    assert code == 0
    tree = text[text.index("Chain ") :]
    assert "└ event 7 calls open_page" in tree
    assert "└ event 3 calls search" in tree
    assert relay.MOVED in " ".join(tree.split())
    assert "Here the chain ends" in tree


def test_the_chain_stands_in_the_document(relayed):
    """One object a hop, valid; depth limits it."""
    code, text, _ = call("why", *relayed, "--chain", "--json")
    document = json.loads(text)
    WHY.validate(document)
    assert code == 0
    assert [hop["decision"]["tool"] for hop in document["chain"]] == ["open_page", "search"]
    assert document["chain_end"]["code"] == "user_message"
    _, text, _ = call("why", *relayed, "--depth", "1", "--json")
    assert json.loads(text)["chain_end"]["code"] == "depth"


def test_the_chain_is_told_in_the_stream(relayed):
    """Envelopes with the hop's number between the search and the report."""
    _, text, _ = call("why", *relayed, "--chain", "--stream")
    facts = [json.loads(line) for line in text.splitlines()]
    kinds = [fact["fact"] for fact in facts]
    assert {"hop_started", "hop", "link", "chain_ended"} <= set(kinds)
    assert kinds[-1] == "finished"
    assert len(facts[-1]["report"]["chain"]) == 2


def test_a_chain_is_suggested_where_one_can_be_followed(relayed):
    """After an answer that a tool brought; the suggestion works as it stands."""
    _, text, _ = call("why", *relayed)
    assert "--chain" in text
    assert "runtape fix" in text
