"""What the calls of a job cost."""

from __future__ import annotations

from runtape.models.base import Model
from runtape.models.prices import price
from runtape.models.selection import server_of


class Tariff:
    """Price of one model at one server, where it is known.

    A judge's tokens are counted at the same price. A function costs nothing that is known.
    """

    def __init__(self, model: Model, name: str | None) -> None:
        self._name = name
        self._server = server_of(model)
        self._known = True

    def cost(self, calls: int, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars for `calls` calls with so many tokens in all; None when it is not known.

        Taken per call: some prices rise with the length of one prompt.
        """
        if not self._known or self._name is None or self._server is None or calls == 0:
            return None
        one = price(
            self._name,
            self._server,
            input_tokens=input_tokens // calls,
            output_tokens=output_tokens // calls,
        )
        self._known = one is not None  # asking again would not help, and is not cheap
        return None if one is None else one * calls
