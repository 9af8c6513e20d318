"""Jobs that play what they are told to: a `why` without a search and without a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import pairwise
from pathlib import Path

from runtape.attribution.facts import (
    BaselineChanged,
    Calls,
    CallsChanged,
    Cause,
    CauseConfirmed,
    Fact,
    Finished,
    Investigation,
    Mode,
    Phase,
    PhaseChanged,
    PieceAsked,
    PieceChanged,
    PieceState,
    Recheck,
    Role,
    Started,
    Step,
    TallyChanged,
    Unfolded,
    Verdict,
)
from runtape.attribution.options import WhyOptions
from runtape.context.pieces import Piece
from runtape.decision import Outcome, OutcomeKind
from runtape.dialects import dialect_for
from runtape.dialects.base import Reply, ToolCall
from runtape.evidence import fisher_less
from runtape.recording import record
from runtape.trials import Tally
from runtape.workbench import Trace, WhyJob, prepare_why
from runtape_tui.jobs import Engine

Play = Callable[["PlayedWhy"], Sequence[Fact | float]]
"""The facts of a job; numbers are seconds to wait."""


class PlayedWhy(WhyJob):
    """Plays a list of facts instead of investigating; stopped, it skips to the last one."""

    script: Sequence[Fact | float] = ()

    def __init__(self, job: WhyJob, play: Play) -> None:
        super().__init__(job.question, WhyOptions())
        self.halted = False
        self.script = play(self)

    async def facts(self) -> AsyncGenerator[Fact]:
        """The facts of the script."""
        for step in self.script:
            if self.halted and not isinstance(step, Finished):
                continue
            if isinstance(step, float):
                await asyncio.sleep(step)
            else:
                yield step

    def stop(self) -> None:
        """Skip to the end."""
        self.halted = True


def playing(play: Play) -> Engine:
    """An engine whose `why` jobs play."""

    def why(trace: Trace, event: int, options: WhyOptions) -> WhyJob:
        return PlayedWhy(prepare_why(trace, event, options), play)

    return Engine(why=why)


def opening(job: WhyJob, *, budget: int = 400) -> list[Fact]:
    """The first facts: a settled baseline of 18 of 18."""
    settled = BaselineChanged(
        Tally(18, 18), settled=True, mode=Mode.CONSISTENT, level=8e-4, slots=40
    )
    return [
        Started(job.decision, job.context.roots, budget),
        PhaseChanged(Phase.BASELINE),
        settled,
        PhaseChanged(Phase.SCREEN),
    ]


def ending(job: WhyJob, verdict: Verdict = Verdict.NOTHING_FOUND, **fields: object) -> Finished:
    """The last fact, with an otherwise empty report."""
    blank = {
        "decision": job.decision,
        "verdict": verdict,
        "mode": Mode.CONSISTENT,
        "baseline": Tally(18, 18),
        "outcomes": (),
        "causes": (),
        "pieces": (),
        "untested": (),
        "calls": Calls(made=18, budget=400),
        "warnings": (),
    }
    return Finished(Investigation(**{**blank, **fields}))


def solved(job: WhyJob, ref: str) -> list[Fact | float]:
    """A whole search whose answer is the piece `ref`, with two inputs that are needed."""
    context = job.context
    leaf = context.piece(ref)
    way = [leaf]
    while way[0].parent is not None:
        way.insert(0, context.by_id(way[0].parent))
    user, read = (context.piece(number) for number in ("1", "20"))
    found: list[Fact | float] = opening(job)
    for piece in context.roots:
        runs = Tally(0, 3) if piece in (user, read) else Tally(0, 2) if piece == way[0] else None
        state = PieceState.SUSPECTED if runs else PieceState.NO_EFFECT
        found += [PieceAsked((piece.id,), 2), _told(piece, runs or Tally(2, 2))]
        found.append(PieceChanged(piece.id, state))
    found.append(PhaseChanged(Phase.NARROW))
    for outer, inner in pairwise(way):
        parts = context.children(outer)
        found.append(Unfolded(outer.id, parts))
        found += [_told(part, Tally(int(part != inner), 1)) for part in parts]
    found += [_told(leaf, Tally(0, 10)), PieceChanged(leaf.id, PieceState.CAUSE)]
    causes = [_claim(leaf, way, Role.CAUSE), _claim(user, [user], Role.REQUIRED)]
    found += [CauseConfirmed(cause) for cause in causes]
    calls = Calls(made=64, cached=3, budget=400, requests=64, rounds=8)
    report = ending(
        job, Verdict.ATTRIBUTED, causes=tuple(causes), calls=calls, level=8e-4, slots=40
    )
    return [*found, PieceChanged(user.id, PieceState.REQUIRED), CallsChanged(calls), report]


def _told(piece: Piece, counts: Tally) -> TallyChanged:
    return TallyChanged(piece.id, counts, fisher_less(counts.same, counts.runs, 18, 18))


def _claim(piece: Piece, way: list[Piece], role: Role) -> Cause:
    last = Tally(0, 10) if role is Role.CAUSE else Tally(0, 3)
    words = Outcome(OutcomeKind.TEXT, text="Dana wants the Q3 numbers by Friday.")
    return Cause(
        pieces=(piece,),
        role=role,
        headline=role is Role.CAUSE,
        without=last,
        p=fisher_less(last.same, last.runs, 18, 18),
        level=8e-4,
        claimed_at=Tally(0, 3),
        claimed_p=fisher_less(0, 3, 18, 18),
        instead=((words, last.runs),),
        narrowed=(*tuple(Step(part, Tally(0, 1)) for part in way[:-1]), Step(piece, last)),
        rechecks=(Recheck("quoted", Tally(5, 5)),) if role is Role.CAUSE else (),
    )


def updates(job: WhyJob, count: int, gap: float) -> list[Fact | float]:
    """One run after the other of every piece in turn, `gap` seconds apart."""
    found: list[Fact | float] = []
    roots = job.context.roots
    for number in range(count):
        piece, runs = roots[number % len(roots)], number // len(roots) + 1
        same = runs if number % 50 else 0
        found += [
            PieceAsked((piece.id,), 1),
            gap,
            TallyChanged(piece.id, Tally(same, runs), 1.0 if same else 0.05),
            CallsChanged(Calls(made=18 + number, budget=4000, rounds=1)),
        ]
    return found


def long_context(folder: Path, messages: int) -> Path:
    """A run with one decision whose context has about that many pieces."""
    with record("long", folder) as rec:
        said = [
            {
                "role": ("user", "assistant")[n % 2],
                "content": f"Remark {n} about leeks. It is short.",
            }
            for n in range(messages)
        ]
        request = {"model": "m-1", "messages": said}
        event = rec.log_llm_request(request, api="openai.chat")
        reply = Reply(None, (ToolCall("order", {"what": "leeks"}, "call_1"),))
        rec.log_llm_response(event, dialect_for("openai.chat").render(reply, request))
        return rec.path
