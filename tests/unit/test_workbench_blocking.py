"""Waiting for async work, in any surroundings."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from runtape.workbench.blocking import run_blocking


@pytest.fixture
def _listening_to_ctrl_c():
    """As at a terminal: programs started in the background of a script ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_listening_to_ctrl_c")
def test_ctrl_c_lets_the_work_have_its_say():
    """Interrupted, the work finishes what a cancellation leaves to do; then it is raised."""
    said = []

    async def work():
        asyncio.get_running_loop().call_later(0.02, os.kill, os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(5)
        finally:
            await asyncio.sleep(0)
            said.append("last words")

    with pytest.raises(KeyboardInterrupt):
        run_blocking(work)
    assert said == ["last words"]


def test_blocking_returns_and_raises_what_the_work_does():
    """Inside and outside of a loop."""

    async def good():
        return 7

    async def bad():
        raise ValueError("broken")

    async def inside():
        assert run_blocking(good) == 7
        with pytest.raises(ValueError, match="broken"):
            run_blocking(bad)

    assert run_blocking(good) == 7
    with pytest.raises(ValueError, match="broken"):
        run_blocking(bad)
    asyncio.run(inside())
