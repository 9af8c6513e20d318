"""The README shows real output: what it prints is what the program prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
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


def test_the_demo_prints_what_the_readme_shows(tmp_path):
    """`make demo` is the first thing a newcomer does; the README is right about it."""
    done = subprocess.run(
        [sys.executable, "-m", "runtape.cli", "demo"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "80", "HOME": str(tmp_path)},
    )
    assert _same_every_time(done.stdout) == _same_every_time(_shown("demo"))


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([\w./-]+)\)", README.read_text()))))
def test_links_lead_somewhere(link):
    """Every relative link of the README is a file of the checkout."""
    assert (README.parent / link).exists()
