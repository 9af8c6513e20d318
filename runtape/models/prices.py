"""What calls cost, where that is known: the ``genai-prices`` package when it is installed."""

from __future__ import annotations


def price(model: str, url: str, *, input_tokens: int, output_tokens: int) -> float | None:
    """US dollars for so many tokens of `model` behind `url`; None when the price is not known.

    Prices are those the package was released with; nothing is fetched.
    """
    try:
        from genai_prices import Usage, calc_price  # noqa: PLC0415 - optional, .2 s to import
    except ImportError:
        return None
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    try:
        return float(calc_price(usage, model, provider_api_url=url).total_price)
    except LookupError:
        return None
