"""The stream of facts as JSON, one object per fact: what ``--stream`` writes line by line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtape.attribution.facts import (
    BaselineChanged,
    CallsChanged,
    CauseConfirmed,
    ChainEnded,
    Fact,
    Finished,
    HopFact,
    HopStarted,
    Investigation,
    LinkChecked,
    PhaseChanged,
    PieceAsked,
    PieceChanged,
    Started,
    TallyChanged,
    Unfolded,
    Warned,
)
from runtape.context.pieces import Piece
from runtape.jsonio import Json
from runtape.reports.outcome_json import tally_json
from runtape.reports.warnings import warning_text
from runtape.reports.why_json import calls_json, decision_json, findings_json, link_json, piece_json

_GLIMPSE = 400


class FactLog:
    """Turns facts into objects; remembers refs, so that each object can be read alone.

    Args:
        document: makes the final ``runtape.why/1`` document, which the last object carries.
    """

    def __init__(self, document: Callable[[Investigation], Json]) -> None:
        self._document = document
        self._refs: dict[int, str] = {}
        self._hop: FactLog | None = None

    def read(self, fact: Fact) -> Json:
        """One fact as an object whose ``fact`` says what it is."""
        name, write = _WRITERS[type(fact)]
        return {"fact": name, **write(self, fact)}

    def _ref(self, piece: int) -> str | None:
        return self._refs.get(piece)

    def _pieces(self, pieces: tuple[Piece, ...]) -> list[Json]:
        self._refs.update((piece.id, piece.ref) for piece in pieces)
        return [{**piece_json(piece), "text": piece.text[:_GLIMPSE]} for piece in pieces]

    def started(self, fact: Started) -> Json:
        """What is explained, and the pieces."""
        return {
            "decision": decision_json(fact.decision),
            "budget": fact.budget,
            "pieces": self._pieces(fact.pieces),
        }

    def phase(self, fact: PhaseChanged) -> Json:
        """The new phase."""
        return {"phase": fact.phase.value}

    def baseline(self, fact: BaselineChanged) -> Json:
        """Runs of the unchanged context."""
        return {
            **tally_json(fact.tally),
            "settled": fact.settled,
            "mode": fact.mode.value if fact.mode else None,
            "level": fact.level,
            "variants": fact.slots,
        }

    def asked(self, fact: PieceAsked) -> Json:
        """Pieces whose removal is being tried."""
        return {"refs": [self._ref(piece) for piece in fact.pieces], "runs": fact.runs}

    def tally(self, fact: TallyChanged) -> Json:
        """Runs without one piece."""
        return {"ref": self._ref(fact.piece), **tally_json(fact.tally), "p": fact.p}

    def state(self, fact: PieceChanged) -> Json:
        """A piece's new state."""
        return {"ref": self._ref(fact.piece), "state": fact.state.value}

    def unfolded(self, fact: Unfolded) -> Json:
        """The parts of a piece."""
        return {"ref": self._ref(fact.parent), "pieces": self._pieces(fact.children)}

    def cause(self, fact: CauseConfirmed) -> Json:
        """A claimed piece or set; the finished report says more."""
        cause = fact.cause
        return {
            "refs": [piece.ref for piece in cause.pieces],
            "role": cause.role.value,
            "headline": cause.headline,
            **tally_json(cause.without),
            "p": cause.p,
            "level": cause.level,
        }

    def calls(self, fact: CallsChanged) -> Json:
        """Spending."""
        return calls_json(fact.calls)

    def warned(self, fact: Warned) -> Json:
        """A warning."""
        return {"code": fact.code, "message": warning_text(fact), "numbers": fact.numbers}

    def hop(self, fact: HopStarted) -> Json:
        """The chain goes back to an earlier decision; its facts carry refs of its own context."""
        self._hop = FactLog(findings_json)
        return {
            "hop": fact.hop,
            "decision": decision_json(fact.decision),
            "masked": [piece.ref for piece in fact.masked],
        }

    def hop_fact(self, fact: HopFact) -> Json:
        """What the search of a hop tells."""
        inner = self._hop.read(fact.fact) if self._hop else {}
        return {"hop": fact.hop, "told": inner}

    def link(self, fact: LinkChecked) -> Json:
        """The cause of an earlier decision, taken out of the final context."""
        return {"hop": fact.hop, **link_json(fact.link, frozenset())}

    def chain(self, fact: ChainEnded) -> Json:
        """Where the chain ends."""
        chain = fact.chain
        return {"end": chain.end.value, "hop": chain.ended_at, "reason": chain.reason}

    def finished(self, fact: Finished) -> Json:
        """The whole report."""
        return {"report": self._document(fact.report)}


_WRITERS: dict[type[Any], tuple[str, Callable[[FactLog, Any], Json]]] = {
    Started: ("started", FactLog.started),
    PhaseChanged: ("phase", FactLog.phase),
    BaselineChanged: ("baseline", FactLog.baseline),
    PieceAsked: ("asked", FactLog.asked),
    TallyChanged: ("tally", FactLog.tally),
    PieceChanged: ("state", FactLog.state),
    Unfolded: ("unfolded", FactLog.unfolded),
    CauseConfirmed: ("cause", FactLog.cause),
    CallsChanged: ("calls", FactLog.calls),
    Warned: ("warning", FactLog.warned),
    HopStarted: ("hop_started", FactLog.hop),
    HopFact: ("hop", FactLog.hop_fact),
    LinkChecked: ("link", FactLog.link),
    ChainEnded: ("chain_ended", FactLog.chain),
    Finished: ("finished", FactLog.finished),
}
