"""The distribution of what a model does, growing run by run."""

from __future__ import annotations

from runtape.attribution.distribution import Distribution
from runtape_tui.view_models.distribution import distribution_lines
from runtape_tui.widgets.sheet_view import SheetView


class DistributionView(SheetView):
    """Shows a distribution, or two beside one another."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - their name
        super().__init__(id=id)
        self._found: Distribution | None = None
        self._running = False

    def show(self, found: Distribution | None, *, running: bool) -> None:
        """Show what is known now; None: nothing yet."""
        self._found, self._running = found, running
        self._fill()

    def on_resize(self) -> None:
        """Bars and words for another width."""
        self._fill()

    def _fill(self) -> None:
        if self._found is not None:
            columns = max(30, self.size.width - 3)
            self.set(distribution_lines(self._found, columns, running=self._running))
