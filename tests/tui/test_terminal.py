"""The real app in a real terminal: nothing of a trace reaches it as a command; it is left clean."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.command import command, environment
from tests.support.terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")

_FROM_A_TRACE = (
    b"\x1b]52",  # sets the clipboard
    b"\x1b]",  # any other operating system command
    b"\x1b[2J",  # clears the screen
    b"\x1b[31m",  # a palette colour: the app uses true colours only
    b"\xc2\x9b",  # C1 control sequence introducer …
    b"\xc2\x9d",  # … operating system command …
    b"\xc2\x9c",  # … string terminator
    b"\xc2\x85",
    "\u202e".encode(),
    "\u2066".encode(),
    "\u200b".encode(),
    "\u2028".encode(),
    "\U000e0041".encode(),
    b"\x00",
    b"\x7f",
)
_SEQUENCE = re.compile(rb"\x1b\[[0-9;:?<>=$]*[a-zA-Z]|\x1b[=>78]|\x1b\([B0]")
_POINTER = re.compile(rb"\x1b\]22;[a-z-]+\x07")
"""The shape of the mouse pointer, set by Textual."""
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_HOSTILE_MODEL = """
import sys
sys.path.insert(0, {root!r})
from tests.support.hostile import PAYLOADS

EVERYTHING = "\\n".join(PAYLOADS.values())

def answer(request):
    if len(str(request)) % 2:
        return EVERYTHING
    return {{"tool": EVERYTHING, "arguments": {{EVERYTHING: EVERYTHING}}}}
