"""The rows of the table: worlds, and the figures to reach in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

from runtape.attribution.search import SearchOptions
from tests.quality import worlds
from tests.quality.trial import Builder, Trial, investigate

FIRST_SEED = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One world and what is to be reached in it.

    Attributes:
        name: as printed.
        build: the world of a seeded generator.
        exact: least share of exact headlines.
        calls: most calls, in the median.
        headlines: most share of investigations with a headline, where nothing is a cause.
        strays: most share of investigations that claim a text which does nothing.
        peer: the best public tool on the same world, as measured once: exact share and calls.
        weight: seeds, as a multiple of what is asked for.
    """

    name: str
    build: Builder
    exact: float | None = None
    calls: float | None = None
    headlines: float | None = None
    strays: float = 0.05
    peer: str = ""
    weight: int = 1
    options: SearchOptions = field(default_factory=SearchOptions)

    def run(self, seed: int) -> Trial:
        """One trial."""
        return investigate(self.build, seed, self.options)

    def score(self, trials: list[Trial]) -> Score:
        """The figures of these trials."""
        share = partial(_share, trials)
        return Score(
            row=self,
            exact=share(lambda t: t.exact),
            strays=share(lambda t: t.stray),
            headlines=share(lambda t: t.headline),
            calls=median(t.calls for t in trials),
            rounds=median(t.rounds for t in trials),
            total=median(t.total for t in trials),
            seeds=len(trials),
        )


