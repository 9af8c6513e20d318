"""The commands that only look, in process and in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from click.testing import CliRunner

from runtape.cli.entry import cli
from runtape.cli.table import ENTRIES, SECTIONS
from tests.support.command import command, environment, on_terminal, run
from tests.support.hostile import PAYLOADS, smuggled
from tests.support.runs import record_run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with one trace in ./traces."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "80")
    record_run(tmp_path / "traces")
    return tmp_path


def call(*arguments):
    """Run a command in process: (exit code, standard output)."""
    done = CliRunner().invoke(cli, list(arguments), standalone_mode=False, catch_exceptions=False)
    return done.return_value or 0, done.stdout


LOOKS = [
    ("ls",),
    ("summary", "last"),
    ("timeline", "last"),
    ("show", "last", "6"),
    ("show", "last", "-1"),
    ("show", "last", "tool:forward_email"),
    ("context", "last", "last"),
    ("context", "last", "tool:forward_email", "--pieces"),
    ("grep", "invoice", "last"),
    ("diff", "last", "2", "6"),
    ("diff", "last", "last"),
    ("check", "last"),
    ("view", "last"),
]


@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
@pytest.mark.usefixtures("folder")
def test_every_look_is_text_or_one_document(words):
    """Without --json lines for a person, with it one JSON document and nothing else."""
    code, text = call(*words)
    assert (code, bool(text)) == (0, True)
    code, text = call(*words, "--json")
    assert code == 0
    assert json.loads(text)["schema"].startswith("runtape.")


@pytest.mark.usefixtures("folder")
def test_help_lists_every_command_without_importing_one():
    """The page is made of the table; every command of the table can be imported."""
    _, text = call("--help")
    for section in SECTIONS.values():
        for entry in section:
            assert entry.summary in text
            assert call(entry.name, "--help")[0] == 0
    assert "view" in ENTRIES
    assert " view " not in text


def test_a_trace_in_place_of_a_command_opens_it(folder):
    """``runtape NAME``, ``runtape PATH`` and ``runtape`` alone; off a terminal as text."""
    path = next((folder / "traces").iterdir())
    for words in (["inbox"], [str(path)], ["last"], [], ["inbox", "--plain"], ["--plain"]):
        _, text = call(*words)
        assert "▼ reply" in text, words


def test_an_unknown_word_is_neither(folder):
    """The nearest command is named."""
    done = run(folder, "timelin", "last")
    assert done.code == 2
    assert "Did you mean timeline?" in done.err


def test_negative_events_count_from_the_end(folder):
    """-1 is an event, and no option; an option's own value stays its own."""
    assert call("show", "last", "-1", "--json")[1] == call("show", "last", "9", "--json")[1]
    done = run(folder, "why", "last", "last", "--runs", "-5")
    assert done.code == 2
    assert "-5" in done.err


@pytest.mark.usefixtures("folder")
def test_grep_that_finds_nothing_says_so_by_its_code():
    """Scripts can branch, with and without --json."""
    assert call("grep", "unicorn", "last") == (3, "")
    code, text = call("grep", "unicorn", "last", "--json")
    assert code == 3
    assert json.loads(text)["hits"] == []


def test_context_raw_is_the_body_byte_for_byte(folder):
    """For jq and diff: what was sent, not one byte more."""
    done = run(folder, "context", "last", "last", "--raw")
    body = json.loads(done.out)
    assert done.code == 0
    assert not done.out.endswith("\n")
    assert [message["role"] for message in body["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]


def test_an_empty_folder_says_what_to_do(tmp_path):
    """Nothing recorded yet is no error of ls, and a hint everywhere else."""
    done = run(tmp_path, "ls")
    assert (done.code, done.out) == (0, "")
    assert "runtape demo" in done.err
    assert json.loads(run(tmp_path, "ls", "--json").out)["traces"] == []
    done = run(tmp_path)
    assert done.code == 1
    assert "hint:" in done.err


def test_a_reader_that_stops_early_is_no_error(folder):
    """``runtape timeline | head -1``: quiet, exit 0."""
    process = subprocess.Popen(
        command("timeline", "last"),
        cwd=folder,
        env=environment(folder, PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(30) == 0
    assert err == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_full_disk_behind_the_output_is_told(folder):
    """The last bytes may not be lost in silence."""
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            command("timeline", "last"),
            cwd=folder,
            env=environment(folder),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert b"cannot write the output: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_terminal_without_unicode_gets_escapes(folder):
    """An ASCII terminal is no reason to fail."""
    done = run(folder, "timeline", "last", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert done.code == 0
    assert "\\u25bc reply" in done.out


def test_colour_on_a_terminal_unless_unwanted(folder):
    """NO_COLOR and a dumb terminal are respected."""
    assert b"\x1b[1m" in on_terminal(folder, "timeline", "last").raw
    assert b"\x1b" not in on_terminal(folder, "timeline", "last", NO_COLOR="1").raw


def test_raw_text_is_made_visible_on_a_terminal(folder):
    """--raw into a pipe is exact; a terminal would obey it."""
    record_run(folder / "traces", name="evil", email="\x9b2J \u202e")
    shown = on_terminal(folder, "context", "evil", "last", "--raw").text
    assert smuggled(shown.replace("\r\n", "")) == []
    assert "<U+202E>" in shown


@pytest.mark.parametrize("name", sorted(set(PAYLOADS) - {"surrogate"}))
def test_hostile_text_never_reaches_standard_output_raw(folder, name):
    """Text and JSON of every look, over an email that attacks the terminal."""
    evil = json.dumps({"body": PAYLOADS[name]}, ensure_ascii=False)
    record_run(folder / "traces", name="evil", email=evil)
    for words in LOOKS:
        changed = ["evil" if word == "last" and at == 1 else word for at, word in enumerate(words)]
        if words[0] == "grep":
            changed = ["grep", "before|after", "evil"]
        for form in ([], ["--json"]):
            _, text = call(*changed, *form)
            assert smuggled(text.replace("\n", "")) == [], (changed, form)


def test_json_of_hostile_text_is_the_same_text(folder):
    """Escaped for the terminal, unchanged for the program."""
    evil = "".join(PAYLOADS[name] for name in sorted(set(PAYLOADS) - {"surrogate"}))
    record_run(folder / "traces", name="evil", email=evil)
    _, text = call("show", "evil", "4", "--json")
    assert json.loads(text)["payload"]["result"] == evil


def test_the_folder_of_traces_can_be_chosen(folder, monkeypatch):
    """--dir beats RUNTAPE_DIR beats ./traces."""
    record_run(folder / "elsewhere", name="other")
    monkeypatch.setenv("RUNTAPE_DIR", "elsewhere")
    assert "other" in call("ls")[1]
    assert "other" not in call("ls", "--dir", "traces")[1]


def test_a_wrong_setting_names_the_file(folder):
    """Found before anything else happens."""
    (folder / "runtape.toml").write_text("bugdet = 3\n")
    done = run(folder, "timeline", "last")
    assert done.code == 2
    assert "unknown setting bugdet in runtape.toml" in done.err
    assert "did you mean budget?" in done.err


def test_completion_knows_commands_events_and_traces(folder):
    """For bash, zsh and fish, by click."""

    def complete(*words):
        line = " ".join(("runtape", *words))
        return run(
            folder,
            _RUNTAPE_COMPLETE="bash_complete",
            COMP_WORDS=line,
            COMP_CWORD=str(len(words)),
        ).out

    assert complete("time") == "plain,timeline\n"
    assert "inbox" in complete("timeline", "2")
    assert "tool:" in complete("why", "last", "to")
