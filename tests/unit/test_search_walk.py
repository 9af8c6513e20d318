"""Whole searches of small scripted contexts, step by step."""

from __future__ import annotations

import pytest

from runtape.attribution.facts import Mode, Phase, PieceState, Role, Verdict
from runtape.attribution.protocol import (
    NOISY_ENDPOINT,
    BaselineNote,
    Change,
    ClaimNote,
    PhaseNote,
    Reaction,
    Seen,
    UnfoldNote,
    WarningNote,
    Wording,
)
from runtape.attribution.search import SearchOptions
from tests.support.toy import OTHER, SAME, STOPS, Drive, Toy, inbox


def sentences(*names: str) -> dict[str, dict[str, object]]:
    return {name: {} for name in names}


def paragraphs(prefix: str, count: int = 3) -> dict[str, dict[str, object]]:
    """Some paragraphs of two sentences each."""
    return {f"{prefix}{i}": sentences(f"{prefix}{i}a", f"{prefix}{i}b") for i in range(count)}


def roles(drive: Drive) -> dict[frozenset[str], Role]:
    assert drive.result is not None
    return {frozenset(drive.toy.named(c.change.pieces)): c.role for c in drive.result.claims}


def headline(drive: Drive) -> set[str]:
    assert drive.result is not None
    (claim,) = [c for c in drive.result.claims if c.headline]
    return drive.toy.named(claim.change.pieces)


class TestInbox:
    """A sentence in a mail makes the agent file an invoice; it needs the task and the amount."""

    @pytest.fixture
    def drive(self):
        drive = Drive(*inbox())
        drive.run()
        return drive

    def test_the_sentence_is_the_headline(self, drive):
        """The very sentence answers the question, as a cause."""
        assert drive.result.verdict is Verdict.ATTRIBUTED
        assert drive.result.mode is Mode.CONSISTENT
        assert headline(drive) == {"file it now"}

    def test_inputs_are_required_and_never_the_headline(self, drive):
        """Without them the model asks, or looks again: they are needed, they push nothing."""
        assert roles(drive) == {
            frozenset({"file it now"}): Role.CAUSE,
            frozenset({"user"}): Role.REQUIRED,
            frozenset({"read_email 2"}): Role.REQUIRED,
        }

    def test_it_takes_eight_rounds_and_36_calls_to_the_verdict(self, drive):
        """18 unchanged, 7 pieces, 3 suspects again, twice two parts, 2 to confirm, 1 a required."""
        described = sum(ask.runs for ask in drive.batches[-1])
        assert (len(drive.batches), drive.calls - described) == (8, 18 + 7 + 3 + 4 + 2 + 2)

    def test_the_baseline_is_completed_in_the_first_round_of_the_screening(self, drive):
        """The rest of the baseline costs no round of its own."""
        first, second, *_ = drive.batches
        assert [(a.change, a.runs) for a in first] == [(Change(), 6)]
        assert second[0].change == Change()
        assert second[0].runs == 12
        assert {len(a.change.pieces) for a in second[1:]} == {1}

    def test_the_claim_says_how_it_was_reached(self, drive):
        """Levels from the whole mail down, the look that settled it, and the rechecks."""
        claim = next(c for c in drive.result.claims if c.headline)
        assert [drive.toy.names[p] for p, _ in claim.narrowed] == [
            "read_email 3",
            "note",
            "file it now",
        ]
        assert (claim.claimed_at.same, claim.claimed_at.runs) == (0, 3)
        assert claim.claimed_p == pytest.approx(1 / 1330)
        assert claim.claimed_p <= claim.level
        assert claim.without.runs == 10
        assert [(wording, t.same) for wording, t in claim.rechecks] == [(Wording.QUOTE, 0)]
        assert claim.enough_alone.same == claim.enough_alone.runs == 3

    def test_phases_and_unfolding_are_told(self, drive):
        """A face sees where the search is and what it looks into."""
        phases = [n.phase for n in drive.notes if isinstance(n, PhaseNote)]
        assert phases[:3] == [Phase.BASELINE, Phase.SCREEN, Phase.NARROW]
        assert phases[-1] is Phase.DESCRIBE
        opened = [drive.toy.names[n.piece] for n in drive.notes if isinstance(n, UnfoldNote)]
        assert opened == ["read_email 3", "note"]
        assert len([n for n in drive.notes if isinstance(n, ClaimNote)]) == 3
        frozen = [n for n in drive.notes if isinstance(n, BaselineNote) and n.mode]
        assert [(n.tally.same, n.tally.runs, n.slots) for n in frozen] == [(18, 18, 40)]

    def test_states_at_the_end(self, drive):
        """What was found marks the pieces that hold it, what was tried besides showed nothing."""
        states = {drive.toy.names[p]: s for p, s in drive.result.states.items()}
        assert states["file it now"] is states["read_email 3"] is PieceState.CAUSE
        assert states["user"] is states["read_email 2"] is PieceState.REQUIRED
        assert states["list_emails"] is states["ps"] is PieceState.NO_EFFECT


