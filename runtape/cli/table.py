"""All commands and what they do: read for ``--help`` without importing any of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: its name, which is also that of its module, and its short help."""

    name: str
    summary: str


SECTIONS: dict[str, tuple[Entry, ...]] = {
    "Record": (
        Entry("run", "Record an unmodified script."),
        Entry("replay", "Run a script against a recording, offline."),
    ),
    "Find out": (
        Entry("why", "Which part of the context caused a decision."),
        Entry("rerun", "What the model does when something is changed."),
        Entry("odds", "How often the decision comes on the unchanged context."),
    ),
    "Repair": (
        Entry("fix", "What helps against a decision, and what that breaks."),
        Entry("test", "A pytest file that fails when the decision comes back."),
    ),
    "Look": (
        Entry("ls", "Recorded runs, newest first."),
        Entry("summary", "One run at a glance."),
        Entry("timeline", "All events of a run."),
        Entry("show", "One event in full."),
        Entry("context", "What the model saw at a call, piece by piece, with refs."),
        Entry("grep", "Where a pattern stands."),
        Entry("diff", "Two contexts, or two runs, side by side."),
        Entry("check", "Whether a trace is whole, and what a rerun would lack."),
    ),
    "Share": (
        Entry("report", "A saved report again: as text, page, picture or Markdown."),
        Entry("mcp", "Serve the traces to an agent, over the Model Context Protocol."),
    ),
    "Start": (Entry("demo", "An example agent, recorded and explained offline."),),
}
"""Commands by what one wants to do, in the order of the help page."""

HIDDEN = (Entry("view", "A run in the app; off a terminal, its timeline."),)
"""Commands that are called by a shorter form: ``runtape TRACE``."""

ENTRIES: dict[str, Entry] = {
    entry.name: entry for section in (*SECTIONS.values(), HIDDEN) for entry in section
}
