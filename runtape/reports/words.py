"""Numbers and codes in words: every phrase that more than one report uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from runtape.context.pieces import Piece, PieceKind
from runtape.decision import Outcome, OutcomeKind
from runtape.evidence import wilson
from runtape.jsonio import dumps_text, loads
from runtape.reports.cells import cut, one_line
from runtape.trials import Tally

_MINUTE = 60
_HOUR = 3600
_THOUSAND = 1000
_MILLION = 1_000_000
_SMALL_P = 1e-3
_ANYTHING = "anything"
_EDGE = 0.005
"""Shares closer to 0 or 1 than this are printed as that end."""


def plural(count: int, noun: str, many: str | None = None) -> str:
    """``1 run``, ``1,200 runs``; `many` when an s is not enough."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """``a, b and c``."""
    if len(words) < 2:  # noqa: PLR2004 - one word, or none, is no list
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def sentence(text: str) -> str:
    """`text` with a full stop at its end; the empty text stays empty."""
    text = text.strip()
    return f"{text}." if text and text[-1] not in ".!?…”)" else text


def percent(share: float) -> str:
    """A share as whole percent: ``82%``."""
    return f"{share * 100:.0f}%"


def tally(counts: Tally) -> str:
    """``0/10``."""
    return f"{counts.same}/{counts.runs}"


def of_runs(counts: Tally) -> str:
    """``18 of 18 runs``."""
    return f"{counts.same} of {plural(counts.runs, 'run')}"


def interval(low: float, high: float) -> str:
    """An interval of a share in plain words: ``under 28%``, ``over 82%``, ``12–45%``."""
    if low <= _EDGE and high >= 1 - _EDGE:
        return _ANYTHING
    if low <= _EDGE:
        return f"under {percent(high)}"
    if high >= 1 - _EDGE:
        return f"over {percent(low)}"
    return f"{low * 100:.0f}–{percent(high)}"


def likely(counts: Tally) -> str:
    """Where the rate behind `counts` probably is: its 95 % interval (Wilson) in plain words."""
    low, high = wilson(counts.same, counts.runs)
    words = interval(low, high)
    return "could be anything" if words == _ANYTHING else f"likely {words}"


def rated(counts: Tally) -> str:
    """``0/10 (likely under 28%)``."""
    return f"{tally(counts)} ({likely(counts)})"


def p_value(p: float) -> str:
    """``7.6e-8`` when small, two digits otherwise."""
    if p >= _SMALL_P:
        return f"{p:.2g}"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def tokens(count: int) -> str:
    """``950``, ``1.2k``, ``11k``, ``3.4M``."""
    for unit, size in (("M", _MILLION), ("k", _THOUSAND)):
        if count >= size * 0.9995:
            scaled = count / size
            return f"{scaled:.1f}{unit}" if scaled < 9.95 else f"{scaled:.0f}{unit}"  # noqa: PLR2004
    return str(count)


def dollars(amount: float) -> str:
    """``$0.03``; ``under $0.01`` below a cent."""
    if 0 < amount < 0.01:  # noqa: PLR2004 - a cent
        return "under $0.01"
    return f"${amount:,.2f}"


def duration(seconds: float) -> str:
    """``12 ms``, ``3.2 s``, ``2 min 5 s``, ``1 h 12 min``."""
    if seconds < 0.9995:  # noqa: PLR2004 - what rounds to a second is one
        return f"{seconds * 1000:.0f} ms"
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    if seconds < _HOUR:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def size(count: int) -> str:
    """Bytes: ``812 B``, ``4.1 kB``, ``12 MB``."""
    for unit, scale in (("GB", _THOUSAND * _MILLION), ("MB", _MILLION), ("kB", _THOUSAND)):
        if count >= scale:
            scaled = count / scale
            return f"{scaled:.1f} {unit}" if scaled < 9.95 else f"{scaled:.0f} {unit}"  # noqa: PLR2004
    return f"{count} B"


def quoted(text: str, limit: int = 60) -> str:
    """`text` on one line in quotation marks, at most about `limit` cells."""
    return f"“{cut(one_line(text), limit)}”"


def call(name: str, arguments: Any, limit: int = 200) -> str:
    """``forward_email(message_id=2, to="…")``; arguments that are no object stand as they are."""
    if isinstance(arguments, dict):
        inside = ", ".join(f"{key}={dumps_text(value)}" for key, value in arguments.items())
    else:
        inside = "" if arguments in (None, "") else str(arguments)
    return f"{name}({cut(one_line(inside, limit * 2), limit)})"


def recorded_call(name: str, canonical: str, limit: int = 200) -> str:
    """Like :func:`call`, for arguments kept as canonical JSON text."""
    try:
        return call(name, loads(canonical), limit)
    except ValueError:
        return call(name, canonical, limit)


@dataclass(frozen=True, slots=True)
class Happening:
    """Outcomes that a reader would call the same thing, and how often they came.

    Attributes:
        phrase: what happens, in words, without arguments: ``calls forward_email``.
        count: how often.
        sample: the most frequent of the outcomes.
        of: the outcomes counted together, most frequent first.
    """

    phrase: str
    count: int
    sample: Outcome
    of: tuple[tuple[Outcome, int], ...]


def happenings(
    outcomes: Iterable[tuple[Outcome, int]], decided: Iterable[str] = ()
) -> list[Happening]:
    """Outcomes counted by phrase, most frequent first; `decided` as in :func:`outcome_phrase`."""
    names = frozenset(decided)
    groups: dict[tuple[str, bool], list[tuple[Outcome, int]]] = {}
    for outcome, count in outcomes:
        groups.setdefault((outcome_phrase(outcome, names), outcome.same), []).append(
            (outcome, count)
        )
    for members in groups.values():
        members.sort(key=lambda member: -member[1])
    counted = [
        Happening(phrase, sum(count for _, count in members), members[0][0], tuple(members))
        for (phrase, _), members in groups.items()
    ]
    return sorted(counted, key=lambda happening: -happening.count)


def outcome_phrase(outcome: Outcome, decided: Iterable[str] = ()) -> str:
    """What happened, without arguments or words.

    `decided` are the tools of the explained decision: another outcome that calls exactly these
    differs in its arguments.
    """
    if outcome.calls:
        names = list(dict.fromkeys(name for name, _ in outcome.calls))
        differs = outcome.kind is OutcomeKind.OTHER_CALL and set(names) == set(decided)
        return f"calls {listed(names)}{' with other arguments' if differs else ''}"
    return _PHRASES[outcome.kind]


_PHRASES = {
    OutcomeKind.SAME: "answers the same",
    OutcomeKind.TEXT: "answers in words",
    OutcomeKind.OTHER_CALL: "calls another tool",
    OutcomeKind.CUT: "is cut off by max_tokens",
    OutcomeKind.REFUSAL: "refuses",
    OutcomeKind.EMPTY: "answers nothing",
}


def outcome_detail(outcome: Outcome, limit: int = 200) -> str:
    """What happened, with arguments and words: ``calls f(x=1)``, ``answers “…”``."""
    if outcome.calls:
        return "calls " + listed([recorded_call(name, text, limit) for name, text in outcome.calls])
    phrase = outcome_phrase(outcome)
    if not outcome.text:
        return phrase
    verb = "answers" if outcome.kind is OutcomeKind.TEXT else f"{phrase}:"
    return f"{verb} {quoted(outcome.text, limit)}"


def piece_words(piece: Piece) -> str:
    """What a piece is: ``result of read_email``, ``system prompt``, ``sentence``."""
    if piece.tool is None or piece.parent is not None:
        return KIND_WORDS[piece.kind]
    if piece.kind is PieceKind.TOOL_DEFINITION:
        return f"definition of {piece.tool}"
    return f"{'call' if piece.kind is PieceKind.TOOL_CALL else 'result'} of {piece.tool}"


KIND_WORDS = {
    PieceKind.SYSTEM: "system prompt",
    PieceKind.USER: "user message",
    PieceKind.ASSISTANT: "earlier reply",
    PieceKind.TOOL_CALL: "earlier tool call",
    PieceKind.TOOL_RESULT: "tool result",
    PieceKind.TOOL_DEFINITION: "tool definition",
    PieceKind.MEDIA: "image or file",
    PieceKind.ITEM: "item",
    PieceKind.PARAGRAPH: "paragraph",
    PieceKind.SENTENCE: "sentence",
}
"""What a piece is, for a reader."""