def mail_with_a_long_body() -> Toy:
    body = {f"line {i}": {} for i in range(8)}
    return Toy({"system": {}, "user": {}, "mail": {"from": {}, "subject": {}, "body": body}})


def test_the_part_with_nearly_all_the_text_is_looked_into_first():
    """Where the body holds the cause, the other parts cost nothing."""
    drive = Drive(mail_with_a_long_body(), lambda present: SAME if present("line 3") else OTHER)
    drive.run()
    assert headline(drive) == {"line 3"}
    assert drive.runs_of("from") == drive.runs_of("subject") == 0


def test_a_required_line_in_the_body_does_not_hide_a_cause_beside_it():
    """When the body only holds what is needed, the short parts are tried as well."""
    toy = mail_with_a_long_body()

    def model(present):
        if not present("line 3"):
            return toy.lookup("mail")
        return SAME if present("subject") else OTHER

    drive = Drive(toy, model)
    drive.run()
    assert headline(drive) == {"subject"}
    assert roles(drive)[frozenset({"line 3"})] is Role.REQUIRED


def test_what_is_only_needed_is_no_cause():
    """With required inputs alone the verdict says so, and there is no headline."""
    toy, _ = inbox()

    def model(present):
        if not present("sort my mail"):
            return STOPS
        return SAME if present("amount due") else toy.lookup("read_email 2")

    drive = Drive(toy, model)
    result = drive.run()
    assert result.verdict is Verdict.ONLY_REQUIRED
    assert not any(c.headline for c in result.claims)
    assert roles(drive) == {
        frozenset({"sort my mail"}): Role.REQUIRED,
        frozenset({"amount due"}): Role.REQUIRED,
    }


def test_a_cause_beside_the_data_it_needs():
    """Without the whole result the model only looks again; the sentence in it is found."""
    toy, _ = inbox()

    def model(present):
        if not present("amount due"):
            return toy.lookup("read_email 2")
        return SAME if present("iban") else OTHER

    drive = Drive(toy, model)
    drive.run()
    assert headline(drive) == {"iban"}
    assert drive.result.verdict is Verdict.ATTRIBUTED


def test_two_texts_of_which_each_is_enough():
    """Neither matters alone; the claim is the pair, tested on runs of its own."""
    toy, _ = inbox()
    drive = Drive(toy, lambda present: SAME if present("news") or present("ps") else OTHER)
    drive.run()
    assert roles(drive) == {frozenset({"news", "ps"}): Role.EACH_ENOUGH}
    assert headline(drive) == {"news", "ps"}
    (claim,) = drive.result.claims
    assert drive.runs_of("news", "ps") > claim.without.runs, "runs of the search are no evidence"


def test_two_texts_in_one_piece_of_which_each_is_enough():
    """The whole piece matters and no part of it does: the pair is the answer, not the piece."""
    toy, _ = inbox()
    drive = Drive(toy, lambda present: SAME if present("how are you") or present("ps") else OTHER)
    drive.run()
    assert headline(drive) == {"how are you", "ps"}


def test_a_wide_search_takes_fewer_rounds():
    """`wide` asks for more at once: more calls, the same answer, sooner."""
    toy, _ = inbox()

    def model(present):
        return SAME if present("news") or present("ps") else OTHER

    narrow, wide = Drive(toy, model), Drive(toy, model, SearchOptions(wide=True))
    narrow.run()
    wide.run()
    assert headline(narrow) == headline(wide) == {"news", "ps"}
    assert len(wide.batches) < len(narrow.batches)
    assert wide.calls > narrow.calls


def test_two_texts_that_are_both_needed():
    """Each alone turns the decision: they cause it together."""
    toy, _ = inbox()
    drive = Drive(toy, lambda present: SAME if present("news") and present("ps") else OTHER)
    drive.run()
    assert drive.result.verdict is Verdict.ATTRIBUTED
    assert set(roles(drive).values()) == {Role.JOINT}
    assert headline(drive) < {"news", "ps"}


