"""Lines of the reports among which one is chosen."""

from __future__ import annotations

from typing import ClassVar

from runtape_tui.widgets.sheet_view import SheetView


class LineList(SheetView):
    """A sheet with a pointer: Enter opens the row it stands at."""

    POINTS: ClassVar[bool] = True