"""


def _smuggled(raw: bytes) -> list[bytes]:
    """What of a trace got through; and control bytes that no app has a use for."""
    raw = _POINTER.sub(b"", raw)
    found = [bad for bad in _FROM_A_TRACE if bad in raw]
    return found + _CONTROLS.findall(_SEQUENCE.sub(b"", raw))


def test_no_byte_of_a_hostile_trace_is_obeyed(hostile, tmp_path):
    """Every screen and tab, both panes, search, filter, errors, questions, the palette."""
    root = str(Path(__file__).parent.parent.parent)
    (tmp_path / "model.py").write_text(_HOSTILE_MODEL.format(root=root))
    arguments = [str(hostile), "--model-fn", f"{tmp_path / 'model.py'}:answer", "--yes"]
    with Terminal(tmp_path, [*arguments, "--dir", str(tmp_path)]) as terminal:
        terminal.wait_for("hostile")
        terminal.wait_for("system prompt")
        for event in ("]", "j", "j", "j", "j", "]", "j", "j", "j", "j", "j", "j", "j", "j", "j"):
            terminal.keys(event, quiet=0.05)
            terminal.keys("2", "3", "4", "1", quiet=0.08)
        terminal.keys("\t", "g", "G", "z", "G", "z", "Z", "Z", "\x1b", "g", "]", "d")
        terminal.keys("/", "before", "\r", "n", "N", "f", "before", "\r", "\x1b", "\x1b")
        terminal.keys(":", "nowhere", "\r", ":", "before [/nope]", "\r", "t", "t", "<", ">")
        terminal.keys("?", "G", "q", "\x10", "next", "\x1b", "y", "x", "O", "j", "\r", "\x1b")
        for question in ("o", "e", "w"):
            terminal.keys("G", "[", "j", question, quiet=0.5)
            terminal.keys("\r", "j", "j", "G", "\t", "j", quiet=0.3)
            if question == "w":
                terminal.keys("s", "X", "\x1b", "c", "\x1b", quiet=0.4)
            terminal.keys("?", "q", "\x1b", "\x1b", "\x1b", quiet=0.2)
        terminal.keys("\x11", quiet=0.3)
        terminal.wait_end()
    assert "␛]52;c;ZXZpbA==␇" in terminal.text
    assert "<U+202E>" in terminal.text
    assert "[/nope]" in terminal.text
    assert "[true, false]" in terminal.text
    assert "why #" in terminal.text
    assert "odds #" in terminal.text
    assert _smuggled(terminal.raw) == []
    assert "Traceback" not in terminal.text
    assert terminal.code == 0, terminal.text[-1500:]


def test_the_terminal_is_given_back_as_it_was(canteen, tmp_path):
    """After q: modes, cursor, screen; exit code 0; nothing printed after it."""
    with Terminal(tmp_path, [str(canteen)], (80, 24)) as terminal:
        terminal.wait_for("read_stock")
        terminal.keys("]", "q")
        terminal.wait_end()
        assert terminal.restored
    assert terminal.code == 0, terminal.text[-1500:]
    assert terminal.raw.rfind(b"\x1b[?1049l") > terminal.raw.rfind(b"\x1b[?1049h")
    assert terminal.raw.rfind(b"\x1b[?25h") > terminal.raw.rfind(b"\x1b[?25l")


def test_a_fault_of_ours_is_one_line_and_leaves_the_terminal_clean(canteen, tmp_path):
    """Never a stack trace; the hint says how to see one."""
    (tmp_path / "tui").mkdir()
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'runtape_tui.screens.help':\n"
        "            raise RuntimeError('broken \\x1b]52;c;x\\x07 on purpose')\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    with Terminal(tmp_path, [str(canteen)], (80, 24), paths=[tmp_path]) as terminal:
        terminal.wait_for("read_stock")
        terminal.keys("?")
        terminal.wait_end()
        assert terminal.restored
    assert "Traceback" not in terminal.text
    assert "RuntimeError: broken ␛]52;c;x␇ on purpose" in terminal.text
    assert b"\x1b]52" not in terminal.raw
    assert terminal.code == 1


def test_a_dumb_terminal_gets_the_plain_timeline(canteen, tmp_path):
    """No escape sequences at all."""
    with Terminal(tmp_path, [str(canteen)], TERM="dumb") as terminal:
        terminal.wait_end()
    assert b"\x1b" not in terminal.raw
    assert "read_stock" in terminal.text
    assert terminal.code == 0, terminal.text[-1500:]


def test_no_color_leaves_only_greys(canteen, tmp_path):
    """NO_COLOR: every colour that is set has equal parts of red, green and blue."""
    with Terminal(tmp_path, [str(canteen)], NO_COLOR="1") as terminal:
        terminal.wait_for("read_stock")
        terminal.keys("]", "3", "q")
        terminal.wait_end()
    colours = re.findall(rb"[34]8;2;(\d+);(\d+);(\d+)", terminal.raw)
    assert colours
    assert {c for c in colours if len(set(c)) > 1} == set()


def test_without_traces_the_app_says_how_to_record_one(tmp_path):
    """`runtape` alone, in an empty folder."""
    with Terminal(tmp_path, []) as terminal:
        terminal.wait_for("No traces yet.")
        terminal.keys("q")
        terminal.wait_end()
    assert terminal.code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["canteen.jsonl", "--at", "99"], 1, "no event 99"),
        (["nowhere/x.jsonl"], 1, "no trace"),
        (["broken.jsonl"], 1, "not a tape"),
    ],
)
def test_what_cannot_be_opened_is_an_ordinary_error(canteen, tmp_path, arguments, code, words):
    """The screen is never taken; the message has a hint."""
    (tmp_path / "broken.jsonl").write_text("hello\n")
    assert canteen.parent == tmp_path
    with Terminal(tmp_path, arguments) as terminal:
        terminal.wait_end()
    assert words in terminal.text
    assert "hint:" in terminal.text
    assert b"\x1b[?1049h" not in terminal.raw
    assert terminal.code == code


def test_settings_that_cannot_be_read_are_an_ordinary_error(canteen, tmp_path):
    """With the name of the file."""
    config = tmp_path / "config" / "runtape"
    config.mkdir(parents=True)
    (config / "config.toml").write_text("keys = [")
    with Terminal(tmp_path, [str(canteen)]) as terminal:
        terminal.wait_end()
    assert "config.toml is not valid TOML" in " ".join(terminal.text.split())
    assert terminal.code == 2


def test_keys_from_the_users_file_are_obeyed(canteen, tmp_path):
    """And odd ones are said once, on the screen."""
    config = tmp_path / "config" / "runtape"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[keys]\n"app.quit" = "x"\n"tab.event" = "w"\n')
    with Terminal(tmp_path, [str(canteen)]) as terminal:
        terminal.wait_for("w is both tab.event and ask.why")
        terminal.keys("q", "x")
        terminal.wait_end()
    assert terminal.code == 0


@pytest.mark.parametrize(("key", "variable"), [("E", "EDITOR"), ("P", "PAGER")])
def test_the_users_own_programs_get_the_text(hostile, tmp_path, key, variable):
    """What is shown, made visible; afterwards the app is back."""
    script = tmp_path / "program.sh"
    script.write_text(f'cp "$2" {tmp_path}/handed; echo "$1"\n')
    program = {variable: f"sh {script} 'an argument'"}
    with Terminal(tmp_path, [str(hostile)], **program) as terminal:
        terminal.wait_for("system prompt")
        terminal.keys(key)
        terminal.wait_for("an argument")
        terminal.keys("q", quiet=0.5)
        terminal.wait_end()
        assert terminal.restored
    handed = (tmp_path / "handed").read_text()
    assert "␛]52;c;ZXZpbA==␇" in handed
    assert "\x1b" not in handed
    assert terminal.code == 0


# tmux


def _tmux(socket: str, *arguments: str) -> str:
    done = subprocess.run(
        ["tmux", "-L", socket, "-f", "/dev/null", *arguments],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def _until(socket: str, *texts: str) -> str:
    """The pane's text once it holds all of `texts`."""
    shown = ""
    for _ in range(600):
        shown = _tmux(socket, "capture-pane", "-p", "-t", "app")
        if all(text in shown for text in texts):
            return shown
        time.sleep(0.1)
    raise AssertionError(f"{texts} never came: {shown}")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_it_works_in_tmux_and_follows_its_size(canteen, tmp_path):
    """80×24 shows one pane, 120×30 two; after q the shell is back."""
    socket = f"runtape-{tmp_path.name}-{time.monotonic_ns()}"
    settings = environment(tmp_path, XDG_STATE_HOME=str(tmp_path / "state"))
    root = Path(__file__).parent.parent.parent
    settings["PYTHONPATH"] = f"{root}:{root / 'tui'}"
    exports = [f"{name}={value}" for name, value in settings.items() if name != "COLUMNS"]
    clean = ["env", "-u", "COLUMNS", "-u", "LINES"]  # readline puts them there
    program = " ".join(map(_quoted, [*clean, *exports, *command(str(canteen))]))
    script = tmp_path / "run.sh"
    script.write_text(f"{program}\necho ended with $?\nsleep 60\n")
    _tmux(socket, "new-session", "-d", "-s", "app", "-x", "80", "-y", "24", f"sh {script}")
    try:
        small = _until(socket, "read_stock", "? help")
        assert "context" not in small
        _tmux(socket, "resize-window", "-t", "app", "-x", "120", "-y", "30")
        _until(socket, "context  event  diff  raw", "What shall we cook")
        _tmux(socket, "resize-window", "-t", "app", "-x", "50", "-y", "10")
        _until(socket, "runtape needs 60×15")
        _tmux(socket, "resize-window", "-t", "app", "-x", "80", "-y", "24")
        _until(socket, "read_stock", "? help")
        _tmux(socket, "send-keys", "-t", "app", "Enter")
        _until(socket, "What shall we cook")
        _tmux(socket, "send-keys", "-t", "app", "q")
        assert "timeline" not in _until(socket, "ended with 0")
    finally:
        _tmux(socket, "kill-server")


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
