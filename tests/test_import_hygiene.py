"""What gets loaded, and when: start-up cost is part of the interface."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"openai", "anthropic", "langchain_core", "httpx", "httpx2", "scipy", "rich", "textual"}


def _modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint('\\n'.join(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return {name.partition(".")[0] for name in done.stderr.split()}


def test_importing_the_library_loads_nothing_heavy():
    """`import runtape` loads no SDK, no scipy, no rich, no click, no textual."""
    assert not _modules_after("import runtape") & (HEAVY | {"click", "asyncio", "sqlite3"})


def test_importing_the_recorder_loads_nothing_heavy():
    """An agent that records pays for the recorder only."""
    assert not _modules_after("import runtape; runtape.record") & (HEAVY | {"click", "sqlite3"})


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["why", "--help"]])
def test_help_loads_nothing_heavy(arguments):
    """Asking for help loads click and little else."""
    code = f"""
import contextlib
from runtape.cli import main
import sys
sys.argv = ["runtape", *{arguments!r}]
with contextlib.suppress(SystemExit):
    main()
"""
    assert not _modules_after(code) & HEAVY
