"""What the calls of a job cost."""

from __future__ import annotations

from runtape.attribution.options import Asking
from runtape.context import Context
from runtape.models.prices import price


class Tariff:
    """Price of one model at one server, where it is known.

    A judge's tokens are counted at the same price. A function costs nothing that is known.
    """

    def __init__(self, context: Context, options: Asking) -> None:
        self._model = options.model_name or context.dialect.model(context.body)
        self._url = options.base_url or context.request.origin or context.dialect.default_origin
        self._known = self._model is not None and options.model_fn is None

    def cost(self, calls: int, input_tokens: int, output_tokens: int) -> float | None:
        """US dollars for `calls` calls with so many tokens in all; None when it is not known.

        Taken per call: some prices rise with the length of one prompt.
        """
        if not self._known or self._model is None or calls == 0:
            return None
        one = price(
            self._model,
            self._url,
            input_tokens=input_tokens // calls,
            output_tokens=output_tokens // calls,
        )
        self._known = one is not None  # asking again would not help, and is not cheap
        return None if one is None else one * calls
