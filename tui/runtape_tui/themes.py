"""The app's own colours: calm, dark and light, told apart without red against green.

Verdict colours follow the palette of Okabe and Ito (2008), made for colour-blind readers: vermilion
for what is wrong, bluish green for what is good or new, yellow for warnings.
"""

from __future__ import annotations

from collections.abc import Collection

from textual.theme import Theme

DARK = Theme(
    name="runtape",
    primary="#6cb2eb",
    secondary="#8a94a6",
    accent="#e0a458",
    foreground="#d3d7de",
    background="#15171b",
    surface="#1e2127",
    panel="#2b2f37",
    success="#4cb391",
    warning="#e6c34a",
    error="#ec7a55",
    dark=True,
    variables={"block-cursor-text-style": "none"},
)
LIGHT = Theme(
    name="runtape-light",
    primary="#1f6fb2",
    secondary="#5b6573",
    accent="#9a5b00",
    foreground="#24292f",
    background="#fbfaf7",
    surface="#f0eee8",
    panel="#dedbd2",
    success="#00795a",
    warning="#8a6a00",
    error="#b8441c",
    dark=False,
    variables={"block-cursor-text-style": "none"},
)
CYCLE = (DARK.name, LIGHT.name, "ansi-dark", "nord", "gruvbox", "solarized-light")
"""What the theme key goes through; ``theme`` in the settings takes any other."""


def next_theme(name: str, available: Collection[str]) -> str:
    """The theme after one, of those there are."""
    there = [theme for theme in CYCLE if theme in available]
    return there[(there.index(name) + 1) % len(there)] if name in there else there[0]


def first_known(available: Collection[str], *names: str | None) -> str:
    """The first of some names that there is a theme of, else our own."""
    return next((name for name in names if name is not None and name in available), DARK.name)
