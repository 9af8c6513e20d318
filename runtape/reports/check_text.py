"""What stands under a failed test: what the model did, and the command that explains it."""

from __future__ import annotations

from pathlib import Path

from runtape.attribution.distribution import Distribution
from runtape.reports.cells import cut
from runtape.reports.commands import Suggestion, carried
from runtape.reports.decisions import decision_words
from runtape.reports.distribution_text import way_rows
from runtape.reports.sheet import safe
from runtape.reports.words import plural

_COLUMNS = 78
_SHOWN = 8


def check_words(found: Distribution) -> str:
    """Several lines; the command is one that can be pasted."""
    decision = found.decision
    words = f"recorded: event {decision.event} {decision_words(decision)}"
    lines = [cut(safe(words), _COLUMNS), f"now, in {plural(len(found), 'run')}:"]
    for row in way_rows(found)[:_SHOWN]:
        count = f"{row.changed}/{len(found)}"
        mark = "●" if row.same else " "
        lines.append(f"  {count:<7} {mark} {cut(safe(row.detail), _COLUMNS - 12)}")
    if found.failure:
        lines.append(f"  then: {safe(found.failure)}")
    if found.trace:
        lines += ["why the recorded call came to it:", *(f"  {c}" for c in _command(found))]
    return "\n".join(lines)


def _command(found: Distribution) -> list[str]:
    path = Path(found.trace)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    asked = {name: value for name, value in found.settings.items() if name != "model"}
    words = ("runtape", "why", str(path), str(found.decision.event), *carried(asked))
    return Suggestion("", words).lines(_COLUMNS)
