"""Following a trace that is still being written, deleted, cut short or replaced."""

from __future__ import annotations

from enum import Enum, auto

from runtape.errors import RuntapeError
from runtape.tape.reader import Tape


class News(Enum):
    """What happened to the file since the last look."""

    NOTHING = auto()
    GREW = auto()
    GONE = auto()
    BACK = auto()
    REPLACED = auto()
    UNREADABLE = auto()


NEWS_WORDS = {
    News.GONE: "the file was deleted or moved; what was read of it is still here",
    News.BACK: "the file is back",
    News.REPLACED: "the file was cut short or replaced: it was read anew",
    News.UNREADABLE: "the file holds no run any more; what was read of it is still here",
}
"""What the reader is told."""


class Feed:
    """Looks at the file now and then.

    Args:
        tape: the run.
    """

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._gone = False
        self._broken = False

    def poll(self) -> News:
        """Read what was added; each trouble is told once."""
        if not self._tape.path.exists():
            gone, self._gone = self._gone, True
            return News.NOTHING if gone else News.GONE
        back, self._gone = self._gone, False
        before = self._tape.heads
        try:
            added = self._tape.refresh()
        except (RuntapeError, OSError):
            broken, self._broken = self._broken, True
            return News.NOTHING if broken else News.UNREADABLE
        self._broken = False
        if self._tape.heads is not before:
            return News.REPLACED
        if back:
            return News.BACK
        return News.GREW if added else News.NOTHING
