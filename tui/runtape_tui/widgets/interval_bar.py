"""A bar of :mod:`runtape_tui.view_models.bars` in colours."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style

from runtape_tui.view_models.bars import Bar


def bar_segments(bar: Bar, strong: Style, quiet: Style) -> list[Segment]:
    """The bar in its own colour, what is merely possible in a quiet one."""
    return [Segment(bar.sure + bar.likely, strong), Segment(bar.possible + bar.rest, quiet)]
