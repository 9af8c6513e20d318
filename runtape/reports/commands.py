"""Commands to try next: real ones, quoted for the shell, with the options of the run before."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from runtape.attribution.facts import Verdict
from runtape.decision import DecisionKind
from runtape.jsonio import Json
from runtape.remedies.facts import FixEnd
from runtape.reports.fix_report import FixReport
from runtape.reports.why_report import WhyReport

_CARRIED = ("tool", "match", "judge", "model-fn", "model", "base-url")
"""Options that say what is asked and of whom; they go on to the next command."""
_FLAGS = ("exact-args",)
_ASKING = ("why", "rerun", "odds", "fix")
_LISTED = {"rules": "--rule", "also": "--also"}
"""Options of a fix that may be given several times."""
_TEST = "tests/test_{name}.py"
_MORE_RUNS = 40
_SENSIBLE = 100
"""Budget below which it is no use to go on."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a command is for, and its words."""

    purpose: str
    words: tuple[str, ...]

    def lines(self, columns: int) -> list[str]:
        """The command; wider than `columns`, it is continued with a backslash before an option."""
        chunks = list(_chunks(self.words))
        lines = [chunks[0]]
        for chunk in chunks[1:]:
            if len(lines[-1]) + len(chunk) + 3 > columns:
                lines[-1] += " \\"
                lines.append(f"  {chunk}")
            else:
                lines[-1] += f" {chunk}"
        return lines


def _chunks(words: tuple[str, ...]) -> Iterator[str]:
    """Words kept together: an option with its value."""
    current: list[str] = []
    for word in words:
        if word.startswith("--") and current:
            yield _shell(current)
            current = []
        current.append(word)
    yield _shell(current)


def _shell(words: list[str]) -> str:
    return " ".join(shell_word(word) for word in words)


def shell_word(word: str) -> str:
    """`word` quoted for a shell; control and hidden characters as bash and zsh escapes."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = re.sub(r"['\\]", r"\\\g<0>", word)
    return "$'" + "".join(c if c.isprintable() else _escape(c) for c in escaped) + "'"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - four digits


@dataclass(frozen=True, slots=True)
class Idea:
    """What to try, for which command and options; `without` are options not to carry on."""

    purpose: str
    verb: str
    options: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()


def suggestions(report: WhyReport) -> list[Suggestion]:
    """What is worth trying after this verdict, most useful first."""
    return [
        Suggestion(idea.purpose, ("runtape", idea.verb, *_place(report, idea), *idea.options))
        for idea in _ideas(report)
    ]


def fix_suggestions(report: FixReport) -> list[Suggestion]:
    """What is worth trying after a `fix`, most useful first."""
    why = report.why
    if report.fix.end is FixEnd.NOTHING_TO_FIX:
        ideas = list(_AFTER[report.fix.explained.verdict](why))
    else:
        ideas = list(_fix_ideas(report))
    return [
        Suggestion(idea.purpose, ("runtape", idea.verb, *_place(why, idea), *idea.options))
        for idea in ideas
    ]


def _fix_ideas(report: FixReport) -> Iterator[Idea]:
    fix = report.fix
    if report.best is not None:
        name = re.sub(r"\W+", "_", report.subject.name).strip("_").lower() or "decision"
        path = _TEST.format(name=name)
        yield Idea("write a test, so that it stays fixed", "fix", ("--write-test", path))
    elif fix.end in (FixEnd.MEASURED, FixEnd.NOTHING_TO_TRY):
        yield Idea("try a rule of your own", "fix", ("--rule", "YOUR RULE"))
    if fix.end is FixEnd.BUDGET_SPENT:
        budget = max(2 * fix.calls.budget, _SENSIBLE)
        yield Idea("go on from here", "fix", ("--budget", str(budget)))
    if fix.end in (FixEnd.PROVIDER_FAILED, FixEnd.INTERRUPTED):
        yield Idea("go on from here", "fix")
    if fix.end is FixEnd.INCOMPLETE_CONTEXT:
        yield Idea("see what the trace lacks", "check")


def _place(report: WhyReport, idea: Idea) -> list[str]:
    trace = report.subject.handle or report.subject.path
    if idea.verb == "check":
        return [trace]
    place = [trace, str(report.investigation.decision.event)]
    if idea.verb not in _ASKING:
        return place
    settings = {k: v for k, v in report.settings.items() if k not in idea.without}
    if idea.verb == "fix":
        place += [
            w for n, option in _LISTED.items() for v in settings.get(n, ()) for w in (option, v)
        ]
    return [*place, *carried(settings)]


def carried(settings: Json) -> list[str]:
    """The options of `settings` that the next command needs too, as words."""
    words: list[str] = []
    for name in _CARRIED:
        value = settings.get(name.replace("-", "_"))
        if value is not None:
            words += [f"--{name}", str(value)]
    return words + [f"--{name}" for name in _FLAGS if settings.get(name.replace("-", "_"))]


def _ideas(report: WhyReport) -> Iterator[Idea]:
    verdict = report.investigation.verdict
    if report.headline is not None:
        drops = [word for piece in report.headline.pieces for word in ("--drop", piece.ref)]
        yield Idea("see it with and without, side by side", "rerun", tuple(drops))
        yield Idea("measure what helps, and what it breaks", "fix")
        brought = report.investigation.chain is None and not report.headline.pieces[0].given
        if brought:
            yield Idea("go back to the decision that brought it", "why", ("--chain",))
        if verdict is Verdict.ATTRIBUTED:
            if not brought:
                yield Idea("read what the model saw", "context")
            return
    yield from _AFTER[verdict](report)


def _after_nothing(report: WhyReport) -> Iterator[Idea]:
    if report.settings.get("full"):
        yield from _after_budget(report)
    else:
        yield Idea("search everything, not only until the first answer", "why", ("--full",))
    yield Idea("read what the model saw", "context")


def _after_absence(report: WhyReport) -> Iterator[Idea]:
    yield Idea("see what it does now, more often", "odds", ("--runs", str(_MORE_RUNS)))
    if report.settings.get("exact_args"):
        yield Idea("let the arguments differ", "why", without=frozenset({"exact_args"}))
    if report.investigation.decision.kind is DecisionKind.TEXT:
        judge = report.subject.model or "MODEL"
        yield Idea("let a model say which answers are the same", "why", ("--judge", judge))


def _after_budget(report: WhyReport) -> Iterator[Idea]:
    budget = max(2 * report.investigation.calls.budget, _SENSIBLE)
    yield Idea("go on from here", "why", ("--budget", str(budget)))


def _after_failure(_: WhyReport) -> Iterator[Idea]:
    yield Idea("go on when it answers again", "why")


def _after_interrupt(_: WhyReport) -> Iterator[Idea]:
    yield Idea("go on from here", "why")


def _after_incomplete(_: WhyReport) -> Iterator[Idea]:
    yield Idea("see what the trace lacks", "check")


_AFTER: dict[Verdict, Callable[[WhyReport], Iterator[Idea]]] = {
    Verdict.ATTRIBUTED: _after_nothing,
    Verdict.ONLY_REQUIRED: _after_nothing,
    Verdict.NOTHING_FOUND: _after_nothing,
    Verdict.DID_NOT_RECUR: _after_absence,
    Verdict.TOO_RARE: _after_absence,
    Verdict.BUDGET_SPENT: _after_budget,
    Verdict.PROVIDER_FAILED: _after_failure,
    Verdict.INTERRUPTED: _after_interrupt,
    Verdict.INCOMPLETE_CONTEXT: _after_incomplete,
}
