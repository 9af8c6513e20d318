"""Pictures of the trace screens as plain text, looked at by a person.

``RUNTAPE_GOLDEN=write`` writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runtape.settings import Settings
from tests.support.app import picture, play, press, type_text

_GOLDEN = Path(__file__).parent / "golden"
_SIZES = {"wide": (120, 30), "small": (80, 24), "tiny": (60, 15)}


def _compare(name: str, shown: str) -> None:
    path = _GOLDEN / f"{name}.txt"
    if os.environ.get("RUNTAPE_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8"), (
        f"{name} differs; RUNTAPE_GOLDEN=write accepts"
    )


def _shoot(trace: Path | None, name: str, keys: list[str], size: str = "wide", **more) -> None:
    async def script(app, pilot):
        await press(pilot, *keys)
        return picture(app)

    _compare(name, play(trace, script, size=_SIZES[size], **more))


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("context", ["]", "]"]),
        ("event", ["]", "j", "2"]),
        ("request", ["]", "2"]),
        ("diff", ["]", "]", "3"]),
        ("raw", ["]", "j", "j", "4", "tab", "j"]),
        ("folded", ["]", "]", "Z"]),
        ("help", ["question_mark"]),
        ("copy", ["y"]),
    ],
)
def test_the_trace_screen_looks_as_it_should(canteen, name, keys):
    """Two panes at 120×30."""
    _shoot(canteen, name, keys)


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("small timeline", ["]"]),
        ("small context", ["]", "]", "enter"]),
        ("small diff", ["]", "]", "3"]),
    ],
)
def test_eighty_columns_are_enough(canteen, name, keys):
    """One pane at a time, unified diff."""
    _shoot(canteen, name, keys, "small")


def test_sixty_columns_show_the_timeline(canteen):
    """Without title and keys."""
    _shoot(canteen, "tiny", ["]"], "tiny")


def test_less_than_that_is_said(canteen):
    """One line, no broken panes."""

    async def script(app, pilot):
        small = picture(app)
        await pilot.resize_terminal(120, 30)
        await press(pilot, "]")
        assert "timeline" in picture(app)
        return small

    assert "runtape needs 60×15, this is 50×12" in play(canteen, script, size=(50, 12))


def test_a_search_is_lit_and_counted(canteen):
    """The picture shows where; colours are looked at elsewhere."""

    async def script(app, pilot):
        await press(pilot, "]", "/")
        await type_text(pilot, "lentil")
        await press(pilot, "f")
        await type_text(pilot, "tool call|result")
        return picture(app)

    _compare("search and filter", play(canteen, script, size=_SIZES["wide"]))


def test_hostile_text_is_shown_not_obeyed(hostile):
    """Hidden characters are pictures, markup is text."""
    _shoot(hostile, "hostile", ["]"])


def test_no_traces_is_a_screen_of_its_own(tmp_path, monkeypatch):
    """It says how to record one."""
    monkeypatch.chdir(tmp_path)
    _shoot(None, "no traces", [], "small", settings=Settings(dir=Path("traces")))