def test_full_search_narrows_both():
    """`full` goes on after the first cause until the other is narrowed as well."""
    toy, _ = inbox()
    drive = Drive(
        toy,
        lambda present: SAME if present("news") and present("ps") else OTHER,
        SearchOptions(full=True),
    )
    drive.run()
    assert roles(drive) == {frozenset({"news"}): Role.JOINT, frozenset({"ps"}): Role.JOINT}


@pytest.mark.parametrize("restraint", ["all well", "ps"])
def test_a_cause_masked_by_its_neighbour(restraint):
    """A sentence overrules another: without their piece nothing changes, without it alone all."""
    toy, _ = inbox()
    drive = Drive(
        toy,
        lambda present: SAME if present("file it now") or not present(restraint) else OTHER,
    )
    drive.run()
    assert roles(drive) == {frozenset({"file it now"}): Role.MASKED}


def test_a_context_that_only_matters_by_its_size():
    """When half of the pages must stand, whichever, that is said, and nothing is the cause."""
    pages = [f"page {i}" for i in range(12)]
    toy = Toy({"system": {}, "user": {}, **{page: {} for page in pages}})
    drive = Drive(toy, lambda present: SAME if sum(map(present, pages)) >= 6 else STOPS)
    result = drive.run()
    assert roles(drive) == {frozenset(pages): Role.DIFFUSE}
    assert result.verdict is Verdict.NOTHING_FOUND


def test_lookups_of_other_results_stay_in_while_a_set_is_looked_for():
    """Results that the model looks up again when all are gone are left in; the pair is found."""
    toy, _ = inbox()

    def model(present):
        if not present("list_emails") and not present("newest"):
            return toy.lookup("list_emails")
        return SAME if present("news") or present("ps") else OTHER

    drive = Drive(toy, model)
    drive.run()
    assert headline(drive) == {"news", "ps"}


def test_a_decision_that_does_not_recur():
    """Twelve runs without it end the search."""
    drive = Drive(inbox()[0], lambda _: OTHER)
    result = drive.run()
    assert (result.verdict, drive.calls) == (Verdict.DID_NOT_RECUR, 12)


def test_a_decision_that_is_too_rare():
    """Four in forty are too few to explain."""
    seen = iter([SAME, OTHER, OTHER, OTHER] * 4 + [OTHER] * 100)
    drive = Drive(inbox()[0], lambda _: next(seen))
    drive.run(answer=lambda batch: [[next(seen) for _ in range(ask.runs)] for ask in batch])
    assert drive.result.verdict is Verdict.TOO_RARE
    assert drive.calls == 40
    assert drive.result.mode is None


def test_temperature_0_needs_two_runs_of_everything():
    """Baseline 2, each variant 1, what is claimed 2; there is no p."""
    drive = Drive(*inbox(), SearchOptions(deterministic=True))
    result = drive.run()
    assert result.mode is Mode.DETERMINISTIC
    assert headline(drive) == {"file it now"}
    described = sum(ask.runs for ask in drive.batches[-1])
    assert drive.calls - described == 2 + 7 + 4 + 1 + 2
    assert all(c.p is None and c.level is None for c in result.claims)


def test_temperature_0_that_is_none():
    """Two runs that differ void everything seen so far; the sampled search begins anew."""
    toy, model = inbox()
    drive = Drive(toy, model, SearchOptions(deterministic=True))

    def answer(batch):
        answers = drive.answer(batch)
        if len(drive.batches) == 1:
            answers[0][1] = STOPS
        return answers

    result = drive.run(answer=answer)
    assert [n.code for n in drive.notes if isinstance(n, WarningNote)] == [NOISY_ENDPOINT]
    assert (result.mode, result.baseline.runs) == (Mode.CONSISTENT, 18)
    assert headline(drive) == {"file it now"}


def test_a_model_that_changes_meanwhile_is_noticed():
    """When the last runs of the unchanged context disagree with the first, there is a warning."""
    toy, model = inbox()
    drive = Drive(toy, model)

    def answer(batch):
        moved = len(drive.batches) > 2 and batch[0].change == Change()
        return [[OTHER] * batch[0].runs, *drive.answer(batch)[1:]] if moved else drive.answer(batch)

    result = drive.run(answer=answer)
    (warning,) = result.warnings
    assert (warning.code, warning.numbers) == ("drift", {"same": 0, "runs": 3})
    assert result.verdict is Verdict.ATTRIBUTED
    assert result.baseline.runs == 18


