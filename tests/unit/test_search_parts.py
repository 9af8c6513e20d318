"""The parts of the search: reading tallies, keeping the ledger, bisecting, going side by side."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.attribution.bisect import find_turning
from runtape.attribution.confirm import confirm
from runtape.attribution.facts import Mode
from runtape.attribution.gauge import Gauge
from runtape.attribution.ledger import UNCHANGED, Ledger, SearchOptions, Steps, alone
from runtape.attribution.protocol import Answers, Ask, Batch, Change, Reaction, Seen, Wording
from runtape.attribution.roles import Rank, by_promise, rank
from runtape.attribution.screen import assess, deal, race
from runtape.attribution.sets import smallest_set
from runtape.attribution.together import together
from runtape.evidence import CONSISTENT, INTERMITTENT, fisher_less
from runtape.trials import Tally
from tests.support.toy import OTHER, SAME, STOPS, Toy

SPOTLESS = Gauge(Mode.CONSISTENT, Tally(18, 18))
MISSED_TWO = Gauge(Mode.CONSISTENT, Tally(22, 24))
SELDOM = Gauge(Mode.INTERMITTENT, Tally(16, 40), INTERMITTENT)
ZERO = Gauge(Mode.DETERMINISTIC, Tally(2, 2))


def finish(steps: Steps, answer: Callable[[Batch], Answers]) -> object:
    """Drive a part of the search to its result."""
    answers: Answers | None = None
    while True:
        try:
            event = steps.send(answers)
        except StopIteration as end:
            return end.value
        answers = answer(event) if isinstance(event, tuple) else None


def flat(count: int) -> Toy:
    return Toy({f"page {i}": {} for i in range(count)})


def ledger_of(toy: Toy, **options) -> Ledger:
    """A ledger with a spotless frozen baseline."""
    ledger = Ledger(toy, SearchOptions(**options))
    finish(ledger.freeze(), lambda batch: [[SAME] * a.runs for a in batch])
    return ledger


def turned_by(*needed: int, keep: float = 0.0, rng: Random | None = None):
    """A model whose decision turns when all these pieces are gone."""

    def answer(batch: Batch) -> Answers:
        return [
            [
                OTHER
                if ask.change.pieces.issuperset(needed) and (rng is None or rng.random() >= keep)
                else SAME
                for _ in range(ask.runs)
            ]
            for ask in batch
        ]

    return answer


class TestGauge:
    @pytest.mark.parametrize(
        ("gauge", "same", "runs"),
        [(SPOTLESS, 0, 1), (SPOTLESS, 0, 2), (MISSED_TWO, 0, 2), (SELDOM, 0, 8), (ZERO, 0, 1)],
    )
    def test_hot(self, gauge, same, runs):
        """So few changed runs are enough to follow a trace."""
        assert gauge.hot(Tally(same, runs))
        assert not gauge.clear(Tally(same, runs))

    @pytest.mark.parametrize(
        ("gauge", "same", "runs"),
        [(SPOTLESS, 2, 2), (MISSED_TWO, 2, 2), (SELDOM, 5, 8), (ZERO, 1, 1)],
    )
    def test_clear(self, gauge, same, runs):
        """So few kept decisions are enough to go elsewhere."""
        assert gauge.clear(Tally(same, runs))
        assert not gauge.hot(Tally(same, runs))

    @pytest.mark.parametrize("gauge", [SPOTLESS, MISSED_TWO])
    def test_one_stray_reply_settles_nothing(self, gauge):
        """1 of 2 is neither hot nor clear."""
        assert not gauge.hot(Tally(1, 2))
        assert not gauge.clear(Tally(1, 2))

    @given(st.integers(0, 12), st.integers(0, 12))
    def test_score_falls_with_kept_decisions(self, same, changed):
        """Every kept decision speaks against a cause, every changed one for it."""
        runs = same + changed
        for gauge in (SPOTLESS, MISSED_TWO, SELDOM, ZERO):
            assert gauge.score(Tally(same + 1, runs + 1)) < gauge.score(Tally(same, runs))
            assert gauge.score(Tally(same, runs + 1)) > gauge.score(Tally(same, runs))

    def test_what_a_whole_did_weighs_what_its_part_does(self):
        """Two kept decisions clear a part more surely when its whole left nothing."""
        left_nothing, left_some = Tally(0, 6), Tally(4, 12)
        assert SPOTLESS.score(Tally(2, 2), left_nothing) < SPOTLESS.score(Tally(2, 2), left_some)

    def test_looks_that_cannot_claim_are_passed_over(self):
        """With two misses in the baseline, not even 0 of 3 claims: the next look is 4."""
        assert MISSED_TWO.next_look(Tally(0, 1)) == 4
        assert SPOTLESS.next_look(Tally(0, 1)) == 3
        assert SPOTLESS.next_look(Tally(44, 44)) is None

    def test_claims_only_at_looks(self):
        """Between looks even the clearest tally claims nothing."""
        assert SPOTLESS.claims(Tally(0, 6))
        assert not SPOTLESS.claims(Tally(0, 7))
        assert fisher_less(0, 7, 18, 18) < fisher_less(0, 6, 18, 18)

    def test_temperature_0_claims_by_two_of_two(self):
        """Two changed runs and none kept; there is no p and no level."""
        assert ZERO.claims(Tally(0, 2))
        assert not ZERO.claims(Tally(0, 1))
        assert not ZERO.claims(Tally(1, 2))
        assert ZERO.p(Tally(0, 2)) is None
        assert ZERO.highest_level is None

    def test_a_cause_at_least_halves_the_rate(self):
        """Less than half of the fall is a nudge."""
        assert SPOTLESS.halves(Tally(5, 10))
        assert not SPOTLESS.halves(Tally(6, 10))


class TestLedger:
    def test_evidence_starts_with_the_slot(self):
        """Runs of a set before it took its slot are never evidence for it."""
        ledger = ledger_of(flat(3))
        pair = Change(frozenset({0, 1}))
        finish(ledger.run([Ask(pair, 5)]), turned_by(0, 1))
        assert ledger.take_slot(pair)
        finish(ledger.run([Ask(pair, 2)]), turned_by(0, 1))
        assert (ledger.tally(pair).runs, ledger.evidence(pair).runs) == (7, 2)

    def test_single_pieces_take_slots_until_the_reserve(self):
        """The last ten slots are left to suspects, whose evidence then begins afresh."""
        ledger = ledger_of(flat(40))
        finish(ledger.run([Ask(alone(p), 2) for p in range(40)]), turned_by(39))
        assert ledger.evidence(alone(0)).runs == 2
        assert ledger.take_slot(alone(39))
        assert ledger.evidence(alone(39)).runs == 0
        assert ledger.tally(alone(39)).runs == 2

    def test_without_a_slot_there_is_no_test(self):
        """When all slots are taken, confirming asks for nothing."""
        ledger = ledger_of(flat(3), slots=1)
        assert ledger.take_slot(alone(0))
        assert finish(confirm(ledger, alone(1)), pytest.fail) is None

    def test_runs_after_the_freeze_are_not_in_the_baseline(self):
        """Sentinel runs of the unchanged context change no test."""
        ledger = ledger_of(flat(1))
        finish(ledger.run([Ask(UNCHANGED, 3)]), lambda batch: [[OTHER] * a.runs for a in batch])
        assert ledger.baseline == Tally(18, 18)
        assert ledger.tally(UNCHANGED) == Tally(18, 21)

    def test_asks_for_one_change_are_one_ask(self):
        """A batch names every change once."""
        ledger = ledger_of(flat(2))
        batches: list[Batch] = []

        def answer(batch):
            batches.append(batch)
            return [[SAME] * a.runs for a in batch]

        finish(ledger.run([Ask(alone(0), 1), Ask(alone(1), 1), Ask(alone(0), 2)]), answer)
        assert batches == [(Ask(alone(0), 3), Ask(alone(1), 1))]

    def test_other_wordings_are_other_changes(self):
        """A quoted text is no removal: it takes no slot and counts in no tally of the piece."""
        ledger = ledger_of(flat(1))
        quoted = Change(frozenset({0}), Wording.QUOTE)
        finish(ledger.run([Ask(quoted, 2)]), turned_by(0))
        assert ledger.tally(alone(0)) == Tally()
        assert ledger.single_tallies() == {}


class TestBisection:
    @given(st.integers(1, 300), st.data())
    @settings(max_examples=60, deadline=None)
    def test_finds_the_turning_unit(self, units, data):
        """With a steady model: the exact unit, in about log₂ runs."""
        turning = data.draw(st.integers(0, units - 1))
        ledger = ledger_of(flat(units))
        before = ledger.calls
        length = finish(find_turning(ledger, range(units)), turned_by(turning))
        assert length == turning + 1
        assert ledger.calls - before <= 1.5 * units.bit_length() + 5

    def test_says_when_nothing_more_is_needed(self):
        """What is already out turns the decision alone: length 0."""
        ledger = ledger_of(flat(50))
        assert finish(find_turning(ledger, range(1, 50), frozenset({0})), turned_by(0)) == 0

    def test_a_noisy_model_costs_runs_not_correctness(self):
        """When a fifth of the turned runs keep the decision, most answers are still exact."""
        right = 0
        for seed in range(40):
            ledger = ledger_of(flat(64))
            answer = turned_by(seed, keep=0.2, rng=Random(seed))
            right += finish(find_turning(ledger, range(64)), answer) == seed + 1
        assert right >= 34

    def test_gives_up_when_nobody_answers(self):
        """Lost prefixes end the search for it."""
        ledger = ledger_of(flat(8))
        assert finish(find_turning(ledger, range(8)), lambda batch: [[] for _ in batch]) is None

    def test_a_million_characters_are_no_problem(self):
        """Tens of thousands of units take seconds at most, in few calls."""
        ledger = ledger_of(flat(30_000))
        before = ledger.calls
        assert finish(find_turning(ledger, range(30_000)), turned_by(12_345)) == 12_346
        assert ledger.calls - before < 30


class TestSets:
    @given(st.sets(st.integers(0, 39), min_size=1, max_size=4))
    @settings(max_examples=40, deadline=None)
    def test_finds_the_smallest_set(self, needed):
        """Exactly the units that are needed, whatever their places."""
        ledger = ledger_of(flat(40))
        found = finish(smallest_set(ledger, range(40)), turned_by(*needed))
        assert set(found.members) == needed
        assert not found.diffuse

    def test_a_set_that_only_works_by_its_size_is_diffuse(self):
        """When any twenty of forty turn it, no unit is special."""
        ledger = ledger_of(flat(40))

        def answer(batch):
            return [[OTHER if len(a.change.pieces) >= 20 else SAME] * a.runs for a in batch]

        found = finish(smallest_set(ledger, range(40)), answer)
        assert found.diffuse


class TestSideBySide:
    def test_takes_as_many_rounds_as_the_longest(self):
        """Each round is one batch of all passes that still run."""
        ledger = ledger_of(flat(3))
        batches: list[Batch] = []

        def pass_of(piece: int, rounds: int) -> Steps[int]:
            for _ in range(rounds):
                yield from ledger.run([Ask(alone(piece), 1)])
            return piece

        def answer(batch):
            batches.append(batch)
            return [[SAME] * a.runs for a in batch]

        assert finish(together(pass_of(p, p + 1) for p in range(3)), answer) == [0, 1, 2]
        assert [len(batch) for batch in batches] == [3, 2, 1]

    def test_the_same_change_of_two_passes_is_asked_once_and_shared_out(self):
        """Every pass receives as many runs as it asked for."""
        got: list[int] = []

        def pass_of(runs: int) -> Steps[None]:
            (seen,) = yield (Ask(alone(0), runs),)
            got.append(len(seen))

        def answer(batch):
            assert batch == (Ask(alone(0), 5),)
            return [[SAME] * 5]

        finish(together([pass_of(2), pass_of(3)]), answer)
        assert got == [2, 3]

    def test_nothing_to_run(self):
        """No passes, no rounds."""
        assert finish(together([]), pytest.fail) == []


class TestScreening:
    def test_assess_goes_on_while_a_tally_is_undecided(self):
        """A changed run calls for more, until the rest clears it; a kept one is enough."""
        ledger = ledger_of(flat(2))
        replies = {alone(0): iter([OTHER, *[SAME] * 20]), alone(1): iter([SAME] * 20)}
        finish(
            assess(ledger, [alone(0), alone(1)]),
            lambda batch: [[next(replies[a.change]) for _ in range(a.runs)] for a in batch],
        )
        assert ledger.tally(alone(1)).runs == 1
        assert 3 <= ledger.tally(alone(0)).runs <= 14

    def test_a_race_ends_when_one_stands_out(self):
        """The others get no second run."""
        ledger = ledger_of(flat(5))
        finish(race(ledger, [alone(p) for p in range(5)], 1.0), turned_by(3))
        assert [ledger.tally(alone(p)).runs for p in range(5)] == [1] * 5

    @given(st.integers(0, 50), st.integers(1, 12))
    def test_dealing_keeps_order_and_evens_sizes(self, pieces, count):
        """Groups are neighbours, none is empty, sizes differ by at most one."""
        groups = deal(range(pieces), count)
        assert [p for group in groups for p in group] == list(range(pieces))
        sizes = {len(group) for group in groups}
        assert not sizes or max(sizes) - min(sizes) <= 1
        assert 0 not in sizes


class TestRanks:
    def test_order_of_promise(self):
        """Another call in read text first, a repeated lookup last."""
        toy = Toy({"user a": {}, "user b": {}, "page a": {}, "page b": {}, "page c": {}})
        without = {
            "user a": STOPS,
            "user b": OTHER,
            "page a": Seen(Reaction.LOOKUP, toy["page a"]),
            "page b": STOPS,
            "page c": OTHER,
        }
        ledger = ledger_of(toy)
        finish(
            ledger.run([Ask(alone(p), 2) for p in toy.roots]),
            lambda batch: [
                [without[n] for n in toy.named(a.change.pieces)] * a.runs for a in batch
            ],
        )
        order = [toy.names[p] for p in by_promise(ledger, toy.roots)]
        assert order == ["page c", "page b", "user b", "user a", "page a"]
        assert rank(ledger, alone(toy["page a"])) is Rank.MISSED

    def test_the_usual_reaction_decides(self):
        """One repeated lookup among other calls makes no required input."""
        toy = flat(1)
        ledger = ledger_of(toy)
        replies = [OTHER, OTHER, Seen(Reaction.LOOKUP, 0)]
        finish(ledger.run([Ask(alone(0), 3)]), lambda _: [replies])
        assert rank(ledger, alone(0)) is Rank.READ_OTHER_CALL


def test_levels_are_those_of_the_plan():
    """The gauge takes its levels from the looks it was given, nowhere else."""
    assert SPOTLESS.level(3) == CONSISTENT.level(3, 0.05, 40)
    assert SPOTLESS.highest_level == max(SPOTLESS.level(n) for n in CONSISTENT.sizes)
