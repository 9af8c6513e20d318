"""What a model does with one context, run after run: the answer of `rerun` and `odds`."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace

from runtape.attribution.assembly import drop_p
from runtape.attribution.facts import Calls
from runtape.attribution.sampling import Gate, Sample, draw
from runtape.attribution.stopping import StopSignal
from runtape.attribution.streaming import stream
from runtape.decision import Decision, Outcome, OutcomeKind
from runtape.decision.reading import calls_of, finds, words_of
from runtape.decision.rules import compile_pattern
from runtape.errors import ModelError
from runtape.evidence import largest_rate, wilson
from runtape.jsonio import Json
from runtape.models.scheduler import Job
from runtape.trials import Tally


@dataclass(frozen=True, slots=True)
class Check:
    """Whether something held in every run. True in a condition when it did; never without runs.

    Attributes:
        what: what was looked for.
        found: runs in which it was found.
        runs: all runs.
        wanted: whether it had to be found in every run, or in none.
        distribution: where it was looked for; None when that is not known.
    """

    what: str
    found: int
    runs: int
    wanted: bool
    distribution: Distribution | None = field(default=None, compare=False)

    def __bool__(self) -> bool:
        return self.runs > 0 and self.found == (self.runs if self.wanted else 0)

    @property
    def interval(self) -> tuple[float, float]:
        """About 95 % interval of the rate of finding it (Wilson)."""
        return wilson(self.found, self.runs)

    @property
    def largest_rate(self) -> float:
        """Largest rate of going wrong that these runs leave possible (exact, one-sided 95 %)."""
        wrong = self.runs - self.found if self.wanted else self.found
        return largest_rate(wrong, self.runs)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.what}: {self.found}/{self.runs} ({low:.0%}–{high:.0%})"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Distribution:
    """The replies to one context and what they decided.

    Attributes:
        decision: the recorded decision.
        samples: the runs, in order.
        asked: runs that were asked for; fewer samples when calls failed or the job ended early.
        baseline: the unchanged context beside it, or None when this is the unchanged one.
        calls: what it cost, the baseline included.
        failure: the provider's or function's error text, when that ended the job.
        trace: path of the trace; empty when that is not known.
        settings: how it was asked for: options that differ from their defaults, by name.
    """

    decision: Decision
    samples: tuple[Sample, ...] = ()
    asked: int = 0
    baseline: Distribution | None = None
    calls: Calls = field(default_factory=Calls)
    failure: str | None = None
    trace: str = ""
    settings: Json = field(default_factory=dict, compare=False)

    def __len__(self) -> int:
        return len(self.samples)

    def __str__(self) -> str:
        lines = [f"{count}/{len(self)}  {name}" for name, count in self.counts().items()]
        return "\n".join(lines) or "0/0"

    def __repr__(self) -> str:
        return f"<Distribution {', '.join(str(self).splitlines())}>"

    @property
    def outcomes(self) -> tuple[tuple[Outcome, int], ...]:
        """Outcomes, most frequent first."""
        return tuple(Counter(sample.outcome for sample in self.samples).most_common())

    @property
    def tally(self) -> Tally:
        """How often the recorded decision was made again."""
        return Tally(sum(s.outcome.same for s in self.samples), len(self.samples))

    @property
    def p(self) -> float | None:
        """One-sided Fisher p that the decision is rarer than in the baseline beside it."""
        return drop_p(self.tally, self.baseline.tally, None) if self.baseline else None

    def counts(self) -> dict[str, int]:
        """Runs by what was called, most frequent first.

        Names of several calls are joined by ``+``; without a call it is ``(text)``, ``(cut)``,
        ``(refusal)`` or ``(empty)``.
        """
        return dict(Counter(_name(sample.outcome) for sample in self.samples).most_common())

    def rate(self, tool: str | None = None) -> float:
        """Share of runs that call `tool`, or that make the recorded decision; NaN without runs."""
        return self._found(tool) / len(self) if self.samples else float("nan")

    def interval(self, tool: str | None = None) -> tuple[float, float]:
        """About 95 % interval of :meth:`rate` (Wilson)."""
        return wilson(self._found(tool), len(self))

    def never_calls(self, tool: str) -> Check:
        """Whether no run calls `tool`."""
        return Check(f"calls {tool}", self._found(tool), len(self), wanted=False, distribution=self)

    def never_recurs(self) -> Check:
        """Whether no run makes the recorded decision again."""
        what = "makes the recorded decision"
        return Check(what, self.tally.same, len(self), wanted=False, distribution=self)

    def always_calls(self, tool: str) -> Check:
        """Whether every run calls `tool`."""
        return Check(f"calls {tool}", self._found(tool), len(self), wanted=True, distribution=self)

    def never_matches(self, pattern: str) -> Check:
        """Whether no call (``name {arguments}``) and no words match; UsageError if malformed."""
        expression = compile_pattern(pattern)
        found = sum(
            any(finds(expression, call) for call in calls_of(sample.reply))
            or bool(expression.search(words_of(sample.reply)))
            for sample in self.samples
        )
        what = f"matches /{pattern}/"
        return Check(what, found, len(self), wanted=False, distribution=self)

    def _found(self, tool: str | None) -> int:
        if tool is None:
            return self.tally.same
        return sum(any(name == tool for name, _ in s.outcome.calls) for s in self.samples)


def sample_bodies(
    gate: Gate,
    decision: Decision,
    bodies: Sequence[Json],
    runs: int,
    *,
    stop: StopSignal | None = None,
) -> AsyncGenerator[Distribution]:
    """Run each body `runs` times; yields the growing distribution of the last one with each reply.

    With two bodies the first is the baseline beside the second. The last item is the result; it
    is partial when `stop` was requested, the budget ended, or the model failed after some
    replies.

    Raises:
        ModelError: the model failed before the first reply.
        asyncio.CancelledError: after the last item, when the iterating task was cancelled.
    """
    board = _Board(gate, Distribution(decision, asked=runs), bodies)
    return stream(board.run, stop)


class _Board:
    """Two columns that fill up."""

    def __init__(self, gate: Gate, empty: Distribution, bodies: Sequence[Json]) -> None:
        self._gate = gate
        self._empty = empty
        self._jobs = [Job(body, empty.asked) for body in bodies]
        self._columns: list[list[Sample]] = [[] for _ in bodies]

    async def run(self, emit: Callable[[Distribution], None]) -> None:
        """Draw all samples; emits a distribution with each, and the result at the end."""

        def arrived(index: int, sample: Sample) -> None:
            self._columns[index].append(sample)
            emit(self._distribution())

        failure: str | None = None
        try:
            self._columns = await draw(self._gate, self._jobs, arrived)
        except asyncio.CancelledError:
            pass  # stopped: the result is what arrived
        except ModelError as error:
            if not any(self._columns):
                raise
            failure = str(error)
        emit(self._distribution(failure))

    def _distribution(self, failure: str | None = None) -> Distribution:
        *before, changed = (replace(self._empty, samples=tuple(c)) for c in self._columns)
        return replace(
            changed,
            baseline=before[0] if before else None,
            calls=self._gate.bill(rounds=min(1, self._gate.scheduler.spent.requests)),
            failure=failure,
        )


def _name(outcome: Outcome) -> str:
    if outcome.calls:
        return "+".join(name for name, _ in outcome.calls)
    kind = OutcomeKind.TEXT if outcome.kind is OutcomeKind.SAME else outcome.kind
    return f"({kind.value})"
