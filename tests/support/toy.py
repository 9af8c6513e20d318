"""A toy context for the search: named texts, a scripted model, and a driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from runtape.attribution.facts import Verdict
from runtape.attribution.protocol import (
    Answers,
    Batch,
    Change,
    Note,
    Reaction,
    SearchResult,
    Seen,
    Wording,
)
from runtape.attribution.search import Procedure, SearchOptions

Present: TypeAlias = Callable[[str], bool]
Model: TypeAlias = Callable[[Present], Seen]

SAME = Seen(Reaction.SAME)
STOPS = Seen(Reaction.STOPS)
OTHER = Seen(Reaction.OTHER_CALL)


class Toy:
    """A tree of named pieces: ``Toy({"system": {}, "mail": {"mail p1": {"greeting": {}}}})``.

    Top-level names that start with ``system`` or ``user`` are given; the first of each and the last
    top-level piece stand apart; everything that is not given was read.
    """

    def __init__(self, shape: Mapping[str, object]) -> None:
        self.names: list[str] = []
        self._parents: list[int | None] = []
        self._children: list[tuple[int, ...]] = []
        self.roots = tuple(self._add(name, below, None) for name, below in shape.items())

    def _add(self, name: str, below: object, parent: int | None) -> int:
        number = len(self.names)
        self.names.append(name)
        self._parents.append(parent)
        self._children.append(())
        assert isinstance(below, Mapping)
        self._children[number] = tuple(self._add(n, b, number) for n, b in below.items())
        return number

    def __getitem__(self, name: str) -> int:
        return self.names.index(name)

    def named(self, pieces: frozenset[int]) -> set[str]:
        """The names of some pieces."""
        return {self.names[p] for p in pieces}

    def around(self, piece: int) -> Iterator[int]:
        """A piece and everything that holds it, from the inside out."""
        step: int | None = piece
        while step is not None:
            yield step
            step = self._parents[step]

    def children(self, piece: int) -> tuple[int, ...]:
        return self._children[piece]

    def given(self, piece: int) -> bool:
        *_, root = self.around(piece)
        return self.names[root].startswith(("system", "user"))

    def read(self, piece: int) -> bool:
        return not self.given(piece)

    def aside(self, piece: int) -> bool:  # noqa: ARG002 - no such pieces here
        return False

    def apart(self, piece: int) -> bool:
        return piece == self.roots[-1] or (self.given(piece) and piece in self.roots)

    def size(self, piece: int) -> int:
        return max(80, sum(map(self.size, self._children[piece])))

    def present(self, change: Change) -> Present:
        """Whether a named text still stands, with its power, in the changed context."""
        return lambda name: change.pieces.isdisjoint(self.around(self[name]))

    def lookup(self, name: str) -> Seen:
        """The model repeats the call that brought this top-level piece."""
        return Seen(Reaction.LOOKUP, lookup=self[name])


@dataclass
class Drive:
    """One search of a toy, step by step.

    Attributes:
        batches: what was asked, in order.
        notes: what was told, in order.
        result: what it came to.
    """

    toy: Toy
    model: Model
    options: SearchOptions = field(default_factory=SearchOptions)
    batches: list[Batch] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    result: SearchResult | None = None

    def __post_init__(self) -> None:
        self.procedure = Procedure(self.toy, self.options)

    def run(
        self, steps: int | None = None, answer: Callable[[Batch], Answers] | None = None
    ) -> SearchResult:
        """Drive it to its end, or close it after so many steps and ask for the partial result."""
        search = self.procedure.run()
        answers: Answers | None = None
        while steps is None or steps > 0:
            steps = None if steps is None else steps - 1
            try:
                event = search.send(answers)
            except StopIteration as end:
                self.result = end.value
                return end.value  # type: ignore[no-any-return]
            answers = None
            if isinstance(event, tuple):
                self.batches.append(event)
                answers = (answer or self.answer)(event)
            else:
                self.notes.append(event)
        search.close()
        self.result = self.procedure.partial(Verdict.INTERRUPTED)
        return self.result

    def answer(self, batch: Batch) -> Answers:
        """What the scripted model says; quoting a text takes its power like removing it."""
        return [[self.model(self.toy.present(ask.change))] * ask.runs for ask in batch]

    @property
    def calls(self) -> int:
        """Runs asked for."""
        return sum(ask.runs for batch in self.batches for ask in batch)

    def runs_of(self, *names: str, wording: Wording = Wording.REMOVE) -> int:
        """Runs asked for without exactly these texts."""
        change = Change(frozenset(self.toy[n] for n in names), wording)
        return sum(ask.runs for batch in self.batches for ask in batch if ask.change == change)


def inbox() -> tuple[Toy, Model]:
    """The agent files an invoice, as told by a sentence that somebody put into a mail."""
    toy = Toy(
        {
            "system": {"be helpful": {}, "be brief": {}},
            "user": {"sort my mail": {}, "thanks": {}},
            "list_emails": {"three mails": {}},
            "read_email 1": {
                "newsletter": {"hello": {}, "news": {}},
                "footer": {"bye": {}, "unsubscribe": {}},
            },
            "read_email 2": {
                "invoice": {"dear sir": {}, "amount due": {}},
                "details": {"iban": {}, "date": {}},
            },
            "read_email 3": {
                "chat": {"how are you": {}, "all well": {}},
                "note": {"file it now": {}, "ps": {}},
            },
            "newest": {"ok": {}},
        }
    )

    def model(present: Present) -> Seen:
        if not present("sort my mail"):
            return STOPS
        if not present("amount due"):
            return toy.lookup("read_email 2")
        return SAME if present("file it now") else OTHER

    return toy, model
