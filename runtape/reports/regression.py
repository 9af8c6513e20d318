"""A pytest file that makes a model call again and fails when the bad decision comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from runtape.decision import Decision, DecisionKind
from runtape.evidence import largest_rate
from runtape.reports.decisions import decision_words
from runtape.reports.words import percent

_WIDTH = 95
_PART = 72
"""Characters of one piece of a long text."""
_SHORT = {"\n": "\\n", "\t": "\\t"}
KEPT_RUNS = 5
"""Runs of each decision that has to go on happening."""
MODEL_FILE = "model_fn"


@dataclass(frozen=True, slots=True)
class Regression:
    """What a test file is made of.

    Attributes:
        decision: what must not happen again.
        trace: the trace's path, relative to the test file.
        run: name of the recorded run.
        runs: times the call is made.
        ask: who is asked and what counts as the same: options of ``runtape.rerun``; a model
            function of a file is named relative to the test file.
        fix: the change under which it must not happen: options of ``runtape.rerun``; empty: none.
        deterministic: whether the call is made at temperature 0: more runs tell no more.
        kept: event → what happens there, for decisions that have to go on happening.
        version: version of runtape that writes it.
    """

    decision: Decision
    trace: str
    run: str
    runs: int
    ask: Mapping[str, Any] = field(default_factory=dict)
    fix: Mapping[str, Any] = field(default_factory=dict)
    deterministic: bool = False
    kept: Mapping[int, str] = field(default_factory=dict)
    version: str = ""


def regression_source(test: Regression) -> str:
    """The text of the file."""
    kept = _KEPT.format(kept=_literal(dict(test.kept)), runs=KEPT_RUNS) if test.kept else ""
    source = _HEAD.format(
        title=_title(test),
        run=_in_docstring(test.run),
        version=test.version,
        event=test.decision.event,
        runs=test.runs,
        promise=_promise(test),
        trace=_literal(test.trace),
        ask=_asked(test.ask),
        fix=_literal(dict(test.fix)),
        name=_name(test.decision),
        check=_check(test),
    )
    return source + (f"\n\n{kept}" if kept else "")


def _promise(test: Regression) -> str:
    """What a pass means."""
    if test.deterministic:
        return "At temperature 0 one context\nhas one answer: more RUNS would tell no more."
    bound = percent(largest_rate(0, test.runs))
    return (
        f"A pass rules out\na rate of {bound} or more (exact one-sided 95% bound); "
        "more RUNS rule out smaller ones."
    )


def _title(test: Regression) -> str:
    words = _in_docstring(decision_words(test.decision))
    return words if len(words) <= _WIDTH - 30 else f"{words[: _WIDTH - 31]}…"


def _in_docstring(text: str) -> str:
    """Foreign text that can end no docstring and no comment."""
    return re.sub(r"[^ -~…“”’–]", " ", text).replace("\\", "/").replace('"', "'")


def _name(decision: Decision) -> str:
    words = re.sub(r"\W+", "_", decision.tool or "the_decision", flags=re.ASCII).strip("_").lower()
    return f"test_{words or 'the_decision'}_does_not_happen"


def _check(test: Regression) -> str:
    """The assertion: by the tool's name where that is all that counts."""
    decision = test.decision
    if decision.kind is DecisionKind.TOOL and not test.ask.get("exact_args"):
        return f"never_calls({_literal(decision.tool)})"
    return "never_recurs()"


def _asked(ask: Mapping[str, Any]) -> str:
    """The options; a model function of a file is looked for from where the test stands."""
    place, _, function = str(ask.get(MODEL_FILE, "")).rpartition(":")
    if not place.endswith(".py"):
        return _literal(dict(ask))
    rest = {key: value for key, value in ask.items() if key != MODEL_FILE}
    found = f'str((HERE / {_literal(place)}).resolve()) + ":{function}"'
    rows = _literal(rest).splitlines()[1:] if rest else ["}"]
    return "\n".join(("{", f'    "{MODEL_FILE}": {found},', *rows))


