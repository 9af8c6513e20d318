"""Warning codes of an investigation in words."""

from __future__ import annotations

from collections.abc import Callable

from runtape.attribution.facts import Warned
from runtape.jsonio import Json
from runtape.reports.words import listed, plural

_REFS = 6


def warning_text(warned: Warned) -> str:
    """One sentence for a warning; unknown codes are named with their numbers."""
    words = _WORDS.get(warned.code)
    if words is None:
        return _unknown(warned)
    try:
        return words(warned.numbers)
    except (KeyError, TypeError, ValueError):  # written by another version
        return _unknown(warned)


def _unknown(warned: Warned) -> str:
    numbers = ", ".join(f"{key} {value}" for key, value in warned.numbers.items())
    return f"{warned.code.replace('_', ' ')}{f' ({numbers})' if numbers else ''}"


def _drift(numbers: Json) -> str:
    return (
        f"at the end the unchanged context gave the decision in {numbers['same']:.0f} of "
        f"{numbers['runs']:.0f} runs, unlike at the start: the model may have drifted meanwhile"
    )


def _noisy(_: Json) -> str:
    return "temperature is 0, yet equal requests got different answers: sampled like any other"


def _call_errors(numbers: Json) -> str:
    requests = plural(int(numbers["requests"]), "request")
    return f"{int(numbers['errors'])} of {requests} failed: missing runs, no evidence"


def _no_answers(numbers: Json) -> str:
    names = {"cut": "cut off by max_tokens", "refusal": "refusals", "empty": "empty"}
    kinds = [f"{numbers[key]} {name}" for key, name in names.items() if numbers.get(key)]
    replies = plural(int(numbers["runs"]), "reply", "replies")
    return f"of {replies}, {listed(kinds)}: no decision either way"


def _calls_as_text(numbers: Json) -> str:
    count = plural(int(numbers["count"]), "reply", "replies")
    return f"{count} of {numbers['runs']} wrote the tool call as text; counted as the call"


def _choices_ignored(_: Json) -> str:
    return "the server gives one choice per request, however many are asked for"


def _unreachable(numbers: Json) -> str:
    refs = [str(ref) for ref in numbers["refs"]]
    more = f" and {len(refs) - _REFS} more" if len(refs) > _REFS else ""
    return f"cannot be taken out of a valid request, so not tested: {', '.join(refs[:_REFS])}{more}"


def _slots_spent(numbers: Json) -> str:
    return (
        f"more than {numbers['slots']:.0f} changed contexts looked suspicious, which is what the "
        "level is corrected for: the rest is shown, not claimed"
    )


_FIDELITY = {"callback": "{} as a framework told it"}


def _fidelity(numbers: Json) -> str:
    parts = [_FIDELITY.get(how, "{} " + how).format(part) for part, how in numbers.items()]
    return f"the trace does not hold all of this call exactly: {listed(parts)}"


def _cache_off(numbers: Json) -> str:
    return f"replies were not kept: {numbers['problem']}"


def _others_left_out(numbers: Json) -> str:
    count = plural(int(numbers["count"]), "other decision was", "other decisions were")
    return f"{count} not looked at: beyond the limit (--others) or the budget (--budget)"


def _others_lost(numbers: Json) -> str:
    count = plural(int(numbers["count"]), "other decision", "other decisions")
    return f"{count} cannot be run again: the trace lacks what that needs"


_WORDS: dict[str, Callable[[Json], str]] = {
    "drift": _drift,
    "noisy_endpoint": _noisy,
    "call_errors": _call_errors,
    "no_answers": _no_answers,
    "calls_as_text": _calls_as_text,
    "choices_ignored": _choices_ignored,
    "unreachable": _unreachable,
    "fidelity": _fidelity,
    "cache_off": _cache_off,
    "others_left_out": _others_left_out,
    "others_lost": _others_lost,
    "slots_spent": _slots_spent,
}
