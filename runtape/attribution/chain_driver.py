"""Runs a causal chain against real models: the search of each hop, and the check of each link.

No tool is run. An earlier decision is the call that fetched a tool result, found on the tape; it
counts as the same only with the same arguments.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import TypeAlias

from runtape.attribution.assembly import drop_p
from runtape.attribution.chain import (
    Answer,
    Check,
    Finding,
    Look,
    Nature,
    Step,
    StepBack,
    Trail,
    walk_back,
)
from runtape.attribution.chain_facts import Chain, ChainEnd, Hop, Link, LinkKind
from runtape.attribution.driver import run_search
from runtape.attribution.facts import (
    CallsChanged,
    Cause,
    ChainEnded,
    Fact,
    Finished,
    HopFact,
    HopStarted,
    Investigation,
    LinkChecked,
    Mode,
    Role,
    Verdict,
)
from runtape.attribution.gauge import Gauge
from runtape.attribution.narration import Inquiry
from runtape.attribution.options import WhyOptions
from runtape.attribution.sampling import Place, Sample, draw
from runtape.attribution.stopping import StopSignal
from runtape.attribution.streaming import stream
from runtape.context import Context, Piece, PieceKind, remove
from runtape.context.counterparts import counterpart
from runtape.errors import InvalidEdit, ModelError, NotADecision, RuntapeError
from runtape.models.scheduler import Job
from runtape.trials import Tally

Back: TypeAlias = Callable[[Context, Piece], Place]
"""The decision that brought a top-level piece. Raises NotADecision when no recorded reply asks for
it, and IncompleteContext (or another RuntapeError) when it cannot be run again."""

_NATURES = {
    PieceKind.TOOL_RESULT: Nature.LOOKUP,
    PieceKind.TOOL_CALL: Nature.LOOKUP,
    PieceKind.ASSISTANT: Nature.OWN_WORDS,
    PieceKind.USER: Nature.USER,
    PieceKind.SYSTEM: Nature.SYSTEM,
    PieceKind.TOOL_DEFINITION: Nature.DEFINITION,
    PieceKind.MEDIA: Nature.MEDIA,
}
_GIVEN = (Nature.USER, Nature.SYSTEM)
_LINK_LEVEL = 0.05
"""Of the check of a link; it describes, no claim rests on it."""


def investigate_chain(
    place: Place, options: WhyOptions, back: Back, *, stop: StopSignal | None = None
) -> AsyncGenerator[Fact]:
    """Investigate a decision, then the earlier decisions that brought its cause.

    Like :func:`~runtape.attribution.driver.investigate`, whose facts come first; the report of the
    last fact, ``Finished``, holds the chain. Ends early in the same ways.
    """
    return stream(lambda emit: _Driver(place, options, back, emit).run(), stop)


class _Driver:
    """Plays the world to one walk back."""

    def __init__(
        self, place: Place, options: WhyOptions, back: Back, emit: Callable[[Fact], None]
    ) -> None:
        self._places = [place]
        self._options = options
        self._back = back
        self._emit = emit
        self._hops: dict[int, Hop] = {}
        self._reason = ""
        self._rounds = 0

    async def run(self) -> None:
        """Search, walk back, and tell it."""
        began = time.monotonic()
        first = await self._search(0, (), self._tell)
        self._final = first
        self._hops[0] = Hop(0, first, followed=_followed(first, self._places[0].context))
        trail = await self._walk(self._finding(0))
        chain = self._chain(trail)
        self._emit(ChainEnded(chain))
        calls = self._places[0].gate.bill(self._rounds)
        seconds = time.monotonic() - began
        self._emit(Finished(replace(first, chain=chain, calls=calls, seconds=seconds)))

    async def _walk(self, first: Finding) -> Trail:
        walk = walk_back(first, self._options.depth)
        answer: Answer = None
        while True:
            try:
                step = walk.send(answer)
            except StopIteration as end:
                trail: Trail = end.value
                return trail
            answer = await self._answer(step)

    async def _answer(self, step: Step) -> Answer:
        if isinstance(step, Look):
            return await self._look(step)
        if isinstance(step, StepBack):
            return self._step_back(step.hop)
        return await self._check(step)

    # ── searching a hop ──────────────────────────────────────────────────────────────────────────

    async def _look(self, step: Look) -> Finding | None:
        place = self._places[step.hop]
        words = tuple(p for p in place.context.roots if p.kind is PieceKind.ASSISTANT)
        if step.masked and not words:
            return None
        masked = words if step.masked else ()
        self._emit(HopStarted(step.hop, place.decision, masked))
        try:
            found = await self._search(step.hop, masked, lambda fact: self._tell_of(step.hop, fact))
        except ModelError as error:  # nobody can be asked: no key for this hop's server
            self._reason = str(error)
            return Finding(Verdict.PROVIDER_FAILED)
        hop = Hop(
            step.hop,
            found,
            masked,
            needs_words=bool(words) and not step.masked,
            followed=_followed(found, place.context),
        )
        finding = _finding(found, place.context)
        if step.hop or finding.nature or finding.asked:  # else the first search of hop 0 stands
            self._hops[step.hop] = hop
        self._reason = found.failure or ""
        return finding

    async def _search(
        self, hop: int, masked: tuple[Piece, ...], tell: Callable[[Fact], None]
    ) -> Investigation:
        place = self._places[hop]
        reports: list[Investigation] = []

        def emit(fact: Fact) -> None:
            if isinstance(fact, Finished):
                reports.append(fact.report)
            tell(fact)

        # The inner refs of another context are none of this one.
        options = self._options if hop == 0 else replace(self._options, expand=())
        await run_search(Inquiry(place.context, place.decision, place.gate, options, masked), emit)
        self._rounds += reports[0].calls.rounds
        return reports[0]

    def _tell(self, fact: Fact) -> None:
        if not isinstance(fact, Finished):
            self._emit(fact)

    def _tell_of(self, hop: int, fact: Fact) -> None:
        if isinstance(fact, CallsChanged):
            rounds = self._rounds + fact.calls.rounds
            self._emit(CallsChanged(replace(fact.calls, rounds=rounds)))
        else:
            self._emit(HopFact(hop, fact))

    # ── stepping back ────────────────────────────────────────────────────────────────────────────

    def _step_back(self, hop: int) -> ChainEnd | None:
        context = self._places[hop].context
        piece = _brought(self._cause(hop), context)
        try:
            self._places.append(self._back(context, piece))
        except NotADecision as error:
            self._reason = error.message
            return ChainEnd.NOT_RECORDED
        except RuntapeError as error:
            self._reason = str(error)
            return ChainEnd.CANNOT_RERUN
        return None

    # ── checking a link ──────────────────────────────────────────────────────────────────────────

    async def _check(self, step: Check) -> ChainEnd | None:
        link, end = Link(LinkKind.UNCHECKED), None
        try:
            link = await self._link(self._cause(step.hop))
        except asyncio.CancelledError:
            end = ChainEnd.INTERRUPTED  # this task is only cancelled to make it tell what it knows
        except ModelError as error:
            self._reason, end = str(error), ChainEnd.PROVIDER_FAILED
        if self._places[0].gate.scheduler.exhausted:
            end = ChainEnd.BUDGET_SPENT
        self._hops[step.hop] = replace(self._hops[step.hop], link=link)
        self._emit(LinkChecked(step.hop, link))
        return end

    async def _link(self, cause: Cause) -> Link:
        final = self._places[0]
        there = [counterpart(final.context, piece) for piece in cause.pieces]
        pieces = [piece for piece in there if piece is not None]
        if not pieces:
            return Link(LinkKind.ABSENT)
        try:
            body = final.context.edited([remove(p, self._options.fill) for p in pieces])
        except InvalidEdit:
            return Link(LinkKind.UNCHECKED)
        runs = 2 if self._final.mode is Mode.DETERMINISTIC else self._options.runs
        (samples,) = await draw(final.gate, [Job(body, runs)], lambda _, __: None)
        self._rounds += 1
        self._emit(CallsChanged(final.gate.bill(self._rounds)))
        return _judged(self._final, samples)

    # ── what is known ────────────────────────────────────────────────────────────────────────────

    def _cause(self, hop: int) -> Cause:
        cause = self._hops[hop].cause
        if cause is None:
            raise TypeError("a walk goes back from causes only")
        return cause

    def _finding(self, hop: int) -> Finding:
        return _finding(self._hops[hop].investigation, self._places[hop].context)

    def _chain(self, trail: Trail) -> Chain:
        last = max(self._hops)
        found, context = self._hops[last].investigation, self._places[last].context
        asked = None if found.headline else _asked(found, context)
        hops = [h for n, h in sorted(self._hops.items()) if n > 0 or h.masked]
        elsewhere = [ref for n, h in self._hops.items() for ref in self._elsewhere(n, h)]
        return Chain(
            tuple(hops),
            trail.end,
            trail.ended_at,
            self._reason,
            asked,
            tuple(elsewhere),
            followed=_followed(self._final, self._places[0].context),
        )

    def _elsewhere(self, number: int, hop: Hop) -> list[str]:
        if hop.cause is None:
            return []
        context = self._places[number].context
        taken = _brought(hop.cause, context).id
        pieces = (p for cause in _answers(hop.investigation) for p in cause.pieces)
        return [p.ref for p in pieces if _root(context, p).id != taken]


def _judged(final: Investigation, samples: list[Sample]) -> Link:
    outcomes = [sample.outcome for sample in samples]
    without = Tally(sum(outcome.same for outcome in outcomes), len(outcomes))
    if not without.runs:
        return Link(LinkKind.UNCHECKED)
    p = drop_p(without, final.baseline, final.mode)
    gauge = Gauge(final.mode or Mode.CONSISTENT, final.baseline)
    direct = gauge.halves(without) and (p is None or p <= _LINK_LEVEL)
    instead = tuple(Counter(o for o in outcomes if not o.same).most_common())
    return Link(LinkKind.DIRECT if direct else LinkKind.THROUGH, without, p, instead)


def _finding(found: Investigation, context: Context) -> Finding:
    followed = _followed(found, context)
    if followed is not None:
        root = _brought(found.causes[followed], context)
        return Finding(found.verdict, _NATURES[root.kind])
    asked = _asked(found, context)
    return Finding(found.verdict, asked=_NATURES[_root(context, asked).kind] if asked else None)


def _asked(found: Investigation, context: Context) -> Piece | None:
    """The given text that a decision without a cause needs: the user's before the system's."""
    if found.verdict is not Verdict.ONLY_REQUIRED:
        return None
    needed = [p for cause in found.causes if cause.role is Role.REQUIRED for p in cause.pieces]
    by_nature = {_NATURES[_root(context, piece).kind]: piece for piece in reversed(needed)}
    return next((by_nature[nature] for nature in _GIVEN if nature in by_nature), None)


def _answers(found: Investigation) -> list[Cause]:
    """The claims that answer the question: the headline, and what acts only together with it."""
    headline = found.headline
    if headline is None or headline.role is not Role.JOINT:
        return [headline] if headline else []
    return [cause for cause in found.causes if cause.role is Role.JOINT]


def _followed(found: Investigation, context: Context) -> int | None:
    """Number of the claim to go on from: of several, the one that an earlier decision brought last.

    That decision was made after the others, so that the way back from it is the longest.
    """
    answers = _answers(found)
    if not answers:
        return None
    newest = max(answers, key=lambda cause: _age(_brought(cause, context)))
    return next(number for number, cause in enumerate(found.causes) if cause is newest)


def _age(root: Piece) -> int:
    return root.id if _NATURES[root.kind] is Nature.LOOKUP else -1


def _brought(cause: Cause, context: Context) -> Piece:
    """The top-level piece of a claim that an earlier decision brought last; else its first."""
    roots = [_root(context, piece) for piece in cause.pieces]
    return max(roots, key=_age)


def _root(context: Context, piece: Piece) -> Piece:
    while piece.parent is not None:
        piece = context.by_id(piece.parent)
    return piece
