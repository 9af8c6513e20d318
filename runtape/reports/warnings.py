"""Warning codes of an investigation in words."""

from __future__ import annotations

from collections.abc import Callable

from runtape.attribution.facts import Warned
from runtape.jsonio import Json


def warning_text(warned: Warned) -> str:
    """One sentence for a warning; unknown codes are named with their numbers."""
    words = _WORDS.get(warned.code)
    if words is not None:
        try:
            return words(warned.numbers)
        except KeyError:
            pass
    numbers = ", ".join(f"{key} {value}" for key, value in warned.numbers.items())
    return f"{warned.code.replace('_', ' ')}{f' ({numbers})' if numbers else ''}"


def _drift(numbers: Json) -> str:
    return (
        f"at the end the unchanged context gave the decision in {numbers['same']:.0f} of "
        f"{numbers['runs']:.0f} runs, unlike at the start: the model may have drifted meanwhile"
    )


_WORDS: dict[str, Callable[[Json], str]] = {"drift": _drift}
