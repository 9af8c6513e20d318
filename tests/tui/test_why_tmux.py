"""The story of the heatmap in a real terminal: asked, watched, found, stopped, gone on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from runtape.demo.agent import record_inbox
from tests.support.tmux import Tmux

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

_MODEL = '''
import time
from pathlib import Path
from runtape.demo.inbox import simulated_model


def answer(request):
    """Holds the calls without the newsletter until somebody says go."""
    for _ in range(1200):
        if "celadon" in str(request) or Path("go").exists():
            break
        time.sleep(0.05)
    with open("answered", "a") as log:
        log.write("x")
    return simulated_model(request)
'''


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_the_cause_is_watched_and_found(tmp_path: Path, size):
    """Rows change while calls are in flight; esc stops, w goes on; the sentence is the cause."""
    trace = record_inbox(tmp_path / "traces")
    (tmp_path / "model.py").write_text(_MODEL)
    arguments = [str(trace), "--at", "tool:forward_email", "--model-fn", "model.py:answer"]
    with Tmux(tmp_path, arguments, size) as terminal:
        terminal.until("? help", "forward_email")
        terminal.keys("w")
        flying = terminal.until("why #23", "removing pieces", "18/18", "◌ running")
        assert "● cause" not in flying
        assert ("context of model call" in flying) == (size[0] >= 100)
        terminal.keys("Escape")
        terminal.until("stopped", "Interrupted before")
        kept = len((tmp_path / "answered").read_text())
        (tmp_path / "go").touch()
        terminal.keys("w")
        found = terminal.until("● cause     12.body para 4 sentence 1", "cached")
        assert "▾ holds it" in found
        assert "sentence 1" in found
        assert kept >= 18
        terminal.keys("e")
        terminal.until("what-if #23", "without 12.body para 4 sentence 1")
        terminal.keys("R")
        terminal.until("p = 5.4e-6")
        terminal.keys("q")
        terminal.until("why #23")
        terminal.keys("q")
        terminal.until("timeline" if size[0] >= 100 else "forward_email")
        terminal.keys("q")
        terminal.until("ended with 0")
