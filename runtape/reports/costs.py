"""What something cost, in words."""

from __future__ import annotations

from runtape.attribution.facts import Calls
from runtape.reports.words import dollars, plural, tokens


def cost_words(calls: Calls) -> list[str]:
    """Calls, tokens, money and rounds, each as a phrase."""
    words = [f"{plural(calls.made, 'call')} of {calls.budget:,} allowed"]
    if calls.cached:
        words.append(f"{calls.cached:,} from the cache")
    if calls.errors:
        words.append(f"{calls.errors:,} failed")
    if calls.input_tokens is not None:
        ins, outs = tokens(calls.input_tokens), tokens(calls.output_tokens or 0)
        words.append(f"{ins} tokens in, {outs} out")
    if calls.cost_usd is not None:
        words.append(dollars(calls.cost_usd))
    if calls.rounds > 1:
        words.append(plural(calls.rounds, "round"))
    return words