def _share(trials: list[Trial], what: Callable[[Trial], bool]) -> float:
    return sum(map(what, trials)) / len(trials)


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of one row."""

    row: Row
    exact: float
    strays: float
    headlines: float
    calls: float
    rounds: float
    total: float
    seeds: int

    @property
    def misses(self) -> list[str]:
        """The targets that were not reached."""
        return [
            name
            for name, low, high in (
                ("exact", self.row.exact, self.exact),
                ("calls", self.calls, self.row.calls),
                ("strays", self.strays, self.row.strays),
                ("headlines", self.headlines, self.row.headlines),
            )
            if low is not None and high is not None and low > high
        ]


def rows() -> Iterator[Row]:
    """The whole table."""
    yield from _consistent()
    yield from _intermittent()
    yield from _sets()
    yield from _deterministic()
    yield from _nothing()
    yield from _further()


def _world(kind: Callable[..., worlds.World], *figures: float) -> Builder:
    return partial(_build, kind, figures)


def _build(kind: Callable[..., worlds.World], figures: tuple[float, ...], rng: Any) -> worlds.World:
    return kind(*figures, rng)


def _consistent() -> Iterator[Row]:
    for n, calls, peer in (
        (7, 45, "1.0/58"),
        (20, 60, "1.0/84"),
        (80, 75, "1.0/224"),
        (300, 85, ".27/260"),
    ):
        yield Row(f"1→0 n {n}", _world(worlds.single, n, 1.0, 0.0), 0.995, calls, peer=peer)
    for n, calls, peer in ((7, 65, ".98/83"), (20, 85, ".95/126"), (80, 105, ".90/290")):
        yield Row(f".9→.1 n {n}", _world(worlds.single, n, 0.9, 0.1), 0.985, calls, peer=peer)
    for n, calls, peer in ((7, 85, ".49/173"), (20, 105, ".39/220")):
        yield Row(f".9→.3 n {n}", _world(worlds.single, n, 0.9, 0.3), 0.91, calls, peer=peer)


def _intermittent() -> Iterator[Row]:
    yield Row(".6→.1 n 7", _world(worlds.single, 7, 0.6, 0.1), 0.93, 135, peer=".50/247")
    yield Row(".35→0 n 7", _world(worlds.single, 7, 0.35, 0.0), 0.96, 165, peer=".70/230")
    yield Row(".35→0 n 20", _world(worlds.single, 20, 0.35, 0.0), 0.93, 215, peer=".40/333")
    yield Row(".35→.05 n 7", _world(worlds.single, 7, 0.35, 0.05), 0.78, peer=".34")
    yield Row(".2→0 n 7", _world(worlds.single, 7, 0.2, 0.0), 0.62, peer=".34")


def _sets() -> Iterator[Row]:
    yield Row("OR2 1→0 n 20", _world(worlds.any_of, 2, 20, 1.0, 0.0), 0.99, 100, peer="0/196")
    yield Row("OR3 1→0 n 20", _world(worlds.any_of, 3, 20, 1.0, 0.0), 0.99, 100, peer="0/196")
    yield Row("OR2 .9→.1 n 7", _world(worlds.any_of, 2, 7, 0.9, 0.1), 0.93, 118, peer="0/224")
    for causes in (2, 3, 4):
        yield Row(
            f"AND{causes} 1→0 n 20",
            _world(worlds.all_of, causes, 20, 1.0, 0.0),
            0.99,
            75,
            peer="1.0/102–123",
        )
    for n, calls, peer in ((7, 65, "1.0/103"), (20, 82, ".33/150"), (80, 95, ".07/298")):
        yield Row(f"masked 1→0 n {n}", _world(worlds.masked, n, 1.0, 0.0), 0.99, calls, peer=peer)
    yield Row("masked .9→.1 n 7", _world(worlds.masked, 7, 0.9, 0.1), 0.91, peer=".86")


def _deterministic() -> Iterator[Row]:
    exactly = SearchOptions(deterministic=True)
    for n, calls, peer in ((20, 28, "/34"), (80, 35, "/94")):
        yield Row(
            f"temperature 0 n {n}",
            _world(worlds.steady, n),
            0.99,
            calls,
            peer=peer,
            options=exactly,
        )


def _nothing() -> Iterator[Row]:
    for rate in (0.2, 0.33, 0.5, 0.7, 0.9, 1.0):
        yield Row(
            f"null {rate}",
            _world(worlds.null, 7, rate),
            strays=0.03,
            calls=65 if rate == 0.9 else None,
            peer="/95" if rate == 0.9 else "",
            weight=4,
        )
    yield Row("never recurs", _world(worlds.null, 7, 0.0), strays=0.0, calls=12)
    for rate in (0.9, 0.8):
        yield Row(
            f"temperature 0, noisy {rate}",
            _world(worlds.null, 7, rate),
            strays=0.05,
            peer=".35–.65",
            options=SearchOptions(deterministic=True),
            weight=4,
        )


def _further() -> Iterator[Row]:
    """Worlds beyond the table of the design, with figures of our own."""
    for low, exact in ((0.2, 0.97), (0.3, 0.93)):
        yield Row(f"1→{low:.1g} n 7".replace("0.", "."), _world(worlds.single, 7, 1.0, low), exact)
    yield Row("cause beside the data 1→0 n 20", _world(worlds.beside, 20, 1.0, 0.0), 0.98)
    yield Row("beside the data in 60 paragraphs", _world(worlds.long, 20, 60), 0.98)
    yield Row("masked, same paragraph 1→0 n 20", _world(worlds.masked_close, 20, 1.0, 0.0), 0.97)
    yield Row("OR2 in one piece 1→0 n 20", _world(worlds.twice, 20, 1.0, 0.0), 0.97)
    yield Row("fragile 1→0 n 20", _world(worlds.fragile, 20, 0.12), 0.97)
    yield Row("fragile 1→0 n 80", _world(worlds.fragile, 80, 0.05), 0.97)
    yield Row("muddled 1→0 n 20", _world(worlds.muddled, 20, 1.0, 0.0), 0.95)
    yield Row("muddled .9→.1 n 7", _world(worlds.muddled, 7, 0.9, 0.1), 0.93)
    yield Row("touchy 1→0 n 20", _world(worlds.touchy, 20, 1.0, 0.0), 0.97, strays=1.0)
    yield Row("touchy .9→.1 n 7", _world(worlds.touchy, 7, 0.9, 0.1), 0.93, strays=1.0)
    touchy = _world(worlds.touchy_without_cause, 20, 1.0)
    yield Row("touchy, no cause n 20", touchy, headlines=0.03, strays=1.0)
    yield Row("gutted, no cause n 20", _world(worlds.gutted, 20, 1.0), headlines=0.02)
    for rate, muddle in ((1.0, 0.0), (0.9, 0.0), (0.5, 0.0), (1.0, 0.3)):
        name = f"only required {rate}" + (", muddled" if muddle else "")
        build = _world(worlds.only_required, 7 if rate < 0.9 else 20, rate, muddle)
        yield Row(name, build, headlines=0.03)