def test_replies_that_are_no_answer_make_no_cause():
    """A text without which the model only refuses is needed; it does not push."""
    toy, _ = inbox()
    refusal = Seen(Reaction.NO_ANSWER)
    drive = Drive(toy, lambda present: SAME if present("three mails") else refusal)
    result = drive.run()
    assert result.verdict is Verdict.ONLY_REQUIRED


def test_an_order_in_the_system_prompt_is_a_cause_when_another_call_follows_without_it():
    """Given text without which another call follows is a headline."""
    toy, _ = inbox()
    drive = Drive(toy, lambda present: SAME if present("be brief") else OTHER)
    drive.run()
    assert headline(drive) == {"be brief"}


def test_a_nudge_is_no_cause():
    """A significant drop by less than half contributes, and is no answer."""
    toy = Toy({"user": {}, "page": {}, "newest": {}})
    without_page = iter([OTHER if letter == "o" else SAME for letter in "oossssososos"])
    drive = Drive(toy, lambda _: SAME, SearchOptions(alpha=0.6))

    def answer(batch):
        page = Change(frozenset({toy["page"]}))
        return [
            [next(without_page, SAME) if a.change == page else SAME for _ in range(a.runs)]
            for a in batch
        ]

    result = drive.run(answer=answer)
    assert roles(drive) == {frozenset({"page"}): Role.CONTRIBUTES}
    assert result.verdict is Verdict.NOTHING_FOUND


def test_many_pieces_are_removed_in_groups_and_lookups_taken_out():
    """Twenty pieces make eight groups; the one whose lookup is repeated is taken out by name."""
    shape = {"system": {}, "user": {}, **{f"page {i}": paragraphs(f"p{i}.") for i in range(18)}}
    toy = Toy(shape)

    def model(present):
        if not present("p3.1a"):
            return toy.lookup("page 3")
        return SAME if present("p9.2b") else OTHER

    drive = Drive(toy, model)
    drive.run()
    assert headline(drive) == {"p9.2b"}
    groups = [a for a in drive.batches[1] if len(a.change.pieces) > 1]
    assert len(groups) == 8
    assert drive.runs_of("page 3") > 0
    assert drive.runs_of("page 2") + drive.runs_of("page 4") <= 4
    assert drive.result.states[toy["page 0"]] is PieceState.IN_GROUP


def test_an_order_in_the_newest_of_many_pieces():
    """The newest message is never part of a group of the screening."""
    toy = Toy({"system": {}, "user": {}, **{f"page {i}": {} for i in range(18)}})
    drive = Drive(toy, lambda present: SAME if present("page 17") else OTHER)
    drive.run()
    assert headline(drive) == {"page 17"}
    assert all(
        toy["page 17"] not in a.change.pieces or len(a.change.pieces) == 1 for a in drive.batches[1]
    )


def test_a_headline_that_more_replies_show_to_be_needed_only():
    """At first the model does not show that it misses the amount; the search then goes on."""
    toy, _ = inbox()
    shy = iter([OTHER] * 6)

    def model(present):
        if not present("amount due"):
            return next(shy, toy.lookup("read_email 2"))
        return SAME if present("file it now") else STOPS

    drive = Drive(toy, model)
    result = drive.run(
        answer=lambda batch: [
            [model(toy.present(ask.change)) for _ in range(ask.runs)] for ask in batch
        ]
    )
    assert headline(drive) == {"file it now"}
    assert roles(drive)[frozenset({"amount due"})] is Role.REQUIRED
    assert result.verdict is Verdict.ATTRIBUTED
    described = [n for n in drive.notes if n == PhaseNote(Phase.DESCRIBE)]
    assert len(described) == 2, "once for the amount, once for the cause"


def test_an_effect_that_shrinks_with_more_runs_is_a_nudge():
    """Three changed runs settle a claim; when the next seven keep the decision, it is no answer."""
    toy = Toy({"user": {}, "page": {}, "newest": {}})
    without_page = iter([OTHER] * 3)
    drive = Drive(toy, lambda _: SAME)

    def answer(batch):
        page = Change(frozenset({toy["page"]}))
        return [
            [next(without_page, SAME) if ask.change == page else SAME for _ in range(ask.runs)]
            for ask in batch
        ]

    result = drive.run(answer=answer)
    assert roles(drive) == {frozenset({"page"}): Role.CONTRIBUTES}
    assert result.verdict is Verdict.NOTHING_FOUND
    assert not any(claim.headline for claim in result.claims)
