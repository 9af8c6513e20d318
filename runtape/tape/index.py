"""What is where on a tape: built in one pass, added to as the file grows."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict

from runtape.jsonio import Json
from runtape.tape.events import RUN_END, RUN_START, Head, Problem
from runtape.tape.lines import parse_envelope
from runtape.tape.source import Source

_MOST_PROBLEMS = 1000
"""Problems kept: a file of rubbish must not cost more memory than it has bytes."""


_PADDING = b"\0\r\t "
"""Around an event: line ends of other systems, and blocks of NUL left by a crashed machine."""


class Index:
    """Heads of all readable events, in file order, and everything that was skipped.

    Each line is parsed once and forgotten (that is what finds corrupt ones); only its head is kept.

    Attributes:
        heads: one per event.
        by_id: id → head; the first event with an id keeps it.
        by_type: type → heads.
        by_parent: parent id → heads.
        start: payload of the first run_start, empty if there is none.
        ended: whether a run_end was read.
        end: bytes read so far, up to the start of an unfinished last line.
    """

    def __init__(self) -> None:
        self.heads: list[Head] = []
        self.by_id: dict[int, Head] = {}
        self.by_type: defaultdict[str, list[Head]] = defaultdict(list)
        self.by_parent: defaultdict[int, list[Head]] = defaultdict(list)
        self.start: Json = {}
        self.ended = False
        self.end = 0
        self._line = 1
        self._lines = array("Q")
        self._problems: list[Problem] = []
        self._unfinished: Problem | None = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Skipped places in file order, the unfinished last line included."""
        last = () if self._unfinished is None else (self._unfinished,)
        return (*self._problems, *last)

    def extend(self, source: Source) -> int:
        """Read what was added to the file; returns the number of new events."""
        before = len(self.heads)
        self._unfinished = None
        line: bytes | None = None
        for following in source.lines(self.end):
            if line is not None:
                self._read(line)
                self._line += 1
                self.end += len(line) + 1
                if not self.heads and len(self._problems) == _MOST_PROBLEMS:
                    break  # whatever this is, it is no tape
            line = following
        if line:
            self._read_unfinished(line)
        return len(self.heads) - before

    def report(self, head: Head, what: str) -> Problem:
        """A problem with the event of `head`."""
        position = bisect_left(self.heads, head.offset, key=lambda other: other.offset)
        return Problem(self._lines[position], head.offset, what)

    def _read(self, line: bytes) -> None:
        content = line.strip(_PADDING)
        if not content:
            if b"\0" in line:
                self._note("NUL bytes")
            return
        try:
            fields = parse_envelope(content)
        except ValueError as reason:
            self._note(str(reason))
            return
        before = 0
        if content is not line:
            before = len(line) - len(line.lstrip(_PADDING))
            if b"\0" in line:
                self._note("NUL bytes around an event")
        self._add(fields, self.end + before, len(content))

    def _read_unfinished(self, line: bytes) -> None:
        """An unfinished last line counts when it is whole but for its newline."""
        try:
            fields = parse_envelope(line)
        except ValueError:
            self._unfinished = Problem(self._line, self.end, "torn last line")
            return
        self._add(fields, self.end, len(line))
        self.end += len(line)

    def _add(self, fields: Json, offset: int, length: int) -> None:
        head = Head(fields["id"], fields["ts"], fields["type"], fields["parent"], offset, length)
        self.heads.append(head)
        self._lines.append(self._line)
        if self.by_id.setdefault(head.id, head) is not head:
            self._note(f"duplicate event id {head.id}")
        self.by_type[head.type].append(head)
        if head.parent is not None:
            self.by_parent[head.parent].append(head)
        if head.type == RUN_START and not self.start:
            self.start = fields["payload"]
        self.ended = self.ended or head.type == RUN_END

    def _note(self, what: str) -> None:
        if len(self._problems) < _MOST_PROBLEMS:
            self._problems.append(Problem(self._line, self.end, what))
