"""What a rerun changes, in words."""

from __future__ import annotations

from runtape.attribution.options import RerunOptions
from runtape.jsonio import dumps_text
from runtape.reports.words import quoted


def change_words(options: RerunOptions, system_from: str = "") -> list[str]:
    """A phrase for each change; `system_from` is where a whole system prompt came from."""
    words = [f"without {ref}" for ref in options.drop]
    words += [f"{ref} quoted as data" for ref in options.quote]
    words += [f"{quoted(old, 30)} became {quoted(new, 30)}" for old, new in options.replace.items()]
    if options.system is not None:
        words.append(f"system prompt from {system_from}" if system_from else "other system prompt")
    if options.add_system is not None:
        words.append(f"system prompt ends with {quoted(options.add_system, 50)}")
    if options.delimit:
        words.append("tool results between marks")
    if options.model_name is not None:
        words.append(f"model {options.model_name}")
    words += [f"{name} set to {dumps_text(value)}" for name, value in options.params.items()]
    return [*words, "edited by hand"] if options.edit else words