def _literal(value: Any, indent: int = 0) -> str:
    """A value as Python writes it, with double quotes, a member a line, long texts in pieces."""
    if isinstance(value, str):
        return _text_literal(value, indent)
    if isinstance(value, dict) and value:
        inner = " " * (indent + 4)
        rows = [f"{inner}{_literal(k)}: {_literal(v, indent + 4)}," for k, v in value.items()]
        return "\n".join(("{", *rows, f"{' ' * indent}}}"))
    if isinstance(value, list) and value:
        return f"[{', '.join(_literal(item, indent) for item in value)}]"
    return repr(value)


def _text_literal(text: str, indent: int) -> str:
    if len(text) + indent <= _WIDTH - 20 and "\n" not in text:
        return f'"{_escaped(text)}"'
    inner = " " * (indent + 4)
    rows = [f'{inner}"{_escaped(part)}"' for part in _parts(text)]
    return "\n".join(("(", *rows, f"{' ' * indent})"))


def _parts(text: str) -> Iterator[str]:
    """Pieces of a line's length that make up the text, broken after blanks and line breaks."""
    while text:
        cut = text[:_PART]
        end = cut.find("\n") + 1 or (cut.rfind(" ") + 1 if len(text) > _PART else 0) or len(cut)
        yield text[:end]
        text = text[end:]


def _escaped(text: str) -> str:
    """What may stand between double quotes; hidden characters as escapes."""
    return "".join(map(_escape, text))


def _escape(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    return _SHORT.get(character) or character.encode("unicode_escape", "surrogatepass").decode()


_HEAD = '''\
"""Must not happen again: {title}

Written by runtape {version}. It makes one model call of the run {run} again, the one behind
event {event} of the trace beside this file, with the change in FIX, {runs} times. {promise}

Skipped where no model can be asked (no key, no SDK, no server). Replies are kept in ./.runtape and
used again: `pytest --runtape-live` asks anew, `pytest --runtape-cached` asks nobody.
"""

from pathlib import Path

import pytest

import runtape

HERE = Path(__file__).parent
TRACE = HERE / {trace}
EVENT = {event}
RUNS = {runs}
ASK = {ask}
FIX = {fix}


def measure(config, event, runs, **options):
    """What the model does at `event` now; skips when nobody can be asked."""
    if config.getoption("--runtape-live", default=False):
        options["cache"] = False
    if config.getoption("--runtape-cached", default=False):
        options["only_kept"] = True
    try:
        if FIX:
            return runtape.rerun(TRACE, event, runs=runs, baseline=False, **FIX, **options)
        return runtape.odds(TRACE, event, runs=runs, **options)
    except (runtape.MissingKey, runtape.MissingPackage) as reason:
        pytest.skip(f"no model to ask: {{reason}}")
    except runtape.ProviderError as reason:
        if reason.status is not None:
            raise
        pytest.skip(f"no server to ask: {{reason}}")


def complete(dist):
    """Skip when replies are missing: nobody was asked for them, or the calls failed."""
    if len(dist) < dist.asked:
        pytest.skip(f"only {{len(dist)}} of {{dist.asked}} replies: {{dist.failure or 'not kept'}}")
    return dist


def {name}(pytestconfig):
    """Not once in {runs} runs."""
    dist = complete(measure(pytestconfig, EVENT, RUNS, **ASK))
    assert dist.{check}, dist
'''

_KEPT = '''\
KEPT = {kept}
"""Event → what the model does there, and has to go on doing."""


@pytest.mark.parametrize("event", KEPT)
def test_other_decisions_still_happen(pytestconfig, event):
    """At least four times in five."""
    ask = {{key: ASK[key] for key in ASK if key not in {{"tool", "match", "exact_args", "judge"}}}}
    dist = complete(measure(pytestconfig, event, {runs}, **ask))
    assert dist.counts().get(KEPT[event], 0) >= 0.8 * len(dist), dist
'''
