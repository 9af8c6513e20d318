"""The measured remedies on a page: a table, and what each one changes, leads to and breaks."""

from __future__ import annotations

from collections.abc import Iterator

from runtape.remedies.facts import Fix, Trial
from runtape.reports.decisions import decided_tools
from runtape.reports.html.elements import Element, tag
from runtape.reports.html.parts import meter, told
from runtape.reports.remedies_text import effect_words, kept_words, ruled_out, stop_words
from runtape.reports.remedy_words import remedy_names, remedy_words
from runtape.reports.words import happenings, likely, outcome_detail, p_value, plural, tally

_WAYS = 3


def remedies_part(fix: Fix) -> Element | None:
    """What was tried against the decision; None when nothing was."""
    names = remedy_names([trial.remedy for trial in fix.trials])
    rows = list(zip(names, fix.trials, strict=True))
    stopped = stop_words(fix)
    if not rows and not stopped:
        return None
    return tag(
        "section",
        tag("h2", "What helps"),
        tag("p", "Each remedy, measured on the failed context.", class_="lead") if rows else None,
        tag("p", stopped, class_="caution") if stopped else None,
        tag("table", _head(), (_row(*row) for row in rows), class_="remedies") if rows else None,
        (_details(name, trial, fix, best=at == fix.best) for at, (name, trial) in enumerate(rows)),
    )


def _head() -> Element:
    names = ("", "remedy", "still happens", "", "p", "keeps")
    return tag("tr", (tag("th", name, scope="col") for name in names))


def _row(name: str, trial: Trial) -> Element:
    runs = trial.remains.runs
    return tag(
        "tr",
        tag("td", _grade(trial)),
        tag("td", name),
        tag("td", meter(trial.remains, "with") if runs else None),
        tag("td", tag("b", tally(trial.remains)) if runs else "not run", class_="number"),
        tag("td", "" if trial.adjusted is None else p_value(trial.adjusted), class_="number"),
        tag("td", kept_words(trial), class_="number"),
    )


def _grade(trial: Trial) -> Element:
    word = trial.grade.value if trial.grade else "–"
    return tag("b", word, class_=f"grade {word.lower()}")


def _details(name: str, trial: Trial, fix: Fix, *, best: bool) -> Element:
    remedy = trial.remedy
    return tag(
        "details",
        tag(
            "summary",
            _grade(trial),
            tag("span", name),
            tag("span", "the first that passes", class_="what") if best else None,
        ),
        tag("p", remedy_words(remedy)),
        tag("blockquote", told(remedy.system), class_="text") if remedy.system else None,
        _outcomes(trial, fix),
        tag("p", trial.failure, class_="caution") if trial.failure else None,
        class_="remedy",
        open=best,
    )


def _outcomes(trial: Trial, fix: Fix) -> Iterator[Element]:
    """What it leads to, what it breaks, and what the runs rule out."""
    ways = happenings(trial.outcomes, decided_tools(fix.decision))
    for way in ways[:_WAYS]:
        count = f"{way.count}/{trial.remains.runs}"
        yield tag("p", tag("b", count, class_="number"), f" {outcome_detail(way.sample, 300)}")
    if len(ways) > _WAYS:
        yield tag("p", f"and {plural(len(ways) - _WAYS, 'other way')}", class_="quiet")
    for effect in trial.broken:
        yield tag("p", tag("b", "Breaks "), effect_words(effect, fix))
    if trial.remains.runs:
        words = likely(trial.remains) if trial.remains.same else ruled_out(trial.remains)
        yield tag("p", words, class_="quiet")
