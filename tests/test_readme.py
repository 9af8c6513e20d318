"""The README shows real output: what it prints is what the program prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
_CHANGING = re.compile(r"\d{8}-\d{6}|\b[0-9a-f]{12}\b|[\d.]+ (?:ms|s)$", re.MULTILINE)


def _shown(name):
    """The block between the marks of this name."""
    text = README.read_text(encoding="utf-8")
    block = re.search(rf"<!-- {name} -->\n```\w*\n(.*?)```\n<!-- /{name} -->", text, re.DOTALL)
    assert block, f"README.md has no block {name}"
    return block.group(1)


def _same_every_time(text):
    """Without what differs from run to run: times and run ids."""
    return _CHANGING.sub("…", text).rstrip()


def _run(folder, *arguments):
    """What a program prints on 80 columns, started in `folder`."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        cwd=folder,
        env={**os.environ, "COLUMNS": "80", "HOME": str(folder)},
    )
    return _same_every_time(done.stdout)


def test_the_demo_prints_what_the_readme_shows(tmp_path):
    """`make demo` is the first thing a newcomer does; the README is right about it."""
    assert _run(tmp_path, "-m", "runtape.cli", "demo") == _same_every_time(_shown("demo"))


def test_the_remedies_are_those_the_readme_shows(tmp_path):
    """The table of `runtape fix` on the refund example."""
    _run(tmp_path, ROOT / "examples" / "refund_bot.py")
    asked = ["fix", "last", "tool:refund", "--exact-args"]
    rule = ["--rule", "Take the amount from find_orders, never from tickets."]
    model = ["--model-fn", f"{ROOT}/examples/refund_bot.py:simulated_model"]
    printed = _run(tmp_path, "-m", "runtape.cli", *asked, *rule, *model)
    assert _same_every_time(_shown("fix")) in printed


def test_the_way_back_is_the_one_the_readme_shows(tmp_path):
    """The tree of `runtape why --chain` on the research example."""
    _run(tmp_path, ROOT / "examples" / "research_agent.py")
    asked = ["why", "last", "tool:send_mail", "--chain"]
    model = ["--model-fn", f"{ROOT}/examples/research_agent.py:simulated_model"]
    assert _same_every_time(_shown("chain")) in _run(tmp_path, "-m", "runtape.cli", *asked, *model)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([\w./-]+)\)", README.read_text()))))
def test_links_lead_somewhere(link):
    """Every relative link of the README is a file of the checkout."""
    assert (README.parent / link).exists()
